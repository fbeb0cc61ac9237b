#include "gorge/sync/rw_mutex.h"

#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <type_traits>

#include "gmock/gmock.h"
#include "gorge/chan/chan.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/death_test.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::DeathTest;
using ::gorge::testing::InChild;
using ::gorge::testing::kKinds;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::gorge::testing::Team;
using ::testing::HasSubstr;
using ::testing::KilledBySignal;

constinit RWMutex global_mutex;
static_assert(!std::is_copy_constructible_v<RWMutex>);
static_assert(!std::is_move_constructible_v<RWMutex>);

class RWMutexTest : public RuntimeTest {};
GORGE_INSTANTIATE(RWMutexTest);

TEST_P(RWMutexTest, FitsTheGuardsOfTheStandardLibrary) {
  {
    const std::shared_lock read(global_mutex);
    const std::shared_lock another(global_mutex, std::try_to_lock);
    EXPECT_TRUE(another.owns_lock());
  }
  const std::unique_lock write(global_mutex);
}

TEST_P(RWMutexTest, TryLocksTakeItOnlyIfTheyNeedNotWait) {
  RWMutex mutex;
  EXPECT_TRUE(mutex.try_lock());
  EXPECT_FALSE(mutex.try_lock());
  EXPECT_FALSE(mutex.try_lock_shared());
  mutex.unlock();
  EXPECT_TRUE(mutex.try_lock_shared());
  EXPECT_TRUE(mutex.try_lock_shared());
  EXPECT_FALSE(mutex.try_lock());
  mutex.unlock_shared();
  mutex.unlock_shared();
  EXPECT_TRUE(mutex.try_lock());
  mutex.unlock();
}

TEST_P(RWMutexTest, ReadersAreInsideTogether) {
  Run([] {
    constexpr int kReaders = 20;
    RWMutex mutex;
    std::atomic<int> inside{0};
    const auto leave = MakeChan<int>();
    WaitGroup all;
    for (int i = 0; i < kReaders; ++i) {
      all.Go([&] {
        const std::shared_lock hold(mutex);
        ++inside;
        leave.Recv();
      });
    }
    Await([&] { return inside == kReaders; });
    leave.Close();
    all.Wait();
  });
}

// Writers exclude everybody, readers exclude writers, in all mixes.
TEST_P(RWMutexTest, WritersExcludeAll) {
  for (const int readers : {1, 3, 10}) {
    RWMutex mutex;
    std::atomic<int> activity{0};  // A reader counts 1, a writer 10,000.
    const int n = Scaled(2'000) + 10;
    Team team;
    for (int w = 0; w < 2; ++w) {
      team.Go(kKinds[w % 2], [&] {
        for (int i = 0; i < n; ++i) {
          if (i % 4 != 0) {
            mutex.lock();
          } else {
            while (!mutex.try_lock()) Gosched();
          }
          EXPECT_EQ(activity.fetch_add(10'000), 0);
          if (i % 8 == 0) Gosched();
          EXPECT_EQ(activity.fetch_sub(10'000), 10'000);
          mutex.unlock();
        }
      });
    }
    for (int r = 0; r < readers; ++r) {
      team.Go(kKinds[r % 2], [&] {
        for (int i = 0; i < n; ++i) {
          if (i % 4 != 0) {
            mutex.lock_shared();
          } else {
            while (!mutex.try_lock_shared()) Gosched();
          }
          EXPECT_LT(activity.fetch_add(1), 10'000);
          if (i % 8 == 0) Gosched();
          EXPECT_LT(activity.fetch_sub(1), 10'000);
          mutex.unlock_shared();
        }
      });
    }
  }
}

// A reader is inside, a writer waits, two readers come: the writer goes before
// them, and both of them before the next writer.
TEST_P(RWMutexTest, AWaitingWriterGoesBeforeNewReadersAndThoseBeforeTheNext) {
  Run([] {
    RWMutex mutex;
    std::atomic<int> readers{0};
    std::atomic<int> writers{0};
    const auto leave = MakeChan<int>();
    WaitGroup all;
    mutex.lock_shared();
    all.Go([&] {
      const std::unique_lock hold(mutex);
      EXPECT_EQ(writers++, 0);
      EXPECT_EQ(readers, 0);
      leave.Recv();
    });
    Await([&] {
      if (!mutex.try_lock_shared()) return true;
      mutex.unlock_shared();
      return false;
    });
    for (int i = 0; i < 2; ++i) {
      all.Go([&] {
        const std::shared_lock hold(mutex);
        EXPECT_EQ(writers, 1);
        ++readers;
        leave.Recv();
      });
    }
    AwaitParked(3);

    mutex.unlock_shared();
    Await([&] { return writers == 1; });
    all.Go([&] {
      const std::unique_lock hold(mutex);
      EXPECT_EQ(writers++, 1);
      EXPECT_EQ(readers, 2);
    });
    AwaitParked(4);
    leave.Send(0);
    Await([&] { return readers == 2; });
    EXPECT_EQ(writers, 1);
    leave.Close();
    all.Wait();
    EXPECT_EQ(writers, 2);
  });
}

TEST_P(RWMutexTest, OrdersMemory) {
  RWMutex mutex;
  long plain = 0;
  const int n = Scaled(5'000);
  {
    Team team;
    for (int t = 0; t < 4; ++t) {
      team.Go(kKinds[t % 2], [&, t] {
        for (int i = 0; i < n; ++i) {
          if (t < 2) {
            const std::unique_lock hold(mutex);
            ++plain;
          } else {
            const std::shared_lock hold(mutex);
            EXPECT_GE(plain, 0);
          }
        }
      });
    }
  }
  EXPECT_EQ(plain, 2L * n);
}

using RWMutexDeathTest = DeathTest;

TEST_F(RWMutexDeathTest, UnlocksOfUnlockedAreFatal) {
  EXPECT_EXIT(InChild([] {
                RWMutex mutex;
                mutex.unlock();
              }),
              KilledBySignal(SIGABRT),
              HasSubstr("fatal error: sync: Unlock of unlocked RWMutex"));
  EXPECT_EXIT(InChild([] {
                RWMutex mutex;
                mutex.unlock_shared();
              }),
              KilledBySignal(SIGABRT),
              HasSubstr("fatal error: sync: RUnlock of unlocked RWMutex"));
  EXPECT_EXIT(InChild([] {
                RWMutex mutex;
                mutex.lock();
                mutex.unlock_shared();
              }),
              KilledBySignal(SIGABRT), HasSubstr("sync: RUnlock of unlocked"));
  EXPECT_EXIT(InChild([] {
                RWMutex mutex;
                mutex.lock_shared();
                mutex.unlock();
              }),
              KilledBySignal(SIGABRT), HasSubstr("sync: Unlock of unlocked"));
}

}  // namespace
}  // namespace gorge
