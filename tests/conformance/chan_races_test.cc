// Operations that must not block, while others move values and close channels:
// what is ready at every moment is never reported as not ready.

#include <cstddef>

#include "gorge/chan/chan.h"
#include "gorge/select/select.h"
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

class ChanRacesTest : public RuntimeTest {
 protected:
  // Many times: makes two channels of the given capacities, the first of them
  // full, and then calls changer() and looker() at the same time.
  template <class Changer, class Looker>
  void Race(int capacity1, int capacity2, const Changer& changer,
            const Looker& looker) {
    for (const Kind kind : kKinds) {
      const Chan<int> start = MakeChan<int>();
      const Chan<int> end = MakeChan<int>();
      Team team;
      team.Go(kind, [&] {
        for (const int round : start) {
          looker();
          end.Send(round);
        }
      });
      for (int i = 0; i < Scaled(4000) && !HasFailure(); ++i) {
        c1_ = MakeChan<int>(capacity1);
        c2_ = MakeChan<int>(capacity2);
        for (int k = 0; k < capacity1; ++k) c1_.Send(k);
        start.Send(i);
        changer();
        end.Recv();
      }
      start.Close();
    }
  }

  Chan<int> c1_;
  Chan<int> c2_;
};
GORGE_INSTANTIATE(ChanRacesTest);

TEST_P(ChanRacesTest, ATryRecvFindsTheValueThoughTheChannelIsClosed) {
  Race(
      1, 0, [this] { c1_.Close(); },
      [this] { EXPECT_TRUE(c1_.TryRecv().value.has_value()); });
}

TEST_P(ChanRacesTest, ATryRecvFindsTheValueOrTheClose) {
  Race(
      1, 0,
      [this] {
        c1_.Close();
        c1_.Recv();
      },
      [this] { EXPECT_TRUE(c1_.TryRecv().ready); });
}

TEST_P(ChanRacesTest, ASelectFindsAValueThatMovesOn) {
  Race(
      1, 1,
      [this] {
        c2_.Send(1);
        (void)c1_.TryRecv();
      },
      [this] { EXPECT_NE(Select(OnRecv(c1_), OnRecv(c2_), OnDefault()), 2u); });
}

TEST_P(ChanRacesTest, ASelectFindsAValueOrTheCloseOfAnotherChannel) {
  Race(
      1, 0,
      [this] {
        c2_.Close();
        (void)c1_.TryRecv();
      },
      [this] { EXPECT_NE(Select(OnRecv(c1_), OnRecv(c2_), OnDefault()), 2u); });
}

TEST_P(ChanRacesTest, ASelectFindsTheRoomThatMovesOn) {
  // One value in two channels of one: either has room, in turn.
  Race(
      1, 1,
      [this] {
        c1_.Recv();
        (void)c2_.TrySend(1);
      },
      [this] {
        EXPECT_NE(Select(OnSend(c1_, 2), OnSend(c2_, 2), OnDefault()), 2u);
      });
}

}  // namespace
}  // namespace gorge
