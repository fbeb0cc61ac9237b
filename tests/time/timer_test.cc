#include "gorge/time/timer.h"

#include <atomic>
#include <limits>
#include <optional>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gorge/core/internal/timers.h"
#include "gorge/core/panic.h"
#include "gorge/select/select.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/channels.h"
#include "gorge/tests/support/elapsed.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/team.h"
#include "gorge/time/ticker.h"
#include "gorge/time/time.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::internal::CountTimers;
using ::gorge::testing::AwaitWaiting;
using ::gorge::testing::Elapsed;
using ::gorge::testing::kAdjusted;
using ::gorge::testing::Kind;
using ::gorge::testing::kKinds;
using ::gorge::testing::PanicText;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::gorge::testing::Team;

constexpr absl::Duration kLong = absl::Hours(1);
constexpr absl::Duration kShort = absl::Microseconds(100);

bool IsReady(const RecvChan<absl::Time>& c) { return c.TryRecv().ready; }

class TimerTest : public RuntimeTest {
 protected:
  // Returns once the timer has gone off, without receiving from it.
  static void AwaitFired() {
    Await([] { return CountTimers() == 0; });
    // Out of the queue; another timer of the same instant or later comes after
    // it only on the same P, so this gives the machine that fires it time.
    Sleep(absl::Milliseconds(1));
  }
};
GORGE_INSTANTIATE(TimerTest);

TEST_P(TimerTest, SendsTheTimeOnceAndNotTooEarly) {
  for (const Kind kind : kKinds) {
    Team team;
    team.Go(kind, [] {
      const absl::Time before = absl::Now();
      const Elapsed elapsed;
      const Timer timer(absl::Milliseconds(2));

      const std::optional<absl::Time> received = timer.C().Recv();

      EXPECT_GE(elapsed(), absl::Milliseconds(2));
      ASSERT_TRUE(received.has_value());
      EXPECT_GE(*received, before + absl::Milliseconds(2) - kAdjusted);
      EXPECT_LE(*received, absl::Now() + kAdjusted);
      EXPECT_FALSE(IsReady(timer.C()));
    });
  }
}

TEST_P(TimerTest, TheValueIsTheInstantItWasDueHoweverLateItIsReceived) {
  Run([] {
    const absl::Time before = absl::Now();
    const RecvChan<absl::Time> c = After(absl::Milliseconds(1));
    Sleep(absl::Milliseconds(30));

    const absl::Time received = *c.Recv();

    EXPECT_GE(received, before + absl::Milliseconds(1) - kAdjusted);
    EXPECT_LT(received, absl::Now() - absl::Milliseconds(29) + kAdjusted);
  });
}

// The scheduler does not get to run: there is no preemption.
TEST_P(TimerTest, APollingLoopSeesTheValue) {
  Run([] {
    const Timer timer(kShort);
    const Ticker ticker(kShort);
    while (!timer.C().TryRecv().ready) {
    }
    for (int ticks = 0; ticks < 3;) {
      Select(OnRecv(ticker.C(), [&] { ++ticks; }), OnDefault());
    }
    EXPECT_FALSE(timer.Stop());
  });
}

TEST_P(TimerTest, LenAndCapAreZero) {
  Run([] {
    const Timer timer(kShort);
    EXPECT_EQ(timer.C().Cap(), 0u);
    EXPECT_EQ(timer.C().Len(), 0u);
    AwaitFired();
    EXPECT_EQ(timer.C().Len(), 0u);
    EXPECT_EQ(timer.C().Cap(), 0u);
    EXPECT_TRUE(IsReady(timer.C()));
  });
}

TEST_P(TimerTest, StopBeforeItIsDue) {
  Run([] {
    const Timer timer(kLong);

    EXPECT_TRUE(timer.Stop());

    EXPECT_EQ(CountTimers(), 0u);
    EXPECT_FALSE(timer.Stop());
    EXPECT_FALSE(IsReady(timer.C()));
  });
}

TEST_P(TimerTest, StopTakesBackAValueThatNobodyHasReceived) {
  Run([] {
    const Timer timer(kShort);
    AwaitFired();

    EXPECT_TRUE(timer.Stop());

    EXPECT_FALSE(IsReady(timer.C()));
    EXPECT_FALSE(timer.Reset(kLong));
    EXPECT_TRUE(timer.Reset(kLong));
    EXPECT_TRUE(timer.Stop());
  });
}

TEST_P(TimerTest, StopAfterTheValueWasReceivedIsFalse) {
  Run([] {
    const Timer timer(kShort);
    EXPECT_TRUE(timer.C().Recv().has_value());

    EXPECT_FALSE(timer.Stop());
    EXPECT_FALSE(timer.Reset(kShort));

    EXPECT_TRUE(timer.C().Recv().has_value());
  });
}

TEST_P(TimerTest, ResetTakesBackAValueAndArmsAnew) {
  Run([] {
    const Timer timer(kShort);
    AwaitFired();

    EXPECT_TRUE(timer.Reset(kLong));

    EXPECT_FALSE(IsReady(timer.C()));
    const Elapsed elapsed;
    EXPECT_TRUE(timer.Reset(absl::Milliseconds(2)));
    EXPECT_TRUE(timer.C().Recv().has_value());
    EXPECT_GE(elapsed(), absl::Milliseconds(2));
  });
}

TEST_P(TimerTest, ResetWhileReceiversAreBlockedServesThem) {
  for (const Kind kind : kKinds) {
    const Timer timer(kLong);
    std::atomic<int> received{0};
    Team team;
    for (int i = 0; i < 2; ++i) {
      team.Go(kind, [&] {
        EXPECT_TRUE(timer.C().Recv().has_value());
        ++received;
      });
    }
    AwaitWaiting(timer.C(), 2);

    EXPECT_TRUE(timer.Reset(kShort));
    Await([&] { return received == 1; });
    EXPECT_FALSE(timer.Reset(kShort));

    team.Wait();
    EXPECT_EQ(received, 2);
  }
}

TEST_P(TimerTest, StopWhileAReceiverIsBlockedLeavesItBlocked) {
  Run([] {
    const Timer timer(kLong);
    std::atomic<bool> received{false};
    WaitGroup all;
    all.Go([&] { Select(OnRecv(timer.C(), [&] { received = true; })); });
    AwaitWaiting(timer.C(), 1);
    timer.Reset(kShort);
    if (timer.Stop()) {
      Sleep(absl::Milliseconds(2));
      EXPECT_FALSE(received);
      timer.Reset(kShort);
    }
    all.Wait();
    EXPECT_TRUE(received);
  });
}

TEST_P(TimerTest, TimesOutASelect) {
  Run([] {
    const auto never = MakeChan<int>();
    bool timed_out = false;

    Select(OnRecv(never), OnRecv(After(kShort), [&] { timed_out = true; }));

    EXPECT_TRUE(timed_out);
  });
}

TEST_P(TimerTest, OneThatNobodyCanReceiveFromIsGone) {
  Run([] {
    { const Timer timer(kLong); }
    EXPECT_EQ(CountTimers(), 0u);
    static_cast<void>(After(kLong));
    EXPECT_EQ(CountTimers(), 0u);

    RecvChan<absl::Time> c = Timer(kLong).C();
    EXPECT_EQ(CountTimers(), 1u);
    c = {};
    EXPECT_EQ(CountTimers(), 0u);
  });
}

TEST_P(TimerTest, TheChannelAloneKeepsItGoing) {
  Run([] {
    const RecvChan<absl::Time> c = Timer(kShort).C();
    EXPECT_TRUE(c.Recv().has_value());
  });
}

TEST_P(TimerTest, ExtremesAreAtOnceOrNever) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  Run([] {
    for (const absl::Duration d :
         {absl::ZeroDuration(), absl::Nanoseconds(-1),
          absl::Nanoseconds(std::numeric_limits<std::int64_t>::min()),
          -absl::InfiniteDuration()}) {
      EXPECT_TRUE(After(d).Recv().has_value());
    }
    std::vector<Timer> never;
    for (const absl::Duration d :
         {absl::Nanoseconds(kMax), absl::Nanoseconds(kMax - 1),
          absl::InfiniteDuration()}) {
      never.emplace_back(d);
    }
    EXPECT_TRUE(After(kShort).Recv().has_value());
    for (const Timer& timer : never) {
      EXPECT_FALSE(IsReady(timer.C()));
      EXPECT_TRUE(timer.Reset(absl::InfiniteDuration()));
      EXPECT_TRUE(timer.Stop());
    }
  });
}

TEST_P(TimerTest, OneThatIsNoTimerPanics) {
  const Timer none;
  EXPECT_FALSE(none.C());
  EXPECT_EQ(PanicText([&] { none.Stop(); }),
            "time: Stop called on uninitialized Timer");
  EXPECT_EQ(PanicText([&] { none.Reset(kLong); }),
            "time: Reset called on uninitialized Timer");
}

TEST_P(TimerTest, MovedEarlierByAnotherPFiresEarlier) {
  Run([&] {
    const int count = Scaled(2000) + 20;
    std::vector<Timer> timers;
    for (int i = 0; i < count; ++i) timers.emplace_back(kLong);
    WaitGroup all;
    for (int k = 0; k < procs(); ++k) {
      all.Go([&, k] {
        for (int i = k; i < count; i += procs()) timers[i].Reset(kShort);
      });
    }
    all.Wait();
    for (const Timer& timer : timers) {
      EXPECT_TRUE(timer.C().Recv().has_value());
    }
  });
}

// Per arming at most one of: value received, Stop true, Reset true; and after a
// Stop there is nothing to receive.
TEST_P(TimerTest, EachArmingEndsOnceAndOnlyOnce) {
  const int rounds = Scaled(20'000) + 50;
  for (const Kind kind : kKinds) {
    std::atomic<int> received{0};
    const Timer timer(kLong);
    timer.Stop();
    const auto stop = MakeChan<int>();
    Team team;
    team.Go(kind, [&] {
      bool stopped = false;
      while (!stopped) {
        Select(OnRecv(timer.C(), [&] { ++received; }),
               OnRecv(stop, [&] { stopped = true; }));
      }
    });
    int armed = 0;
    int taken_back = 0;
    for (int i = 0; i < rounds; ++i) {
      ++armed;
      taken_back += timer.Reset(absl::Nanoseconds(i % 7 * 500)) ? 1 : 0;
      if (i % 3 == 0) taken_back += timer.Stop() ? 1 : 0;
      if (i % 5 == 0) Gosched();
    }
    taken_back += timer.Stop() ? 1 : 0;
    EXPECT_FALSE(IsReady(timer.C()));
    stop.Close();
    team.Wait();
    EXPECT_EQ(received + taken_back, armed);
  }
}

}  // namespace
}  // namespace gorge
