// Timers under load, at the edges of what a duration can be, with signals, and
// with functions that do not return.

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/core/internal/timers.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/death_test.h"
#include "gorge/tests/support/elapsed.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gorge/time/time.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::internal::CountTimers;
using ::gorge::testing::DeathTest;
using ::gorge::testing::Elapsed;
using ::gorge::testing::InChild;
using ::gorge::testing::kAdjusted;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::testing::HasSubstr;
using ::testing::KilledBySignal;

constexpr absl::Duration kLong = absl::Hours(1);
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

class TimerLoadTest : public RuntimeTest {};
GORGE_INSTANTIATE(TimerLoadTest);

TEST_P(TimerLoadTest, FunctionsAtTheEdgesRunAtOnceOrNever) {
  Run([] {
    std::vector<Timer> never;
    for (const absl::Duration d :
         {absl::Nanoseconds(kMax), absl::Nanoseconds(kMax - 1),
          absl::InfiniteDuration()}) {
      never.push_back(AfterFunc(d, [] { ADD_FAILURE() << "never"; }));
    }
    const auto ran = MakeChan<int>();
    for (const absl::Duration d :
         {absl::Nanoseconds(kMin), -absl::InfiniteDuration(),
          absl::Nanoseconds(-1), absl::ZeroDuration(), absl::Nanoseconds(1)}) {
      AfterFunc(d, [ran] { ran.Send(1); });
      EXPECT_EQ(ran.Recv(), 1);
    }
    for (const Timer& timer : never) {
      EXPECT_TRUE(timer.Reset(absl::Nanoseconds(kMax)));
      EXPECT_TRUE(timer.Stop());
    }
  });
}

TEST_P(TimerLoadTest, AGoexitInAFunctionEndsThatRunAlone) {
  Run([] {
    const auto ran = MakeChan<int>(1);
    const Timer timer = AfterFunc(absl::ZeroDuration(), [ran] {
      ran.Send(1);
      Goexit();
    });
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(ran.Recv(), 1);
      EXPECT_FALSE(timer.Reset(absl::ZeroDuration()));
    }
    EXPECT_EQ(ran.Recv(), 1);
  });
}

// Thousands that reset a timer of their own whenever it goes off do not keep
// others from what they do.
TEST_P(TimerLoadTest, ManyThatResetTheirTimersStarveNobody) {
  Run([] {
    const int resetters = Scaled(4'000) + 10;
    std::atomic<bool> stop{false};
    WaitGroup all;
    for (int i = 0; i < resetters; ++i) {
      all.Go([&] {
        const Timer timer(absl::Microseconds(100));
        while (!stop) {
          timer.C().Recv();
          timer.Reset(absl::Microseconds(100));
        }
      });
    }
    const auto ping = MakeChan<int>();
    const auto pong = MakeChan<int>();
    all.Go([&] {
      for (const int i : ping) pong.Send(i);
    });
    for (int i = 0; i < 20; ++i) {
      ping.Send(i);
      EXPECT_EQ(pong.Recv(), i);
      Sleep(absl::Microseconds(100));
      Gosched();
    }
    stop = true;
    ping.Close();
    all.Wait();
  });
}

// Some of many are moved to now, some far away, some stopped, by goroutines on
// whatever P: those that were not are all received, once.
TEST_P(TimerLoadTest, ManyThatAreMovedByOthersAreAllAccountedFor) {
  Run([] {
    const int count = Scaled(20'000) + 100;
    std::vector<Timer> timers;
    for (int i = 0; i < count; ++i) {
      timers.emplace_back(i % 2 == 0 ? absl::Milliseconds(1) : kLong);
    }
    WaitGroup all;
    for (int w = 0; w < 8; ++w) {
      all.Go([&, w] {
        for (int i = w; i < count; i += 8) {
          const Timer& timer = timers[static_cast<std::size_t>(i)];
          if (i % 10 < 2) timer.Reset(absl::ZeroDuration());
          if (i % 10 == 2) timer.Reset(kLong);
          if (i % 10 == 3) {
            EXPECT_TRUE(timer.Stop());
          }
          if (i % 256 == w) Gosched();
        }
      });
    }
    all.Wait();
    int left = 0;
    for (int i = 0; i < count; ++i) {
      const Timer& timer = timers[static_cast<std::size_t>(i)];
      const int kind = i % 10;
      const bool goes_off = kind < 2 || (kind > 3 && kind % 2 == 0);
      if (goes_off) {
        EXPECT_TRUE(timer.C().Recv().has_value());
      } else {
        EXPECT_FALSE(timer.C().TryRecv().ready);
        left += timer.Stop() ? 1 : 0;
      }
      EXPECT_FALSE(timer.Stop());
    }
    EXPECT_GT(left, 0);
    EXPECT_EQ(CountTimers(), 0u);
  });
}

// The work between two ticks does not add up: the ticks stay where they are.
TEST_P(TimerLoadTest, TicksDoNotDriftWithTheWorkBetweenThem) {
  Run([] {
    constexpr absl::Duration kPeriod = absl::Milliseconds(20);
    const Ticker ticker(kPeriod);
    absl::Time last = *ticker.C().Recv();
    for (int i = 0; i < 8; ++i) {
      Sleep(absl::Milliseconds(12));
      const absl::Time now = *ticker.C().Recv();
      // A whole number of periods, if not one, then because some were missed.
      absl::Duration rest;
      EXPECT_GE(absl::IDivDuration(now - last + kAdjusted, kPeriod, &rest), 1);
      EXPECT_LE(rest, 2 * kAdjusted);
      last = now;
    }
  });
}

// Signals that come all the time neither cut a wait of a thread short nor keep
// it from its end.
TEST_P(TimerLoadTest, SignalsNeitherShortenNorProlongAWait) {
  struct sigaction action = {};
  action.sa_handler = [](int) {};
  struct sigaction before = {};
  ASSERT_EQ(::sigaction(SIGUSR1, &action, &before), 0);
  for (int i = 0; i < 3; ++i) {
    std::atomic<bool> done{false};
    std::thread waiter([&done, i] {
      constexpr absl::Duration kWait = absl::Milliseconds(5);
      const Elapsed elapsed;
      if (i == 0) Sleep(kWait);
      if (i == 1) After(kWait).Recv();
      if (i == 2) {
        const auto c = MakeChan<int>();
        AfterFunc(kWait, [c] { c.Send(1); });
        c.Recv();
      }
      EXPECT_GE(elapsed(), kWait);
      done = true;
    });
    while (!done) {
      ::pthread_kill(waiter.native_handle(), SIGUSR1);
      std::this_thread::yield();
    }
    waiter.join();
  }
  ::sigaction(SIGUSR1, &before, nullptr);
}

using TimerLoadDeathTest = DeathTest;

TEST_F(TimerLoadDeathTest, WhatAFunctionThrowsEndsTheProcess) {
  EXPECT_EXIT(InChild([] {
                AfterFunc(absl::ZeroDuration(),
                          [] { throw std::runtime_error("later"); });
                RecvChan<int>().Recv();
              }),
              KilledBySignal(SIGABRT), HasSubstr("panic: later"));
}

}  // namespace
}  // namespace gorge
