#include "gorge/time/ticker.h"

#include <atomic>
#include <limits>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gorge/core/internal/timers.h"
#include "gorge/core/panic.h"
#include "gorge/core/runtime.h"
#include "gorge/select/select.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/channels.h"
#include "gorge/tests/support/elapsed.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/team.h"
#include "gorge/time/time.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::internal::CountTimers;
using ::gorge::testing::Elapsed;
using ::gorge::testing::kAdjusted;
using ::gorge::testing::Kind;
using ::gorge::testing::kKinds;
using ::gorge::testing::PanicText;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::gorge::testing::Team;

class TickerTest : public RuntimeTest {};
GORGE_INSTANTIATE(TickerTest);

TEST_P(TickerTest, TicksAtMultiplesOfItsPeriodAndNotTooEarly) {
  static constexpr absl::Duration kPeriod = absl::Microseconds(500);
  for (const Kind kind : kKinds) {
    Team team;
    team.Go(kind, [] {
      const absl::Time before = absl::Now();
      const Elapsed elapsed;
      const Ticker ticker(kPeriod);
      int ticks = 0;

      for (const absl::Time now : ticker.C()) {
        EXPECT_GE(now, before + ++ticks * kPeriod - kAdjusted);
        if (ticks == 5) break;
      }

      EXPECT_GE(elapsed(), 5 * kPeriod);
    });
  }
}

TEST_P(TickerTest, DropsTicksForASlowReceiver) {
  Run([] {
    static constexpr absl::Duration kPeriod = absl::Microseconds(500);
    const Ticker ticker(kPeriod);
    const absl::Time first = *ticker.C().Recv();
    Sleep(20 * kPeriod);

    const absl::Time second = *ticker.C().Recv();
    const absl::Time third = *ticker.C().Recv();

    EXPECT_GE(second, first + kPeriod - kAdjusted);
    // On the grid, and some were dropped.
    EXPECT_GE(third, first + 20 * kPeriod - kAdjusted);
  });
}

TEST_P(TickerTest, StopIsTheEndUntilAReset) {
  Run([] {
    const Ticker ticker(absl::Nanoseconds(1));
    EXPECT_TRUE(ticker.C().Recv().has_value());

    ticker.Stop();

    EXPECT_EQ(CountTimers(), 0u);
    EXPECT_FALSE(ticker.C().TryRecv().ready);
    Sleep(absl::Milliseconds(1));
    EXPECT_FALSE(ticker.C().TryRecv().ready);
    ticker.Reset(absl::Microseconds(10));
    EXPECT_TRUE(ticker.C().Recv().has_value());
    ticker.Stop();
    ticker.Stop();
  });
}

TEST_P(TickerTest, LenAndCapAreZero) {
  Run([] {
    const Ticker ticker(absl::Nanoseconds(1));
    Sleep(absl::Milliseconds(1));
    EXPECT_EQ(ticker.C().Len(), 0u);
    EXPECT_EQ(ticker.C().Cap(), 0u);
    EXPECT_TRUE(ticker.C().TryRecv().ready);
  });
}

TEST_P(TickerTest, OneThatNobodyCanReceiveFromIsGone) {
  Run([] {
    { const Ticker ticker(absl::Nanoseconds(1)); }
    Await([] { return CountTimers() == 0; });
    static_cast<void>(Tick(absl::Hours(1)));
    EXPECT_EQ(CountTimers(), 0u);
  });
}

TEST_P(TickerTest, IntervalsMustBePositive) {
  for (const absl::Duration d : {absl::ZeroDuration(), absl::Nanoseconds(-1)}) {
    EXPECT_EQ(PanicText([&] { Ticker ticker(d); }),
              "non-positive interval for NewTicker");
    const Ticker ticker(absl::Hours(1));
    EXPECT_EQ(PanicText([&] { ticker.Reset(d); }),
              "non-positive interval for Ticker.Reset");
    EXPECT_FALSE(Tick(d));
  }
}

TEST_P(TickerTest, AHugePeriodDoesNotWrapAround) {
  Run([] {
    const Ticker ticker(
        absl::Nanoseconds(std::numeric_limits<std::int64_t>::max() - 1));
    Sleep(absl::Milliseconds(1));
    EXPECT_FALSE(ticker.C().TryRecv().ready);
  });
}

TEST_P(TickerTest, ManyMayReceiveFromAFastOne) {
  const int rounds = Scaled(5000) + 20;
  for (const Kind kind : kKinds) {
    const Ticker ticker(absl::Nanoseconds(1));
    Team team;
    for (int i = 0; i < 8; ++i) {
      team.Go(kind, [&] {
        for (int k = 0; k < rounds; ++k) {
          Select(OnRecv(ticker.C()), OnRecv(After(absl::Milliseconds(1))));
        }
      });
    }
    team.Wait();
    ticker.Stop();
    EXPECT_FALSE(ticker.C().TryRecv().ready);
  }
}

}  // namespace
}  // namespace gorge
