// Case B01: a select leaves the queue of a channel that did not serve it. When
// its record was the last of several, the queue's tail once kept pointing at
// it, and whoever queued up behind was never served.

#include <optional>
#include <vector>

#include "gorge/chan/chan.h"
#include "gorge/select/select.h"
#include "gorge/select/selector.h"
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

class QueueTailTest : public RuntimeTest {};
GORGE_INSTANTIATE(QueueTailTest);

TEST_P(QueueTailTest, WhoQueuesUpBehindALeavingSelectIsServed) {
  for (const Kind kind : kKinds) {
    const Chan<int> c = MakeChan<int>();
    const Chan<int> d = MakeChan<int>();
    Team team;
    team.Go(kind,
            [&] { EXPECT_EQ(Select(OnRecv(c), OnRecv(c), OnRecv(d)), 2u); });
    AwaitWaiting(c, 2);
    team.Go(kind, [&] { EXPECT_EQ(c.Recv(), 8) << kind; });
    AwaitWaiting(c, 3);

    d.Send(7);
    c.Send(8);

    team.Wait();
    EXPECT_EQ(Waiting(c), 0);
    EXPECT_EQ(Waiting(d), 0);
  }
}

// Plain waiters and a select that stands there `records` times, at `place`
// among them.
void LeaveFrom(int place, int records, bool send) {
  constexpr int kPlain = 3;
  const Chan<int> c = MakeChan<int>();
  const Chan<int> d = MakeChan<int>();
  std::vector<std::optional<int>> got(kPlain);
  Team team;
  int queued = 0;
  for (int i = 0; i <= kPlain; ++i) {
    if (i == place) {
      team.Go(Kind::kGoroutine, [&] {
        Selector selector;
        for (int k = 0; k < records; ++k) {
          if (send) {
            selector.AddSend(c, [] { return -1; });
          } else {
            selector.AddRecv(c);
          }
        }
        const std::size_t leaving = selector.AddRecv(d);
        EXPECT_EQ(selector.Run(), leaving);
      });
      queued += records;
    } else {
      const int index = i < place ? i : i - 1;
      team.Go(Kind::kGoroutine, [&, index] {
        if (send) {
          c.Send(index);
        } else {
          got[index] = c.Recv();
        }
      });
      ++queued;
    }
    AwaitWaiting(c, queued);
  }

  d.Send(7);

  for (int i = 0; i < kPlain; ++i) {
    if (send) {
      EXPECT_EQ(c.Recv(), i);
    } else {
      c.Send(i);
    }
  }
  team.Wait();
  for (int i = 0; !send && i < kPlain; ++i) EXPECT_EQ(got[i], i);
  EXPECT_EQ(Waiting(c), 0);
  EXPECT_FALSE(send ? c.TryRecv().ready : c.TrySend(1));
}

TEST_P(QueueTailTest, ASelectMayLeaveFromAnyPlaceInAnyNumber) {
  Run([] {
    for (int place = 0; place <= 3; ++place) {
      for (const int records : {1, 2, 3, 64}) {
        for (const bool send : {false, true}) LeaveFrom(place, records, send);
      }
    }
  });
}

TEST_P(QueueTailTest, SelectsLeaveAQueueInAnyOrder) {
  Run([] {
    constexpr int kSelects = 7;
    for (int step = 1; step < kSelects; ++step) {
      const Chan<int> c = MakeChan<int>();
      std::vector<Chan<int>> own(kSelects);
      Team team;
      for (int i = 0; i < kSelects; ++i) {
        own[i] = MakeChan<int>();
        team.Go(Kind::kGoroutine, [&, i] {
          EXPECT_EQ(Select(OnRecv(c), OnRecv(own[i])), i == 0 ? 0u : 1u);
        });
        AwaitWaiting(c, i + 1);
      }
      for (int k = 1; k < kSelects; ++k) own[k * step % kSelects].Send(k);
      c.Send(7);
      team.Wait();
      EXPECT_EQ(Waiting(c), 0);
    }
  });
}

}  // namespace
}  // namespace gorge
