#include "gorge/sync/cond.h"

#include <atomic>
#include <mutex>

#include "gorge/core/go.h"
#include "gorge/core/panic.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/mutex.h"
#include "gorge/sync/wait_group.h"
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

[[maybe_unused]] constinit Cond global_cond;

class CondTest : public RuntimeTest {};
GORGE_INSTANTIATE(CondTest);

TEST_P(CondTest, SignalWakesInTheOrderOfWaiting) {
  Run([] {
    constexpr int kWaiters = 100;
    Mutex mutex;
    Cond cond;
    int woken = 0;
    WaitGroup all;
    for (int i = 0; i < kWaiters; ++i) {
      all.Go([&, i] {
        std::unique_lock hold(mutex);
        cond.Wait(hold);
        EXPECT_EQ(woken++, i);
      });
      AwaitParked(i + 1);
    }
    for (int i = 0; i < kWaiters; ++i) {
      cond.Signal();
      Await([&] {
        const std::lock_guard hold(mutex);
        return woken == i + 1;
      });
    }
    all.Wait();
  });
}

TEST_P(CondTest, BroadcastWakesAllWhoWaitAndNoneThatComesLater) {
  Run([] {
    Mutex mutex;
    Cond cond;
    std::atomic<int> woken{0};
    WaitGroup all;
    const auto wait = [&] {
      std::unique_lock hold(mutex);
      cond.Wait(hold);
      ++woken;
    };
    for (int i = 0; i < 50; ++i) all.Go(wait);
    AwaitParked(50);
    cond.Broadcast();
    Await([&] { return woken == 50; });

    all.Go(wait);
    AwaitParked(1);
    EXPECT_EQ(woken, 50);
    cond.Signal();
    all.Wait();
  });
}

TEST_P(CondTest, SignalsWithoutWaitersAreForgotten) {
  Run([] {
    Mutex mutex;
    Cond cond;
    cond.Signal();
    cond.Broadcast();
    std::atomic<bool> woken{false};
    WaitGroup waiter;
    waiter.Go([&] {
      std::unique_lock hold(mutex);
      cond.Wait(hold);
      woken = true;
    });
    AwaitParked(1);
    EXPECT_FALSE(woken);
    cond.Signal();
    waiter.Wait();
  });
}

// One that waited is not robbed of its wake-up by one that comes after the
// broadcast.
TEST_P(CondTest, ANewcomerTakesNoOldersSignal) {
  Run([] {
    Mutex mutex;
    Cond cond;
    for (int i = 0; i < Scaled(2'000) + 5; ++i) {
      WaitGroup both;
      bool go_on = false;
      both.Go([&] {
        std::unique_lock hold(mutex);
        while (!go_on) cond.Wait(hold);
      });
      Await([&] {
        const std::lock_guard hold(mutex);
        go_on = true;
        return true;
      });
      both.Go([&] {
        { const std::lock_guard hold(mutex); }
        cond.Broadcast();
      });
      cond.Broadcast();
      both.Wait();
    }
  });
}

// Producers and consumers of both kinds, with a bounded buffer of one.
TEST_P(CondTest, APredicateIsTrueWhenWaitReturns) {
  Mutex mutex;
  Cond changed;
  int full = 0;
  const int n = Scaled(3'000) + 10;
  {
    Team team;
    for (int i = 0; i < 2; ++i) {
      team.Go(kKinds[i], [&] {
        for (int k = 0; k < n; ++k) {
          std::unique_lock hold(mutex);
          changed.Wait(hold, [&] { return full == 0; });
          ++full;
          changed.Broadcast();
        }
      });
      team.Go(kKinds[i], [&] {
        for (int k = 0; k < n; ++k) {
          std::unique_lock hold(mutex);
          changed.Wait(hold, [&] { return full == 1; });
          --full;
          changed.Broadcast();
        }
      });
    }
  }
  EXPECT_EQ(full, 0);
}

TEST_P(CondTest, WorksWithAnyLock) {
  std::mutex mutex;
  Cond cond;
  bool ready = false;
  Team team;
  team.Go(Kind::kThread, [&] {
    std::unique_lock hold(mutex);
    cond.Wait(hold, [&] { return ready; });
  });
  {
    const std::lock_guard hold(mutex);
    ready = true;
  }
  cond.Signal();
}

TEST_P(CondTest, WaitWithoutTheLockIsAPanic) {
  Mutex mutex;
  Cond cond;
  std::unique_lock hold(mutex, std::defer_lock);
  EXPECT_THROW(cond.Wait(hold), Panic);
}

}  // namespace
}  // namespace gorge
