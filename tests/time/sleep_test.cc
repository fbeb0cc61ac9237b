#include <atomic>
#include <chrono>
#include <limits>

#include "absl/time/time.h"
#include "gorge/core/go.h"
#include "gorge/core/internal/random.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/elapsed.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/team.h"
#include "gorge/time/time.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::Elapsed;
using ::gorge::testing::Kind;
using ::gorge::testing::kKinds;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::gorge::testing::Team;

class SleepTest : public RuntimeTest {};
GORGE_INSTANTIATE(SleepTest);

TEST_P(SleepTest, IsNeverTooShort) {
  for (const Kind kind : kKinds) {
    Team team;
    team.Go(kind, [] {
      for (const int us : {1, 50, 500, 3000}) {
        const absl::Duration d = absl::Microseconds(us);
        const Elapsed elapsed;

        Sleep(d);

        EXPECT_GE(elapsed(), d);
      }
    });
  }
}

TEST_P(SleepTest, TakesDurationsOfTheStandardLibrary) {
  Run([] {
    const Elapsed elapsed;

    Sleep(std::chrono::microseconds(300));
    Sleep(std::chrono::duration<double, std::milli>(0.7));
    Sleep(std::chrono::duration<unsigned, std::ratio<1, 3000>>(3));

    EXPECT_GE(elapsed(), absl::Milliseconds(2));
  });
}

TEST_P(SleepTest, ReturnsAtOnceIfThereIsNothingToWaitFor) {
  Run([] {
    for (const absl::Duration d :
         {absl::ZeroDuration(), absl::Nanoseconds(-1),
          absl::Nanoseconds(std::numeric_limits<std::int64_t>::min()),
          -absl::InfiniteDuration()}) {
      Sleep(d);
    }
  });
}

TEST_P(SleepTest, AnEndlessOneDisturbsNoOther) {
  LeavesBlocked(3);
  LeavesTimers(3);
  for (const absl::Duration d :
       {absl::Nanoseconds(std::numeric_limits<std::int64_t>::max()),
        absl::InfiniteDuration(), absl::Hours(1)}) {
    go([d] { Sleep(d); });
  }
  AwaitParked(3);

  Run([] { Sleep(absl::Milliseconds(1)); });
}

TEST_P(SleepTest, ManyAtOnceAllWakeUp) {
  const int sleepers = Scaled(10'000) + 10;
  std::atomic<int> early{0};
  Run([&] {
    WaitGroup all;
    for (int i = 0; i < sleepers; ++i) {
      all.Go([&, i] {
        internal::Random random(static_cast<std::uint64_t>(i));
        for (int k = 0; k < 3; ++k) {
          const absl::Duration d = absl::Microseconds(random.Below(5000));
          const Elapsed elapsed;
          Sleep(d);
          if (elapsed() < d) ++early;
        }
      });
    }
    all.Wait();
  });
  EXPECT_EQ(early, 0);
}

TEST_P(SleepTest, LetsOthersRun) {
  Run([] {
    std::atomic<bool> ran{false};
    go([&] { ran = true; });

    while (!ran) Sleep(absl::Microseconds(10));
  });
}

// A goroutine that uses its P all the time does not keep the sleepers of that P
// asleep if there is another.
TEST_P(SleepTest, EndsAlthoughThePIsBusy) {
  if (procs() == 1) GTEST_SKIP() << "takes another P";
  Run([] {
    std::atomic<bool> stop{false};
    WaitGroup all;
    all.Go([&] {
      Sleep(absl::Milliseconds(1));
      stop = true;
    });
    all.Go([&] {
      go([] {});
      while (!stop) {
      }
    });
    all.Wait();
  });
}

// Goroutines that always have something to do do not keep sleepers waiting.
TEST_P(SleepTest, EndsAlthoughOthersPassMessages) {
  Run([&] {
    std::atomic<bool> stop{false};
    WaitGroup all;
    for (int i = 0; i < procs(); ++i) {
      const auto c = MakeChan<int>();
      all.Go([c] {
        for ([[maybe_unused]] int message : c) {
        }
      });
      all.Go([&stop, c] {
        while (!stop) c.Send(1);
        c.Close();
      });
      all.Go([&stop] {
        while (!stop) Gosched();
      });
    }
    Sleep(absl::Milliseconds(2));
    stop = true;
    all.Wait();
  });
}

TEST_P(SleepTest, AShutdownAbandonsSleepers) {
  for (int i = 0; i < Scaled(100) + 3; ++i) {
    std::atomic<int> asleep{0};
    for (int k = 0; k < 10; ++k) {
      go([&asleep, k] {
        ++asleep;
        Sleep(absl::Microseconds(k * 20));
        Sleep(absl::Hours(1));
      });
    }
    Await([&] { return asleep == 10; });
    Shutdown();
    Run([] { Sleep(absl::Microseconds(50)); });
  }
}

}  // namespace
}  // namespace gorge
