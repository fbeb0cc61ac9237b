// The last handle of a channel, and when it may go.

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/core/runtime.h"
#include "gorge/select/select.h"
#include "gorge/select/selector.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/channels.h"
#include "gorge/tests/support/counted.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::AwaitWaiting;
using ::gorge::testing::Counted;
using ::gorge::testing::Kind;
using ::gorge::testing::kKinds;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::gorge::testing::Team;

class LastHandleTest : public RuntimeTest {};
GORGE_INSTANTIATE(LastHandleTest);

TEST_P(LastHandleTest, GoingAwayLeavesTheBlockedBlocked) {
  LeavesBlocked(10);
  {
    const Chan<int> empty = MakeChan<int>();
    const Chan<int> full = MakeChan<int>(1);
    full.Send(1);
    const auto fail = [] { ADD_FAILURE() << "a blocked goroutine went on"; };
    // They refer to handles that end with this scope, and own none.
    for (int i = 0; i < 2; ++i) {
      go([&] { empty.Recv(), fail(); });
      go([&] { full.Send(2), fail(); });
      go([&] { Select(OnRecv(empty, [](int) {}), OnSend(full, 2)), fail(); });
      go([&] { SelectInOrder(OnRecv(empty), OnRecv(empty)), fail(); });
      go([&] {
        for ([[maybe_unused]] const int v : empty) fail();
        fail();
      });
    }
    AwaitParked(10);
  }
  // The stacks of those that wait and the memory of the channels are left
  // alone, so others may start and end, and channels be made.
  for (int i = 0; i < 100; ++i) {
    const Chan<int> c = MakeChan<int>();
    go([&] { c.Send(i); });
    EXPECT_EQ(c.Recv(), i);
  }
}

TEST_P(LastHandleTest, ABlockedGoroutineThatOwnsAHandleKeepsTheChannel) {
  Run([] {
    Chan<Counted> c = MakeChan<Counted>(1);
    RecvChan<Counted> out = c;
    c.Send(Counted(1));
    go([c] { c.Send(Counted(2)); });
    AwaitWaiting(c, 1);

    c = {};

    EXPECT_EQ(out.Recv()->value(), 1);
    EXPECT_EQ(out.Recv()->value(), 2);
    out = {};
    Await([] { return NumGoroutine() == 1; });
    EXPECT_EQ(Counted::live, 0);
  });
}

TEST_P(LastHandleTest, ASelectorHoldsItsChannels) {
  Selector selector;
  int got = 0;
  {
    const Chan<int> c = MakeChan<int>(1);
    c.Send(7);
    selector.AddRecv(c, [&](int v) { got = v; });
  }

  EXPECT_EQ(selector.Run(), 0u);

  EXPECT_EQ(got, 7);
}

// A call owns its handle and answers on it, once. The caller destroys it as
// soon as it has the answer, while who answered may not have returned yet.
template <class Answer>
void AnswerAndDestroy(int capacity, const Answer& answer,
                      int n = Scaled(1000)) {
  using Call = Chan<std::unique_ptr<int>>;
  for (const Kind kind : kKinds) {
    const Chan<Call*> calls = MakeChan<Call*>();
    Team team;
    team.Go(kind, [&] {
      for (Call* const call : calls) answer(*call);
    });
    for (int i = 0; i < n; ++i) {
      auto call =
          std::make_unique<Call>(MakeChan<std::unique_ptr<int>>(capacity));
      calls.Send(call.get());
      const std::optional<std::unique_ptr<int>> answered = call->Recv();
      call.reset();
      if (answered.has_value()) {
        ASSERT_EQ(**answered, 7);
      }
    }
    calls.Close();
  }
}

TEST_P(LastHandleTest, WhoReceivedAnElementMayDestroyTheChannelItWasSentOn) {
  for (const int capacity : {0, 1}) {
    AnswerAndDestroy(capacity,
                     [](const auto& c) { c.Send(std::make_unique<int>(7)); });
    AnswerAndDestroy(
        capacity,
        [](const auto& c) {
          while (!c.TrySend(std::make_unique<int>(7))) Gosched();
        },
        Scaled(100));
    AnswerAndDestroy(capacity, [](const auto& c) {
      Select(OnSend(c, std::make_unique<int>(7)));
    });
    AnswerAndDestroy(capacity, [](const auto& c) {
      const Chan<int> idle = MakeChan<int>();
      Select(OnSend(c, std::make_unique<int>(7)), OnRecv(idle));
    });
    AnswerAndDestroy(capacity, [](const auto& c) {
      const Chan<int> idle = MakeChan<int>();
      SelectInOrder(OnSend(c, std::make_unique<int>(7)), OnRecv(idle));
    });
  }
}

TEST_P(LastHandleTest, WhoSawTheCloseMayDestroyTheChannel) {
  for (const int capacity : {0, 1}) {
    AnswerAndDestroy(capacity, [](const auto& c) { c.Close(); });
  }
}

// It looks without pause, so that it meets the close at every moment.
TEST_P(LastHandleTest, WhoSawTheCloseWithoutWaitingMayDestroyTheChannel) {
  for (const Kind kind : kKinds) {
    const Chan<Chan<int>*> calls = MakeChan<Chan<int>*>();
    Team team;
    team.Go(kind, [&] {
      for (Chan<int>* const call : calls) call->Close();
    });
    for (int i = 0; i < Scaled(3000); ++i) {
      auto call = std::make_unique<Chan<int>>(MakeChan<int>());
      calls.Send(call.get());
      while (!call->TryRecv().ready) {
        if (MaxProcs() == 1 || i % 2 == 0) Gosched();
      }
      call.reset();
    }
    calls.Close();
  }
}

TEST_P(LastHandleTest, WhoSawTheCloseAmongManyMayDestroyTheChannel) {
  Run([] {
    constexpr int kReceivers = 300;
    for (int round = 0; round < Scaled(50) + 1; ++round) {
      auto call = std::make_unique<Chan<int>>(MakeChan<int>());
      const Chan<int> idle = MakeChan<int>();
      std::atomic<int> woken{0};
      WaitGroup all;
      for (int i = 0; i < kReceivers; ++i) {
        all.Go([&, i] {
          if (i % 2 == 0) {
            call->Recv();
          } else {
            Select(OnRecv(*call), OnRecv(idle));
          }
          if (woken.fetch_add(1) == 0) call.reset();
        });
      }
      AwaitWaiting(*call, kReceivers);

      call->Close();

      all.Wait();
      EXPECT_EQ(woken, kReceivers);
    }
  });
}

TEST_P(LastHandleTest, WhoSentAnElementMayDestroyTheChannel) {
  for (const Kind kind : kKinds) {
    const Chan<Chan<int>*> calls = MakeChan<Chan<int>*>();
    Team team;
    team.Go(kind, [&] {
      for (Chan<int>* const call : calls) EXPECT_EQ(call->Recv(), 7);
    });
    for (int i = 0; i < Scaled(1000); ++i) {
      auto call = std::make_unique<Chan<int>>(MakeChan<int>());
      calls.Send(call.get());
      // Without a buffer, it has been received when this returns.
      call->Send(7);
      call.reset();
    }
    calls.Close();
  }
}

TEST_P(LastHandleTest, HandlesMayGoOnManyThreadsAtOnce) {
  for (int round = 0; round < Scaled(200); ++round) {
    Chan<Counted> c = MakeChan<Counted>(8);
    for (int i = 0; i < 8; ++i) c.Send(Counted(i));
    Team team;
    for (int i = 0; i < 8; ++i) {
      team.Go(kKinds[i % 2], [i, copy = c]() mutable {
        if (i % 4 == 0) {
          EXPECT_TRUE(copy.TryRecv().ready);
        }
        const RecvChan<Counted> moved = std::move(copy);
        const RecvChan<Counted> other = moved;
        EXPECT_TRUE(moved == other);
      });
    }
    c = {};
    team.Wait();
    EXPECT_EQ(Counted::live, 0);
  }
}

}  // namespace
}  // namespace gorge
