// SelectInOrder: the first ready case of the list.

#include <atomic>
#include <optional>

#include "gorge/chan/chan.h"
#include "gorge/select/select.h"
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

class InOrderTest : public RuntimeTest {};
GORGE_INSTANTIATE(InOrderTest);

TEST_P(InOrderTest, TakesTheFirstThatIsReady) {
  const Chan<int> closed = MakeChan<int>();
  closed.Close();
  const Chan<int> room = MakeChan<int>(100);
  const Chan<int> idle = MakeChan<int>();
  const Chan<int> nil;
  for (int i = 0; i < 30; ++i) {
    EXPECT_EQ(SelectInOrder(OnRecv(closed), OnSend(room, i)), 0u);
    EXPECT_EQ(SelectInOrder(OnSend(room, i), OnRecv(closed)), 0u);
    EXPECT_EQ(SelectInOrder(OnRecv(nil), OnRecv(idle), OnRecv(closed),
                            OnSend(room, i)),
              2u);
    EXPECT_EQ(SelectInOrder(OnRecv(idle), OnRecv(idle), OnRecv(closed),
                            OnRecv(closed)),
              2u);
  }
}

TEST_P(InOrderTest, TakesTheDefaultOnlyIfNoneIsReadyWhereverItStands) {
  const Chan<int> closed = MakeChan<int>();
  closed.Close();
  const Chan<int> idle = MakeChan<int>();
  EXPECT_EQ(SelectInOrder(OnDefault(), OnRecv(idle), OnRecv(closed)), 2u);
  EXPECT_EQ(SelectInOrder(OnDefault(), OnRecv(idle), OnSend(idle, 1)), 0u);
  EXPECT_EQ(SelectInOrder(OnDefault()), 0u);
}

TEST_P(InOrderTest, WaitsLikeSelectIfNoneIsReady) {
  for (const Kind kind : kKinds) {
    const Chan<int> first = MakeChan<int>();
    const Chan<int> second = MakeChan<int>();
    Team team;
    team.Go(kind, [&] {
      int got = 0;
      EXPECT_EQ(SelectInOrder(OnRecv(first, &got), OnRecv(second, &got)), 1u);
      EXPECT_EQ(got, 7) << kind;
    });
    AwaitWaiting(first, 1);

    second.Send(7);

    team.Wait();
    EXPECT_EQ(Waiting(first), 0);
  }
}

// Go programs nest two selects for this, and lose values between the two.
TEST_P(InOrderTest, ServesAnUrgentChannelBeforeAnOrdinaryOne) {
  const Chan<int> urgent = MakeChan<int>(10);
  const Chan<int> ordinary = MakeChan<int>(10);
  for (int i = 0; i < 10; ++i) {
    ordinary.Send(i);
    urgent.Send(i);
  }
  for (int i = 0; i < 20; ++i) {
    int got = -1;
    EXPECT_EQ(SelectInOrder(OnRecv(urgent, &got), OnRecv(ordinary, &got)),
              i < 10 ? 0u : 1u);
    EXPECT_EQ(got, i % 10);
  }
}

// All channels are looked at in the same moment: a value that was there before
// that of a later case is never passed by.
TEST_P(InOrderTest, NeverTakesALaterCaseThatBecameReadyLater) {
  const int n = Scaled(3000);
  for (const Kind kind : kKinds) {
    const Chan<int> first = MakeChan<int>(1);
    const Chan<int> second = MakeChan<int>(1);
    Team team;
    team.Go(kind, [&] {
      for (int i = 0; i < n; ++i) {
        first.Send(i);
        second.Send(i);
      }
    });
    team.Go(Kind::kGoroutine, [&] {
      int seen = -1;  // The newest value of `first`.
      for (int received = 0; received < 2 * n; ++received) {
        int got = -1;
        if (SelectInOrder(OnRecv(first, &got), OnRecv(second, &got)) == 0) {
          seen = got;
        } else {
          ASSERT_LE(got, seen) << kind;
        }
      }
    });
  }
}

}  // namespace
}  // namespace gorge
