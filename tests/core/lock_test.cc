#include "gorge/core/internal/lock.h"

#include <sched.h>
#include <signal.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "gorge/core/internal/lock_rank.h"
#include "gorge/tests/support/death_test.h"
#include "gorge/tests/support/scale.h"
#include "gtest/gtest.h"

namespace gorge::internal {
namespace {

using ::gorge::testing::DeathTest;
using ::gorge::testing::Scaled;

void OnThreads(int n, const std::function<void(int)>& f) {
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i) threads.emplace_back(f, i);
  for (std::thread& thread : threads) thread.join();
}

class LockTest : public ::testing::TestWithParam<int> {};

// Up to many more threads than there are cores.
INSTANTIATE_TEST_SUITE_P(Threads, LockTest, ::testing::Values(1, 2, 4, 32),
                         ::testing::PrintToStringParamName());

TEST_P(LockTest, HoldersExcludeEachOther) {
  Lock lock{LockRank::kSched};
  const int rounds = Scaled(1'000'000) / GetParam();
  std::int64_t count = 0;

  OnThreads(GetParam(), [&](int) {
    for (int i = 0; i < rounds; ++i) {
      LockGuard hold(lock);
      ++count;
    }
  });

  EXPECT_EQ(count, std::int64_t{rounds} * GetParam());
}

// A holder that is not running sends every other thread to sleep in the
// kernel; one lost wake-up and the test never ends.
TEST_P(LockTest, EverySleeperIsWoken) {
  Lock lock{LockRank::kSched};
  const int rounds = Scaled(20'000) / GetParam() + 1;
  std::int64_t count = 0;

  OnThreads(GetParam(), [&](int) {
    for (int i = 0; i < rounds; ++i) {
      LockGuard hold(lock);
      ++count;
      ::sched_yield();
    }
  });

  EXPECT_EQ(count, std::int64_t{rounds} * GetParam());
}

// More locks than the table of waiters has entries.
TEST_P(LockTest, LocksThatShareAnEntryDoNotDisturbEachOther) {
  constexpr std::size_t kLocks = 256;
  struct Guarded {
    Lock lock{LockRank::kSched};
    std::int64_t count = 0;
  };
  const auto all = std::make_unique<Guarded[]>(kLocks);
  const int rounds = Scaled(200'000) / GetParam() + 1;

  OnThreads(GetParam(), [&](int self) {
    for (int i = 0; i < rounds; ++i) {
      Guarded& one = all[static_cast<std::size_t>(i + 37 * self) % kLocks];
      LockGuard hold(one.lock);
      ++one.count;
      if (i % 64 == 0) ::sched_yield();
    }
  });

  std::int64_t count = 0;
  for (std::size_t i = 0; i < kLocks; ++i) count += all[i].count;
  EXPECT_EQ(count, std::int64_t{rounds} * GetParam());
}

// Invariant (3): the last to hold it may free the memory at once.
TEST_P(LockTest, MayBeDestroyedByTheNextHolder) {
  struct Shared {
    Lock lock{LockRank::kChan};
    int handles;
  };
  for (int round = 0; round < Scaled(4'000) / GetParam() + 1; ++round) {
    auto* shared = new Shared{.handles = GetParam()};
    OnThreads(GetParam(), [&](int) {
      shared->lock.Acquire();
      const bool last = --shared->handles == 0;
      shared->lock.Release();
      if (last) delete shared;
    });
  }
}

// Those who do not compete pay one store; nobody is left counted as a waiter.
TEST_P(LockTest, NobodyIsCountedAsAWaiterAfterwards) {
  Lock lock{LockRank::kSched};

  OnThreads(GetParam(), [&](int) {
    for (int i = 0; i < 100; ++i) {
      LockGuard hold(lock);
      ::sched_yield();
    }
  });

  for (const LockWaiterCount& entry : lock_waiter_counts) {
    EXPECT_EQ(entry.count.load(), 0u);
  }
}

using LockRankTest = DeathTest;

void TakeBoth(Lock& first, Lock& second) {
  LockGuard hold_first(first);
  LockGuard hold_second(second);
}

TEST_F(LockRankTest, LocksInOrderNest) {
  Lock channels[2] = {Lock{LockRank::kChan}, Lock{LockRank::kChan}};
  Lock high{LockRank::kSched};
  TakeBoth(channels[0], channels[1]);
  TakeBoth(channels[1], high);
}

#if GORGE_CHECKED
TEST_F(LockRankTest, CheckedBuildsRefuseLocksOutOfOrder) {
  EXPECT_EXIT(gorge::testing::InChild([] {
                Lock low{LockRank::kChan};
                Lock high{LockRank::kSched};
                TakeBoth(high, low);
              }),
              ::testing::KilledBySignal(SIGABRT),
              "locks nest in the order of ranks");
}

TEST_F(LockRankTest, CheckedBuildsRefuseChannelsOutOfAddressOrder) {
  EXPECT_EXIT(gorge::testing::InChild([] {
                Lock locks[2] = {Lock{LockRank::kChan}, Lock{LockRank::kChan}};
                TakeBoth(locks[1], locks[0]);
              }),
              ::testing::KilledBySignal(SIGABRT),
              "channels lock in address order");
}

TEST_F(LockRankTest, CheckedBuildsRefuseTheSameLockTwice) {
  EXPECT_EXIT(gorge::testing::InChild([] {
                Lock lock{LockRank::kSched};
                TakeBoth(lock, lock);
              }),
              ::testing::KilledBySignal(SIGABRT),
              "locks nest in the order of ranks");
}
#endif

}  // namespace
}  // namespace gorge::internal
