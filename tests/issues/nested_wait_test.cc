// Case B09: a sender is woken by a token that is out of date, since it had to
// wait for something else in the middle of the send. Here senders and receivers
// wait inside of their loops for each other, for a second channel, and for the
// channel's lock, which others keep busy.

#include <atomic>

#include "gorge/chan/chan.h"
#include "gorge/core/runtime.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::Kind;
using ::gorge::testing::kKinds;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::gorge::testing::Team;

class NestedWaitTest : public RuntimeTest {};
GORGE_INSTANTIATE(NestedWaitTest);

// Two producers send and then wait for an answer that either may get.
TEST_P(NestedWaitTest, EverySendReturnsThoughItsSenderWaitsElsewhereInBetween) {
  const int n = Scaled(1000);
  for (const Kind kind : kKinds) {
    const Chan<int> c = MakeChan<int>();
    const Chan<int> answers = MakeChan<int>();
    Team team;
    for (int p = 0; p < 2; ++p) {
      team.Go(p == 0 ? kind : Kind::kGoroutine, [&] {
        for (int i = 0; i < n; ++i) {
          c.Send(i);
          answers.Recv();
        }
      });
    }
    team.Go(Kind::kGoroutine, [&] {
      for (int i = 0; i < 2 * n; ++i) {
        c.Recv();
        Gosched();
        answers.Send(i);
      }
    });
  }
}

TEST_P(NestedWaitTest, EverySendReturnsThoughTheLockIsBusy) {
  const int n = Scaled(2000);
  for (const Kind kind : kKinds) {
    for (const int capacity : {0, 2}) {
      const Chan<int> c = MakeChan<int>(capacity);
      std::atomic<bool> stop{false};
      std::atomic<int> taken{0};
      Team busy;
      // Takes the lock all the time, and now and then an element.
      busy.Go(Kind::kThread, [&] {
        while (!stop) taken += c.TryRecv().value.has_value();
      });
      Team team;
      for (int p = 0; p < 2; ++p) {
        team.Go(p == 0 ? kind : Kind::kGoroutine, [&] {
          for (int i = 0; i < n; ++i) c.Send(i);
        });
      }
      team.Go(Kind::kGoroutine, [&] {
        while (c.Recv().has_value()) ++taken;
      });
      Await([&] { return taken == 2 * n; });
      stop = true;
      busy.Wait();
      c.Close();
    }
  }
}

}  // namespace
}  // namespace gorge
