// Sending and receiving without a buffer.

#include <atomic>
#include <optional>
#include <vector>

#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/channels.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::AwaitWaiting;
using ::gorge::testing::Kind;
using ::gorge::testing::kKinds;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::gorge::testing::Team;
using ::gorge::testing::Waiting;

class SendRecvTest : public RuntimeTest {};
GORGE_INSTANTIATE(SendRecvTest);

TEST_P(SendRecvTest, ASenderHandsItsValueToAWaitingReceiver) {
  Run([] {
    const Chan<int> c = MakeChan<int>();
    Team team;
    std::optional<int> got;
    team.Go(Kind::kGoroutine, [&] { got = c.Recv(); });
    AwaitWaiting(c, 1);

    c.Send(7);

    team.Wait();
    EXPECT_EQ(got, 7);
  });
}

TEST_P(SendRecvTest, AReceiverTakesTheValueOfAWaitingSender) {
  Run([] {
    const Chan<int> c = MakeChan<int>();
    Team team;
    team.Go(Kind::kGoroutine, [&] { c.Send(7); });
    AwaitWaiting(c, 1);

    const std::optional<int> got = c.Recv();

    EXPECT_EQ(got, 7);
  });
}

TEST_P(SendRecvTest, ASendReturnsOnlyOnceItIsReceived) {
  Run([] {
    const Chan<int> c = MakeChan<int>();
    std::atomic<bool> sent{false};
    go([&] {
      c.Send(7);
      sent = true;
    });
    AwaitWaiting(c, 1);
    EXPECT_FALSE(sent);

    EXPECT_EQ(c.Recv(), 7);

    Await([&] { return sent.load(); });
  });
}

TEST_P(SendRecvTest, AReceiveReturnsOnlyOnceThereIsAnElement) {
  Run([] {
    const Chan<int> c = MakeChan<int>();
    std::atomic<bool> received{false};
    go([&] {
      EXPECT_EQ(c.Recv(), 7);
      received = true;
    });
    AwaitWaiting(c, 1);
    EXPECT_FALSE(received);

    c.Send(7);

    Await([&] { return received.load(); });
  });
}

TEST_P(SendRecvTest, WaitingReceiversAreServedOldestFirst) {
  for (const Kind kind : kKinds) {
    const Chan<int> c = MakeChan<int>();
    std::vector<std::optional<int>> got(4);
    Team team;
    for (int i = 0; i < 4; ++i) {
      team.Go(kind, [&, i] { got[i] = c.Recv(); });
      AwaitWaiting(c, i + 1);
    }

    for (int i = 0; i < 4; ++i) c.Send(i);

    team.Wait();
    for (int i = 0; i < 4; ++i) EXPECT_EQ(got[i], i) << kind;
  }
}

TEST_P(SendRecvTest, WaitingSendersAreServedOldestFirst) {
  for (const Kind kind : kKinds) {
    const Chan<int> c = MakeChan<int>();
    Team team;
    for (int i = 0; i < 4; ++i) {
      team.Go(kind, [&, i] { c.Send(i); });
      AwaitWaiting(c, i + 1);
    }

    for (int i = 0; i < 4; ++i) EXPECT_EQ(c.Recv(), i) << kind;
  }
}

TEST_P(SendRecvTest, GoroutinesAndThreadsTalkInOrder) {
  const int n = Scaled(2000);
  for (const Kind sender : kKinds) {
    for (const Kind receiver : kKinds) {
      const Chan<int> c = MakeChan<int>();
      Team team;
      team.Go(sender, [&] {
        for (int i = 0; i < n; ++i) c.Send(i);
      });
      team.Go(receiver, [&] {
        for (int i = 0; i < n; ++i) {
          ASSERT_EQ(c.Recv(), i) << sender << " to " << receiver;
        }
      });
    }
  }
}

TEST_P(SendRecvTest, ValuesGoThereAndBack) {
  for (const Kind kind : kKinds) {
    const Chan<int> there = MakeChan<int>();
    const Chan<int> back = MakeChan<int>();
    Team team;
    team.Go(kind, [&] {
      while (std::optional<int> v = there.Recv()) back.Send(*v + 1);
      back.Close();
    });
    team.Go(Kind::kGoroutine, [&] {
      for (int i = 0; i < Scaled(2000); ++i) {
        there.Send(i);
        ASSERT_EQ(back.Recv(), i + 1) << kind;
      }
      there.Close();
      EXPECT_EQ(back.Recv(), std::nullopt);
    });
  }
}

TEST_P(SendRecvTest, ABlockedGoroutineHoldsNoThread) {
  Run([this] {
    const Chan<int> c = MakeChan<int>();
    WaitGroup blocked;
    for (int i = 0; i < 8 * procs(); ++i) {
      blocked.Go([&] { EXPECT_TRUE(c.Recv().has_value()); });
    }
    AwaitParked(8 * procs());

    std::atomic<bool> ran{false};
    go([&] { ran = true; });

    Await([&] { return ran.load(); });
    for (int i = 0; i < 8 * procs(); ++i) c.Send(i);
    blocked.Wait();
  });
}

TEST_P(SendRecvTest, EachElementIsReceivedOnceByManyOnBothSides) {
  constexpr int kActors = 8;  // On each side, half of them threads.
  const int n = Scaled(4000);
  const Chan<int> c = MakeChan<int>();
  std::vector<std::atomic<int>> seen(kActors * n);
  Team senders;
  Team receivers;
  for (int i = 0; i < kActors; ++i) {
    senders.Go(kKinds[i % 2], [&, i] {
      for (int k = 0; k < n; ++k) c.Send(i * n + k);
    });
    receivers.Go(kKinds[i % 2], [&] {
      while (std::optional<int> v = c.Recv()) ++seen[*v];
    });
  }

  senders.Wait();
  c.Close();
  receivers.Wait();

  for (const std::atomic<int>& count : seen) ASSERT_EQ(count, 1);
  EXPECT_EQ(Waiting(c), 0);
}

}  // namespace
}  // namespace gorge
