// A select without a default: until when it blocks, and what wakes it.

#include <atomic>
#include <optional>

#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/select/select.h"
#include "gorge/tests/support/channels.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::AwaitWaiting;
using ::gorge::testing::Kind;
using ::gorge::testing::kKinds;
using ::gorge::testing::kSendOnClosed;
using ::gorge::testing::PanicText;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Team;
using ::gorge::testing::Waiting;

class BlockingTest : public RuntimeTest {};
GORGE_INSTANTIATE(BlockingTest);

TEST_P(BlockingTest, ReturnsOnceAValueComes) {
  for (const Kind kind : kKinds) {
    const Chan<int> a = MakeChan<int>();
    const Chan<int> b = MakeChan<int>();
    Team team;
    team.Go(kind, [&] {
      int got = 0;
      EXPECT_EQ(Select(OnRecv(a), OnRecv(b, &got)), 1u);
      EXPECT_EQ(got, 7) << kind;
    });
    AwaitWaiting(a, 1);
    AwaitWaiting(b, 1);

    b.Send(7);

    team.Wait();
    EXPECT_EQ(Waiting(a), 0);
  }
}

TEST_P(BlockingTest, ReturnsOnceThereIsAReceiver) {
  for (const Kind kind : kKinds) {
    const Chan<int> a = MakeChan<int>();
    const Chan<int> b = MakeChan<int>();
    Team team;
    team.Go(kind,
            [&] { EXPECT_EQ(Select(OnSend(a, 7), OnSend(b, 8)), 0u) << kind; });
    AwaitWaiting(b, 1);

    EXPECT_EQ(a.Recv(), 7);

    team.Wait();
    EXPECT_EQ(Waiting(b), 0);
    EXPECT_FALSE(b.TryRecv().ready);
  }
}

TEST_P(BlockingTest, ReturnsOnceThereIsRoom) {
  for (const Kind kind : kKinds) {
    const Chan<int> full = MakeChan<int>(1);
    const Chan<int> idle = MakeChan<int>();
    full.Send(1);
    Team team;
    team.Go(kind, [&] {
      EXPECT_EQ(Select(OnRecv(idle), OnSend(full, 2)), 1u) << kind;
    });
    AwaitWaiting(full, 1);

    EXPECT_EQ(full.Recv(), 1);

    EXPECT_EQ(full.Recv(), 2);
  }
}

TEST_P(BlockingTest, ReturnsOnceAChannelToReceiveFromIsClosed) {
  for (const Kind kind : kKinds) {
    const Chan<int> a = MakeChan<int>();
    const Chan<int> b = MakeChan<int>();
    Team team;
    team.Go(kind, [&] {
      std::optional<int> got = 1;
      EXPECT_EQ(Select(OnRecv(a, &got), OnRecv(b)), 0u);
      EXPECT_EQ(got, std::nullopt) << kind;
    });
    AwaitWaiting(b, 1);

    a.Close();
  }
}

TEST_P(BlockingTest, PanicsOnceAChannelToSendToIsClosed) {
  for (const Kind kind : kKinds) {
    const Chan<int> a = MakeChan<int>();
    const Chan<int> b = MakeChan<int>();
    Team team;
    team.Go(kind, [&] {
      EXPECT_EQ(PanicText([&] { Select(OnSend(a, 1), OnRecv(b)); }),
                kSendOnClosed)
          << kind;
    });
    AwaitWaiting(b, 1);

    a.Close();

    team.Wait();
    EXPECT_EQ(Waiting(b), 0);
  }
}

TEST_P(BlockingTest, NeverReturnsWithoutACase) {
  LeavesBlocked(2);
  go([] {
    Select();
    ADD_FAILURE() << "an empty select returned";
  });
  go([] {
    SelectInOrder();
    ADD_FAILURE() << "an empty select returned";
  });
  AwaitParked(2);
}

TEST_P(BlockingTest, NeverReturnsIfAllChannelsAreNil) {
  LeavesBlocked(3);
  const Chan<int> nil;
  go([&] {
    Select(OnRecv(nil));
    ADD_FAILURE() << "a select of nil returned";
  });
  go([&] {
    Select(OnRecv(nil), OnSend(nil, 1), OnRecv(RecvChan<int>(nil)));
    ADD_FAILURE() << "a select of nil returned";
  });
  go([&] {
    SelectInOrder(OnRecv(nil), OnSend(nil, 1));
    ADD_FAILURE() << "a select of nil returned";
  });
  AwaitParked(3);
}

TEST_P(BlockingTest, NilChannelsAreLeftOutOfTheChoice) {
  const Chan<int> nil;
  const Chan<int> c = MakeChan<int>();
  for (const Kind kind : kKinds) {
    Team team;
    team.Go(kind, [&] {
      EXPECT_EQ(Select(OnRecv(nil), OnSend(nil, 1), OnRecv(c)), 2u) << kind;
    });
    AwaitWaiting(c, 1);
    c.Send(7);
  }
}

TEST_P(BlockingTest, PerformsOneCaseThoughTwoBecomeReady) {
  Run([] {
    const Chan<int> a = MakeChan<int>(1);
    const Chan<int> b = MakeChan<int>(1);
    Team team;
    team.Go(Kind::kGoroutine, [&] {
      // Whichever comes first: the other value stays where it is.
      int got = 0;
      const std::size_t chosen = Select(OnRecv(a, &got), OnRecv(b, &got));
      EXPECT_EQ(got, chosen == 0 ? 1 : 2);
    });
    AwaitWaiting(a, 1);

    a.Send(1);
    b.Send(2);

    team.Wait();
    EXPECT_EQ(a.Len() + b.Len(), 1u);
  });
}

TEST_P(BlockingTest, OneCaseIsThePlainOperation) {
  for (const Kind kind : kKinds) {
    const Chan<int> c = MakeChan<int>();
    Team team;
    team.Go(kind, [&] {
      EXPECT_EQ(Select(OnSend(c, 7)), 0u);
      int got = 0;
      EXPECT_EQ(Select(OnRecv(c, &got)), 0u);
      EXPECT_EQ(got, 8);
      EXPECT_EQ(PanicText([&] { Select(OnSend(c, 9)); }), kSendOnClosed);
    });
    AwaitWaiting(c, 1);
    EXPECT_EQ(c.Recv(), 7);
    AwaitWaiting(c, 1);
    c.Send(8);
    AwaitWaiting(c, 1);
    c.Close();
  }
}

TEST_P(BlockingTest, OneCaseWithADefaultNeverBlocks) {
  const Chan<int> c = MakeChan<int>(1);
  std::optional<int> got;
  EXPECT_EQ(Select(OnRecv(c, &got), OnDefault()), 1u);
  EXPECT_EQ(Select(OnSend(c, 7), OnDefault()), 0u);
  EXPECT_EQ(Select(OnSend(c, 8), OnDefault()), 1u);
  EXPECT_EQ(Select(OnRecv(c, &got), OnDefault()), 0u);
  EXPECT_EQ(got, 7);
  c.Close();
  EXPECT_EQ(Select(OnRecv(c, &got), OnDefault()), 0u);
  EXPECT_EQ(got, std::nullopt);
  EXPECT_EQ(PanicText([&] { Select(OnSend(c, 8), OnDefault()); }),
            kSendOnClosed);
}

TEST_P(BlockingTest, SelectsOnBothSidesMeet) {
  for (const Kind sender : kKinds) {
    for (const Kind receiver : kKinds) {
      const Chan<int> c = MakeChan<int>();
      const Chan<int> idle = MakeChan<int>();
      Team team;
      team.Go(sender, [&] {
        for (int i = 0; i < 50; ++i) Select(OnRecv(idle), OnSend(c, i));
      });
      team.Go(receiver, [&] {
        for (int i = 0; i < 50; ++i) {
          int got = -1;
          Select(OnRecv(c, &got), OnRecv(idle));
          ASSERT_EQ(got, i) << sender << " to " << receiver;
        }
      });
    }
  }
}

}  // namespace
}  // namespace gorge
