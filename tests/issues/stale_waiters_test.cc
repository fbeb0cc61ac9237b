// Case B10: a select that is over leaves its records on the channels that did
// not serve it, which then grow without bound and swallow later values.

#include <cstdio>
#include <iterator>
#include <vector>

#include "gorge/chan/chan.h"
#include "gorge/core/internal/sanitizer.h"
#include "gorge/core/runtime.h"
#include "gorge/select/select.h"
#include "gorge/tests/support/channels.h"
#include "gorge/tests/support/resources.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::AwaitWaiting;
using ::gorge::testing::Kind;
using ::gorge::testing::kKinds;
using ::gorge::testing::ResidentBytes;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::gorge::testing::Team;
using ::gorge::testing::Waiting;

class StaleWaitersTest : public RuntimeTest {
 protected:
  void ExpectNoWaiter(const Chan<int>& idle) {
    EXPECT_EQ(Waiting(idle), 0);
    EXPECT_FALSE(idle.TrySend(1));
    EXPECT_FALSE(idle.TryRecv().ready);
  }
};
GORGE_INSTANTIATE(StaleWaitersTest);

TEST_P(StaleWaitersTest, SelectsThatParkLeaveNothingBehind) {
  // One for each kind: two selects that both send and receive would meet.
  const Chan<int> idles[] = {MakeChan<int>(), MakeChan<int>()};
  static_assert(std::size(kKinds) == std::size(idles));
  const auto work = [&](int n) {
    Team team;
    for (const Kind kind : kKinds) {
      const Chan<int> c = MakeChan<int>();
      team.Go(kind, [idle = idles[static_cast<int>(kind)], c] {
        while (true) {
          bool ok = false;
          int v = 0;
          // In turns with one that must not block.
          Select(OnRecv(idle), OnRecv(c, &v, &ok), OnSend(idle, 1));
          if (!ok) return;
          Select(OnRecv(idle), OnSend(idle, 1), OnDefault());
        }
      });
      team.Go(Kind::kGoroutine, [c, n] {
        for (int i = 0; i < n; ++i) c.Send(i);
        c.Close();
      });
    }
  };
  work(Scaled(2000));  // Everything that is kept is there now.
  for (const Chan<int>& idle : idles) ExpectNoWaiter(idle);
  [[maybe_unused]] const long before = ResidentBytes();

  work(Scaled(10'000));

  for (const Chan<int>& idle : idles) ExpectNoWaiter(idle);
#if !GORGE_ASAN && !GORGE_TSAN
  EXPECT_LT(ResidentBytes() - before, 5 << 20);
#endif
}

TEST_P(StaleWaitersTest, ManySelectsOnOneIdleChannelAllGo) {
  constexpr int kSelects = 1000;
  const int rounds = Scaled(20);
  const Chan<int> idle = MakeChan<int>();
  const Chan<int> hot = MakeChan<int>();
  Team team;
  for (int i = 0; i < kSelects; ++i) {
    team.Go(Kind::kGoroutine, [&] {
      for (int k = 0; k < rounds; ++k) {
        EXPECT_EQ(Select(OnRecv(idle), OnRecv(hot)), 1u);
      }
    });
  }
  AwaitWaiting(idle, kSelects);
  for (int i = 0; i < kSelects * rounds; ++i) hot.Send(i);
  team.Wait();
  ExpectNoWaiter(idle);
}

}  // namespace
}  // namespace gorge
