// What a select leaves behind on the channels it did not use: nothing.

#include <optional>
#include <vector>

#include "gorge/chan/chan.h"
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
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Team;
using ::gorge::testing::Waiting;

class LeavingTest : public RuntimeTest {};
GORGE_INSTANTIATE(LeavingTest);

TEST_P(LeavingTest, NobodyCanSendToItAnyMore) {
  for (const Kind kind : kKinds) {
    const Chan<int> used = MakeChan<int>();
    const Chan<int> other = MakeChan<int>();
    Team team;
    team.Go(kind, [&] { Select(OnRecv(used), OnRecv(other)); });
    AwaitWaiting(other, 1);

    used.Send(1);

    // At once, though the other may not have run yet.
    EXPECT_FALSE(other.TrySend(2));
    EXPECT_EQ(Select(OnSend(other, 3), OnDefault()), 1u);
  }
}

TEST_P(LeavingTest, NobodyCanReceiveFromItAnyMore) {
  for (const Kind kind : kKinds) {
    const Chan<int> used = MakeChan<int>();
    const Chan<int> other = MakeChan<int>();
    Team team;
    team.Go(kind, [&] { Select(OnSend(other, 1), OnRecv(used)); });
    AwaitWaiting(other, 1);

    used.Close();

    EXPECT_FALSE(other.TryRecv().ready);
    EXPECT_EQ(Select(OnRecv(other), OnDefault()), 1u);
  }
}

TEST_P(LeavingTest, TheBufferOfItsOtherChannelIsUsed) {
  const Chan<int> used = MakeChan<int>();
  const Chan<int> other = MakeChan<int>(1);
  Team team;
  team.Go(Kind::kGoroutine, [&] { Select(OnRecv(used), OnRecv(other)); });
  AwaitWaiting(other, 1);

  used.Send(1);
  EXPECT_TRUE(other.TrySend(2));

  team.Wait();
  EXPECT_EQ(other.Recv(), 2);
}

TEST_P(LeavingTest, WhoWaitsBehindItIsServed) {
  for (const Kind kind : kKinds) {
    const Chan<int> used = MakeChan<int>();
    const Chan<int> other = MakeChan<int>();
    Team team;
    team.Go(kind, [&] { Select(OnRecv(other), OnRecv(used), OnRecv(other)); });
    AwaitWaiting(other, 2);
    std::optional<int> got;
    team.Go(kind, [&] { got = other.Recv(); });
    AwaitWaiting(other, 3);

    used.Send(1);
    other.Send(2);

    team.Wait();
    EXPECT_EQ(got, 2);
    EXPECT_EQ(Waiting(other), 0);
  }
}

TEST_P(LeavingTest, ItsOtherChannelMayBeClosedMeanwhile) {
  for (const Kind kind : kKinds) {
    const Chan<int> used = MakeChan<int>();
    const Chan<int> other = MakeChan<int>();
    Team team;
    team.Go(kind, [&] {
      int got = 0;
      EXPECT_EQ(Select(OnSend(other, 1), OnRecv(used, &got)), 1u);
      EXPECT_EQ(got, 7) << kind;
    });
    AwaitWaiting(used, 1);

    used.Send(7);
    // It was chosen before this; the send is no longer on.
    other.Close();
  }
}

TEST_P(LeavingTest, ItsOtherChannelMayBeDroppedMeanwhile) {
  for (const Kind kind : kKinds) {
    for (int i = 0; i < 20; ++i) {
      const Chan<int> used = MakeChan<int>();
      std::vector<Chan<int>> others(10);
      for (Chan<int>& c : others) c = MakeChan<int>(1);
      Team team;
      team.Go(kind, [&] {
        Select(OnRecv(others[0]), OnRecv(others[1]), OnRecv(others[2]),
               OnRecv(used), OnRecv(others[4]), OnRecv(others[5]),
               OnRecv(others[6]), OnRecv(others[7]), OnRecv(others[8]),
               OnRecv(others[9]));
      });
      AwaitWaiting(used, 1);

      used.Send(7);
      others.clear();
    }
  }
}

}  // namespace
}  // namespace gorge
