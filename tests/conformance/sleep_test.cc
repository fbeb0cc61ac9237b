// Sleep, timers and AfterFunc. Answers time/sleep_test.go; each case has the
// name of the test it answers.

#include <algorithm>
#include <atomic>
#include <limits>
#include <vector>

#include "absl/time/time.h"
#include "gorge/chan/chan.h"
#include "gorge/core/panic.h"
#include "gorge/core/runtime.h"
#include "gorge/select/select.h"
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
using ::gorge::testing::kKinds;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::gorge::testing::Team;

constexpr absl::Duration kLong = absl::Hours(1);

class SleepConformanceTest : public RuntimeTest {};
GORGE_INSTANTIATE(SleepConformanceTest);

TEST_P(SleepConformanceTest, TickerStress) {
  Run([] {
    std::atomic<bool> stop{false};
    WaitGroup reader;
    reader.Go([&] {
      const Ticker ticker(absl::Nanoseconds(1));
      for (int i = 0; i < 100; ++i) EXPECT_TRUE(ticker.C().Recv().has_value());
      ticker.Stop();
      stop = true;
    });
    while (!stop) Gosched();
    reader.Wait();
  });
}

TEST_P(SleepConformanceTest, TickerConcurrentStress) {
  const Ticker ticker(absl::Nanoseconds(1));
  Team team;
  for (int i = 0; i < 10; ++i) {
    team.Go(kKinds[i % 2], [&] {
      for (int k = 0; k < 100; ++k) {
        EXPECT_TRUE(ticker.C().Recv().has_value());
      }
    });
  }
  team.Wait();
  ticker.Stop();
}

TEST_P(SleepConformanceTest, AfterTick) {
  Run([] {
    constexpr absl::Duration kPeriod = absl::Microseconds(700);
    const Elapsed elapsed;
    for (int i = 0; i < 10; ++i) After(kPeriod).Recv();
    EXPECT_GE(elapsed(), 10 * kPeriod);
  });
}

// A timer that is armed, and between which instants it must be due.
struct Armed {
  Armed(const Elapsed& elapsed, absl::Duration d)
      : earliest(elapsed() + d), c(After(d)), latest(elapsed() + d) {}
  absl::Duration earliest;
  RecvChan<absl::Time> c;  // Nil when it has been received from.
  absl::Duration latest;
};

// Whoever finds one that has gone off finds all those gone off that were due
// before it.
TEST_P(SleepConformanceTest, AfterQueuing) {
  Run([] {
    const Elapsed elapsed;
    std::vector<Armed> armed;
    for (const int slot : {5, 3, 6, 6, 6, 1, 1, 2, 7, 9}) {
      armed.emplace_back(elapsed, slot * absl::Microseconds(500));
    }
    const auto receive = [&](Armed& timer) {
      if (!timer.c.TryRecv().ready) return false;
      EXPECT_GE(elapsed(), timer.earliest);
      timer.c = {};
      return true;
    };
    while (std::any_of(armed.begin(), armed.end(), [](const Armed& timer) {
      return static_cast<bool>(timer.c);
    })) {
      for (Armed& timer : armed) {
        if (!timer.c || !receive(timer)) continue;
        for (Armed& other : armed) {
          if (!other.c || other.latest > timer.earliest) continue;
          EXPECT_TRUE(receive(other)) << "due " << other.latest;
        }
      }
      Gosched();
    }
  });
}

// A sleep of nothing leaves nothing behind that a later wait could stumble on.
TEST_P(SleepConformanceTest, SleepZeroDeadlock) {
  Run([] {
    const int rounds = Scaled(2'000) + 100;
    const auto c = MakeChan<int>();
    WaitGroup all;
    all.Go([&] {
      for (int i = 0; i < rounds; ++i) {
        Sleep(absl::ZeroDuration());
        EXPECT_EQ(c.Recv(), i);
      }
    });
    all.Go([&] {
      for (int i = 0; i < rounds; ++i) {
        Sleep(absl::ZeroDuration());
        c.Send(i);
        Sleep(absl::Nanoseconds(-1));
      }
    });
    all.Wait();
  });
}

TEST_P(SleepConformanceTest, Reset) {
  Run([] {
    constexpr absl::Duration kUnit = absl::Milliseconds(2);
    const Timer timer(kLong);
    const Elapsed elapsed;
    EXPECT_TRUE(timer.Reset(3 * kUnit));
    Sleep(kUnit);
    const Elapsed since_reset;
    // Unless this goroutine was held up for long, and then it is true as well:
    // nobody has received the value.
    EXPECT_TRUE(timer.Reset(3 * kUnit));
    timer.C().Recv();
    EXPECT_GE(since_reset(), 3 * kUnit);
    EXPECT_GE(elapsed(), 4 * kUnit);
    EXPECT_FALSE(timer.Reset(kUnit));
    timer.C().Recv();
  });
}

// A Stop that panics holds no lock: all goes on around it.
TEST_P(SleepConformanceTest, Issue5745) {
  Run([] {
    const Timer other(kLong);
    EXPECT_THROW(Timer().Stop(), Panic);
    EXPECT_TRUE(other.Reset(absl::Nanoseconds(1)));
    other.C().Recv();
    Sleep(absl::Microseconds(10));
  });
}

// One that is due at once goes off without anything else happening: a new one,
// a function, one that is used again.
TEST_P(SleepConformanceTest, ZeroTimer) {
  Run([] {
    const int rounds = Scaled(20'000) + 20;
    for (int i = 0; i < rounds; ++i) {
      EXPECT_TRUE(Timer(absl::ZeroDuration()).C().Recv().has_value());
    }
    for (int i = 0; i < rounds; ++i) {
      const auto c = MakeChan<int>();
      AfterFunc(absl::ZeroDuration(), [c] { c.Send(1); });
      EXPECT_EQ(c.Recv(), 1);
    }
    const Timer timer(kLong);
    EXPECT_TRUE(timer.Stop());
    for (int i = 0; i < rounds; ++i) {
      EXPECT_FALSE(timer.Reset(absl::ZeroDuration()));
      EXPECT_TRUE(timer.C().Recv().has_value());
    }
  });
}

TEST_P(SleepConformanceTest, TimerModifiedEarlier) {
  Run([] {
    constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
    for (const absl::Duration d :
         {-kLong, absl::Nanoseconds(-1), absl::Nanoseconds(kLowest)}) {
      const Timer timer(kLong);
      const Timer still_later(2 * kLong);
      EXPECT_TRUE(timer.Reset(d));
      EXPECT_TRUE(timer.C().Recv().has_value());
      EXPECT_TRUE(still_later.Stop());
    }
  });
}

// A hundred that are moved between far, near and stopped, again and again, and
// at last all are near: each goes off.
TEST_P(SleepConformanceTest, AdjustTimers) {
  Run([] {
    constexpr absl::Duration kShort = absl::Microseconds(100);
    std::vector<Timer> timers;
    for (int i = 0; i < 100; ++i) timers.emplace_back(kLong);
    for (int round = 0; round < 6; ++round) {
      WaitGroup all;
      for (int p = 0; p < 4; ++p) {
        all.Go([&, p] {
          for (std::size_t i = static_cast<std::size_t>(p); i < timers.size();
               i += 4) {
            const auto state = (i + static_cast<std::size_t>(round)) % 3;
            if (state == 0) timers[i].Reset(kLong);
            if (state == 1) timers[i].Reset(kShort);
            if (state == 2) timers[i].Stop();
          }
        });
      }
      all.Wait();
      Sleep(kShort);
    }
    for (const Timer& timer : timers) timer.Reset(kShort);
    for (const Timer& timer : timers) EXPECT_TRUE(timer.C().Recv());
  });
}

// Nobody receives, so each Stop comes in time, whether the timer has gone off,
// is going off or is to go off; and each Reset too.
class StopResultTest : public RuntimeTest {
 protected:
  template <class TakeBack>
  static void Expect(const TakeBack& take_back) {
    Team team;
    for (int w = 0; w < 4; ++w) {
      team.Go(kKinds[w % 2], [&take_back, w] {
        for (int i = 0; i < Scaled(3'000) + 20; ++i) {
          const Timer timer(absl::Nanoseconds((i * 7 + w) % 40 * 100));
          for (volatile int spin = i % 500; spin > 0;) spin = spin - 1;
          if (i % 64 == 0) Sleep(absl::Microseconds(5));
          EXPECT_TRUE(take_back(timer));
          EXPECT_FALSE(timer.C().TryRecv().ready);
        }
      });
    }
  }
};
GORGE_INSTANTIATE(StopResultTest);

TEST_P(StopResultTest, StopResult) {
  Expect([](const Timer& timer) { return timer.Stop(); });
}

TEST_P(StopResultTest, ResetResult) {
  Expect([](const Timer& timer) { return timer.Reset(kLong); });
}

TEST_P(SleepConformanceTest, MultiWakeupTicker) {
  const int rounds = Scaled(3'000) + 20;
  const Ticker ticker(absl::Microseconds(1));
  Team team;
  for (int i = 0; i < 8; ++i) {
    team.Go(kKinds[i % 4 == 3 ? 1 : 0], [&] {
      for (int k = 0; k < rounds; ++k) {
        Select(OnRecv(ticker.C()), OnRecv(After(absl::Milliseconds(1))));
      }
    });
  }
  team.Wait();
  ticker.Stop();
  EXPECT_FALSE(ticker.C().TryRecv().ready);
}

TEST_P(SleepConformanceTest, MultiWakeupTimer) {
  const int rounds = Scaled(5'000) + 20;
  const Timer timer(absl::Nanoseconds(1));
  Team team;
  for (int i = 0; i < 8; ++i) {
    team.Go(kKinds[i % 4 == 3 ? 1 : 0], [&] {
      for (int k = 0; k < rounds; ++k) {
        static_cast<void>(timer.C().TryRecv());
        timer.Reset(absl::Nanoseconds(1));
        if (k % 64 == 0) Gosched();
      }
    });
  }
  team.Wait();
  // It still is one timer, with one value.
  EXPECT_TRUE(timer.C().Recv().has_value());
  EXPECT_FALSE(timer.C().TryRecv().ready);
  EXPECT_FALSE(timer.Stop());
}

}  // namespace
}  // namespace gorge
