// DoneChan: a channel that carries nothing, and whose receivers wait in lanes.

#include "gorge/chan/done_chan.h"

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "gorge/chan/chan.h"
#include "gorge/chan/internal/chan_ref.h"
#include "gorge/chan/internal/hchan.h"
#include "gorge/core/go.h"
#include "gorge/core/runtime.h"
#include "gorge/select/select.h"
#include "gorge/select/selector.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/channels.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::internal::ChanAccess;
using ::gorge::internal::Hchan;
using ::gorge::testing::AwaitWaiting;
using ::gorge::testing::kCloseOfClosed;
using ::gorge::testing::kCloseOfNil;
using ::gorge::testing::Kind;
using ::gorge::testing::kKinds;
using ::gorge::testing::PanicText;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::gorge::testing::Team;
using ::gorge::testing::Waiting;

class DoneChanTest : public RuntimeTest {};
GORGE_INSTANTIATE(DoneChanTest);

using Done = RecvChan<std::monostate>;

// Returns once receivers wait in lanes, as after two threads met there.
void MakeLanes(const DoneChan& done) {
  Hchan& hchan = *ChanAccess::Ref(done.View()).get();
  while (hchan.FindLane() == nullptr) {
    std::thread other;
    {
      internal::LockGuard hold(hchan.lock());
      other = std::thread([&] { static_cast<void>(hchan.FindLane()); });
      std::this_thread::yield();
    }
    other.join();
  }
}

// Every way to wait for `done` returns; the others' channels are never ready.
void WaitInSomeWay(int way, const Done& done) {
  const Chan<int> idle = MakeChan<int>();
  switch (way % 6) {
    case 0:
      EXPECT_EQ(done.Recv(), std::nullopt);
      break;
    case 1:
      EXPECT_EQ(Select(OnRecv(idle), OnRecv(done)), 1u);
      break;
    case 2:
      EXPECT_EQ(SelectInOrder(OnRecv(done), OnSend(idle, 1)), 0u);
      break;
    case 3:
      EXPECT_LT(Select(OnRecv(done), OnRecv(done)), 2u);
      break;
    case 4: {
      bool ok = true;
      std::monostate value;
      Select(OnRecv(idle), OnRecv(done, &value, &ok));
      EXPECT_FALSE(ok);
      break;
    }
    default: {
      Selector selector;
      selector.AddRecv(idle);
      selector.AddRecv(done);
      selector.AddRecv(done);
      EXPECT_GT(selector.Run(), 0u);
    }
  }
}

TEST_P(DoneChanTest, CloseWakesAllWhereverTheyWait) {
  for (const Kind kind : kKinds) {
    const DoneChan done = MakeDoneChan();
    std::atomic<int> returned{0};
    Team team;
    const auto start = [&](int n) {
      for (int i = 0; i < n; ++i) {
        team.Go(kind, [&, i] {
          WaitInSomeWay(i, done.View());
          ++returned;
        });
      }
    };
    start(6);
    AwaitWaiting(done.View(), 8);
    MakeLanes(done);
    start(24);
    AwaitWaiting(done.View(), 8 + 32);
    EXPECT_EQ(returned, 0);

    done.Close();

    team.Wait();
    EXPECT_EQ(returned, 30);
    EXPECT_EQ(Waiting(done.View()), 0);
    for (int way = 0; way < 6; ++way) WaitInSomeWay(way, done.View());
  }
}

TEST_P(DoneChanTest, NobodyWaitsOnAClosedOneWhateverTheMoment) {
  for (int round = 0; round < Scaled(300); ++round) {
    const DoneChan done = MakeDoneChan();
    if (round % 2 == 0) MakeLanes(done);
    Team team;
    for (int i = 0; i < 6; ++i) {
      team.Go(kKinds[i % 5 == 0], [&, i] { WaitInSomeWay(i, done.View()); });
    }
    for (int i = 0; i < round % 7; ++i) Gosched();
    done.Close();
  }
}

TEST_P(DoneChanTest, ASelectThatGoesOnLeavesItsPlace) {
  const DoneChan done = MakeDoneChan();
  MakeLanes(done);
  Team team;
  std::atomic<int> sum{0};
  for (const Kind kind : kKinds) {
    for (int i = 0; i < 4; ++i) {
      const Chan<int> numbers = MakeChan<int>();
      team.Go(kind, [&, numbers, quit = done.View()] {
        bool open = true;
        while (open) {
          int n = 0;
          EXPECT_EQ(Select(OnRecv(quit), OnRecv(numbers, &n, &open)), 1u);
          sum += n;
        }
      });
      team.Go(kind, [&, numbers, quit = done.View()] {
        for (int n = 1; n <= Scaled(200); ++n) {
          EXPECT_EQ(Select(OnRecv(quit), OnSend(numbers, 1)), 1u);
        }
        numbers.Close();
      });
    }
  }
  team.Wait();
  EXPECT_EQ(sum, 8 * Scaled(200));
  EXPECT_EQ(Waiting(done.View()), 0);
}

// The channel is freed by the last select that leaves; AddressSanitizer looks
// at whether that is too early, LeakSanitizer at whether it is at all.
TEST_P(DoneChanTest, TheLastHandleMayGoWhileSelectsWait) {
  for (int round = 0; round < Scaled(100); ++round) {
    std::optional<DoneChan> done = MakeDoneChan();
    if (round % 4 != 0) MakeLanes(*done);
    const Chan<int> go_on = MakeChan<int>();
    const Done& quit = done->View();
    Team team;
    for (int i = 0; i < 8; ++i) {
      team.Go(kKinds[i % 4 == 0],
              [&] { EXPECT_EQ(Select(OnRecv(quit), OnRecv(go_on)), 1u); });
    }
    AwaitWaiting(quit, 8);
    if (round % 2 == 0) {
      done.reset();
      go_on.Close();
    } else {
      go_on.Close();
      team.Wait();
      done.reset();
    }
  }
}

TEST_P(DoneChanTest, TheLastHandleMayGoWhileOneBlocksForEver) {
  LeavesBlocked(3);
  {
    const DoneChan done = MakeDoneChan();
    MakeLanes(done);
    const Chan<int> idle = MakeChan<int>();
    const auto fail = [] { ADD_FAILURE() << "a blocked goroutine went on"; };
    // They own no handle.
    go([&] { done.View().Recv(), fail(); });
    go([&] { Select(OnRecv(done.View()), OnRecv(idle)), fail(); });
    go([&] { done.View().Recv(), fail(); });
    AwaitParked(3);
  }
}

TEST_P(DoneChanTest, WhoSawTheCloseMayDestroyIt) {
  Run([] {
    for (int round = 0; round < Scaled(100); ++round) {
      auto done = std::make_unique<DoneChan>(MakeDoneChan());
      if (round % 2 == 0) MakeLanes(*done);
      const Chan<int> idle = MakeChan<int>();
      std::atomic<int> woken{0};
      WaitGroup all;
      for (int i = 0; i < 50; ++i) {
        all.Go([&, i] {
          if (i % 2 == 0) {
            done->View().Recv();
          } else {
            Select(OnRecv(done->View()), OnRecv(idle));
          }
          if (woken.fetch_add(1) == 0) done.reset();
        });
      }
      AwaitWaiting(done->View(), 50);

      done->Close();

      all.Wait();
    }
  });
}

TEST_P(DoneChanTest, IsNeverSeenOpenAfterItWasSeenClosed) {
  for (int round = 0; round < Scaled(200); ++round) {
    const DoneChan done = MakeDoneChan();
    MakeLanes(done);
    std::array<int, 1> written{};
    Team team;
    for (int i = 0; i < 4; ++i) {
      team.Go(kKinds[i % 2], [&] {
        const Chan<int> idle = MakeChan<int>();
        while (Select(OnRecv(done.View()), OnRecv(idle), OnDefault()) != 0) {
          Gosched();
        }
        EXPECT_EQ(written[0], 1);
        EXPECT_TRUE(done.View().TryRecv().ready);
        EXPECT_EQ(Select(OnRecv(idle), OnRecv(done.View()), OnDefault()), 1u);
      });
    }
    written[0] = 1;
    done.Close();
  }
}

TEST_P(DoneChanTest, CanBeNilAndCannotBeClosedTwice) {
  const DoneChan nil;
  EXPECT_FALSE(nil);
  EXPECT_FALSE(nil.View());
  EXPECT_FALSE(nil.View().TryRecv().ready);
  EXPECT_EQ(PanicText([&] { nil.Close(); }), kCloseOfNil);

  const DoneChan done = MakeDoneChan();
  const DoneChan same = done;
  EXPECT_TRUE(done);
  EXPECT_TRUE(done == same);
  EXPECT_FALSE(done == MakeDoneChan());
  EXPECT_EQ(done.View().Len(), 0u);
  EXPECT_EQ(done.View().Cap(), 0u);
  same.Close();
  EXPECT_EQ(PanicText([&] { done.Close(); }), kCloseOfClosed);
}

}  // namespace
}  // namespace gorge
