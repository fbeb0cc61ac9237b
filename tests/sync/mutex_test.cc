#include "gorge/sync/mutex.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/death_test.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/team.h"
#include "gorge/time/time.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::DeathTest;
using ::gorge::testing::InChild;
using ::gorge::testing::Kind;
using ::gorge::testing::kKinds;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::gorge::testing::Team;
using ::testing::HasSubstr;
using ::testing::KilledBySignal;

constinit Mutex global_mutex;
static_assert(!std::is_copy_constructible_v<Mutex>);
static_assert(!std::is_move_constructible_v<Mutex>);
static_assert(sizeof(Mutex) == 8);

class MutexTest : public RuntimeTest {};
GORGE_INSTANTIATE(MutexTest);

TEST_P(MutexTest, FitsTheGuardsOfTheStandardLibrary) {
  Mutex other;
  { const std::lock_guard hold(global_mutex); }
  { const std::scoped_lock hold(global_mutex, other); }
  std::unique_lock hold(global_mutex, std::try_to_lock);
  EXPECT_TRUE(hold.owns_lock());
}

TEST_P(MutexTest, TryLockTakesItOnlyIfItIsFree) {
  Mutex mutex;
  EXPECT_TRUE(mutex.try_lock());
  EXPECT_FALSE(mutex.try_lock());
  mutex.unlock();
  EXPECT_TRUE(mutex.try_lock());
  mutex.unlock();
}

TEST_P(MutexTest, ExcludesGoroutinesAndThreads) {
  Mutex mutex;
  long count = 0;
  const int n = Scaled(20'000);
  {
    Team team;
    for (int i = 0; i < 10; ++i) {
      team.Go(kKinds[i % 2], [&, i] {
        for (int k = 0; k < n; ++k) {
          if (i % 3 == 0) {
            while (!mutex.try_lock()) Gosched();
          } else {
            mutex.lock();
          }
          ++count;
          mutex.unlock();
        }
      });
    }
  }
  EXPECT_EQ(count, 10L * n);
}

TEST_P(MutexTest, MayBeHeldAcrossWhatBlocks) {
  Run([] {
    Mutex mutex;
    const auto c = MakeChan<int>();
    WaitGroup all;
    for (int i = 0; i < 20; ++i) {
      all.Go([&] {
        const std::lock_guard hold(mutex);
        EXPECT_EQ(c.Recv(), 1);
      });
    }
    for (int i = 0; i < 20; ++i) c.Send(1);
    all.Wait();
  });
}

TEST_P(MutexTest, MayBeUnlockedByAnother) {
  Run([] {
    Mutex mutex;
    mutex.lock();
    go([&] { mutex.unlock(); });
    mutex.lock();
    mutex.unlock();
  });
}

TEST_P(MutexTest, OrdersMemory) {
  Run([] {
    Mutex mutex;
    long plain = 0;
    WaitGroup all;
    for (int i = 0; i < 8; ++i) {
      all.Go([&] {
        for (int k = 0; k < Scaled(2'000); ++k) {
          mutex.lock();
          const long seen = plain;
          if (k % 16 == 0) Gosched();
          plain = seen + 1;
          mutex.unlock();
        }
      });
    }
    all.Wait();
    EXPECT_EQ(plain, 8L * Scaled(2'000));
  });
}

// The last of two to unlock destroys it, while the other's unlock may not have
// returned.
TEST_P(MutexTest, MayBeDestroyedByItsLastOwner) {
  struct Shared {
    Mutex mutex;
    int users = 3;
  };
  for (int i = 0; i < Scaled(3'000); ++i) {
    auto* shared = new Shared;
    Team team;
    for (int k = 0; k < 3; ++k) {
      team.Go(kKinds[(i + k) % 2], [shared] {
        shared->mutex.lock();
        const bool last = --shared->users == 0;
        shared->mutex.unlock();
        if (last) delete shared;
      });
    }
  }
}

// A goroutine that always wants it, and holds it nearly all of the time, does
// not keep another out.
TEST_P(MutexTest, AHogDoesNotKeepOthersOut) {
  if (procs() == 1) return;  // The hog never lets go of its P.
  Run([] {
    Mutex mutex;
    std::atomic<bool> stop{false};
    WaitGroup hog;
    hog.Go([&] {
      while (!stop) {
        const std::lock_guard hold(mutex);
        const auto end =
            std::chrono::steady_clock::now() + std::chrono::microseconds(100);
        while (std::chrono::steady_clock::now() < end) {
        }
      }
    });
    for (int i = 0; i < 10; ++i) {
      const std::lock_guard hold(mutex);
    }
    stop = true;
    hog.Wait();
  });
}

TEST_P(MutexTest, ManyWaitersAllGetIt) {
  Run([] {
    Mutex mutex;
    mutex.lock();
    const int waiters = Scaled(5'000) + 10;
    int got = 0;
    WaitGroup all;
    for (int i = 0; i < waiters; ++i) {
      all.Go([&] {
        const std::lock_guard hold(mutex);
        ++got;
      });
    }
    AwaitParked(waiters);
    // They have waited for more than a millisecond: the lock goes from one to
    // the next.
    Sleep(absl::Milliseconds(5));
    mutex.unlock();
    all.Wait();
    EXPECT_EQ(got, waiters);
  });
}

using MutexDeathTest = DeathTest;

TEST_F(MutexDeathTest, UnlockOfUnlockedIsFatal) {
  EXPECT_EXIT(InChild([] {
                Mutex mutex;
                mutex.unlock();
              }),
              KilledBySignal(SIGABRT),
              HasSubstr("fatal error: sync: unlock of unlocked mutex"));
  EXPECT_EXIT(InChild([] {
                gorge::Run([] {
                  Mutex mutex;
                  mutex.lock();
                  mutex.unlock();
                  try {
                    mutex.unlock();
                  } catch (...) {
                  }
                });
              }),
              KilledBySignal(SIGABRT), HasSubstr("unlock of unlocked mutex"));
}

}  // namespace
}  // namespace gorge
