// Tickers, and the channels of timers and tickers in every state. Answers
// time/tick_test.go; each case has the name of the test it answers.

#include <atomic>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gorge/chan/chan.h"
#include "gorge/core/internal/timers.h"
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
using ::gorge::testing::AwaitWaiting;
using ::gorge::testing::Elapsed;
using ::gorge::testing::kAdjusted;
using ::gorge::testing::kKinds;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::gorge::testing::Team;

constexpr absl::Duration kLong = absl::Hours(1);
constexpr absl::Duration kTiny = absl::Nanoseconds(1);

class TickTest : public RuntimeTest {};
GORGE_INSTANTIATE(TickTest);

// So many ticks take so many periods; after a Reset, of the new length.
TEST_P(TickTest, Ticker) {
  Run([] {
    constexpr int kTicks = 6;
    const std::pair<absl::Duration, absl::Duration> periods[] = {
        {absl::Microseconds(400), absl::Milliseconds(1)},
        {absl::Milliseconds(2), absl::Microseconds(300)},
    };
    for (const auto& [first, second] : periods) {
      const Elapsed elapsed;
      const class Ticker ticker(first);
      for (int i = 0; i < kTicks; ++i) ticker.C().Recv();
      EXPECT_GE(elapsed(), kTicks * first);
      const Elapsed since_reset;
      ticker.Reset(second);
      for (int i = 0; i < kTicks; ++i) ticker.C().Recv();
      EXPECT_GE(since_reset(), kTicks * second);
      ticker.Stop();
      EXPECT_FALSE(ticker.C().TryRecv().ready);
    }
  });
}

TEST_P(TickTest, Teardown) {
  Run([] {
    for (int i = 0; i < 20; ++i) {
      const class Ticker ticker(absl::Microseconds(10));
      ticker.C().Recv();
      ticker.Stop();
    }
    EXPECT_EQ(CountTimers(), 0u);
  });
}

// Sleepers by the thousand, and selects that arm a timer each and leave it.
TEST_P(TickTest, LongAdjustTimers) {
  Run([] {
    const int sleepers = Scaled(2'000) + 10;
    const auto awake = MakeChan<int>(sleepers);
    for (int i = 0; i < sleepers; ++i) {
      go([awake, i] {
        Sleep(absl::Microseconds(i % 100 * 10));
        awake.Send(i);
      });
    }
    int woken = 0;
    while (woken < sleepers) {
      Select(OnRecv(awake, [&] { ++woken; }),
             OnRecv(After(kLong), [] { ADD_FAILURE() << "an hour"; }));
    }
    const auto queue = MakeChan<int>(1);
    for (int i = 0; i < Scaled(20'000) + 100; ++i) {
      queue.Send(i);
      EXPECT_EQ(Select(OnRecv(After(kLong)), OnRecv(queue)), 1u);
    }
    EXPECT_EQ(CountTimers(), 0u);
  });
}

// Dropped with an hour to go, or stopped and dropped: nothing is left, also of
// those that were reset or are dropped by others than made them.
TEST_P(TickTest, TimerGC) {
  const std::size_t before = CountTimers();
  Team team;
  for (int w = 0; w < 4; ++w) {
    team.Go(kKinds[w % 2], [] {
      for (int i = 0; i < Scaled(5'000) + 10; ++i) {
        const Timer timer(kLong);
        const class Ticker ticker(kLong);
        if (i % 3 == 0) timer.Stop();
        if (i % 3 == 1) ticker.Stop();
        if (i % 5 == 0) timer.Reset(2 * kLong);
        if (i % 7 == 0) ticker.Reset(2 * kLong);
        if (i % 16 == 0) go([timer, ticker] { Gosched(); });
      }
    });
  }
  team.Wait();
  Await([before] { return CountTimers() == before; });
}

// -- Chan: a timer and a ticker in all states, through one interface.

class Clock {
 public:
  enum class Sort { kTimer, kTicker };

  Clock(Sort sort, absl::Duration d) : sort_(sort) {
    if (sort == Sort::kTimer) {
      timer_ = Timer(d);
      c_ = timer_.C();
    } else {
      ticker_.emplace_back(d);
      c_ = ticker_[0].C();
    }
  }
  void Stop() const {
    if (sort_ == Sort::kTimer) {
      timer_.Stop();
    } else {
      ticker_[0].Stop();
    }
  }
  void Reset(absl::Duration d) const {
    if (sort_ == Sort::kTimer) {
      timer_.Reset(d);
    } else {
      ticker_[0].Reset(d);
    }
  }
  const RecvChan<absl::Time>& C() const { return c_; }

  void ExpectNothing() const {
    EXPECT_EQ(c_.Len(), 0u);
    EXPECT_EQ(c_.Cap(), 0u);
    EXPECT_FALSE(c_.TryRecv().ready);
  }
  // It has gone off; who looks at the clock sees so.
  void AwaitPending() const {
    Sleep(absl::Microseconds(50));
    EXPECT_EQ(c_.Len(), 0u);
    EXPECT_EQ(c_.Cap(), 0u);
  }

 private:
  const Sort sort_;
  Timer timer_;
  std::vector<class Ticker> ticker_;  // One, or none.
  RecvChan<absl::Time> c_;
};

class TimeChanTest : public RuntimeTest {
 protected:
  template <class Body>
  static void ForEachSort(const Body& body) {
    for (const auto sort : {Clock::Sort::kTimer, Clock::Sort::kTicker}) {
      Run([&] { body(sort); });
    }
  }
};
GORGE_INSTANTIATE(TimeChanTest);

TEST_P(TimeChanTest, ChanThatNobodyWaitsOn) {
  ForEachSort([](Clock::Sort sort) {
    const Clock clock(sort, kLong);
    clock.ExpectNothing();
    clock.Stop();
    clock.ExpectNothing();
    clock.Reset(kLong);
    clock.ExpectNothing();
    clock.Reset(kTiny);
    clock.AwaitPending();
    EXPECT_TRUE(clock.C().TryRecv().ready);
    // A value that is there goes with a Stop, and with a Reset.
    clock.Reset(kTiny);
    clock.AwaitPending();
    clock.Stop();
    clock.ExpectNothing();
    clock.Reset(kTiny);
    clock.AwaitPending();
    clock.Reset(kLong);
    clock.ExpectNothing();
    clock.Stop();
    clock.ExpectNothing();
  });
}

// What the receivers of a clock get, each of them once.
class Receivers {
 public:
  Receivers(const Clock& clock, int n, bool by_select) {
    for (int i = 0; i < n; ++i) {
      team_.Go(kKinds[i % 2], [this, &clock, by_select] {
        if (by_select) {
          Select(OnRecv(clock.C()), OnRecv(RecvChan<int>()));
        } else {
          clock.C().Recv();
        }
        ++received_;
      });
    }
    AwaitWaiting(clock.C(), n);
  }
  int received() const { return received_; }
  void Await(int n) const {
    while (received_ < n) Gosched();
  }

 private:
  std::atomic<int> received_{0};
  Team team_;
};

// A Stop while some wait leaves them waiting; a Reset while they wait serves
// one, and a ticker the next as well.
TEST_P(TimeChanTest, ChanThatSomeWaitOn) {
  for (const bool by_select : {false, true}) {
    for (const int n : {1, 2}) {
      ForEachSort([&](Clock::Sort sort) {
        const Clock clock(sort, kLong);
        const Receivers receivers(clock, n, by_select);
        clock.Stop();
        clock.ExpectNothing();
        EXPECT_EQ(receivers.received(), 0);
        clock.Reset(kLong);
        clock.ExpectNothing();
        clock.Stop();
        for (int i = 1; i <= n; ++i) {
          EXPECT_EQ(receivers.received(), i - 1);
          clock.Reset(kTiny);
          receivers.Await(i);
          clock.Stop();
          if (sort == Clock::Sort::kTicker) break;
        }
        // A ticker may have served both before the Stop.
        while (receivers.received() < n) {
          clock.Reset(kTiny);
          Gosched();
        }
        clock.Stop();
        clock.ExpectNothing();
      });
    }
  }
}

// Two wait, the timer goes off once: one of them has the value, and the other
// waits on.
TEST_P(TimeChanTest, ChanServesOneOfTwo) {
  Run([] {
    const Clock clock(Clock::Sort::kTimer, kLong);
    const Receivers receivers(clock, 2, false);
    clock.Reset(kTiny);
    receivers.Await(1);
    AwaitWaiting(clock.C(), 1);
    Sleep(absl::Milliseconds(1));
    EXPECT_EQ(receivers.received(), 1);
    clock.Reset(kTiny);
  });
}

// What had to be written before Go 1.23 to be sure that no old value is left:
// it does not hang, since a Stop that returns false means that somebody has
// received it.
TEST_P(TimeChanTest, ChanIsNotDrainedInVain) {
  Run([] {
    const Timer timer(kTiny);
    for (int i = 0; i < 50; ++i) {
      if (i % 3 == 0) Sleep(absl::Microseconds(20));
      if (!timer.Stop()) timer.C().Recv();
      EXPECT_FALSE(timer.Reset(kTiny));
    }
    EXPECT_TRUE(timer.C().Recv().has_value());
  });
}

// -- The values are the instants that were due, however late they are read.

constexpr absl::Duration kDue = absl::Milliseconds(20);

// Of one that is due `kDue` after `start`.
void ExpectDueThoughReadLate(const RecvChan<absl::Time>& c, absl::Time start) {
  Sleep(3 * kDue);
  const absl::Time due = *c.Recv();
  EXPECT_GE(due, start + kDue - kAdjusted);
  EXPECT_LE(due, absl::Now() - 2 * kDue + kAdjusted);
}

TEST_P(TickTest, AfterTimes) {
  Run([] {
    const absl::Time start = absl::Now();
    ExpectDueThoughReadLate(After(kDue), start);
  });
}

TEST_P(TickTest, TickTimes) {
  Run([] {
    const absl::Time start = absl::Now();
    ExpectDueThoughReadLate(Tick(kDue), start);
  });
}

}  // namespace
}  // namespace gorge
