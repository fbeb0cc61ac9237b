#include "gorge/sync/pool.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "gorge/core/go.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/internal/pool_core.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/counted.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::internal::PoolCore;
using ::gorge::testing::Counted;
using ::gorge::testing::kKinds;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::gorge::testing::Team;

constinit Pool<std::string> global_pool;
static_assert(!std::is_copy_constructible_v<Pool<int>>);
static_assert(!std::is_copy_constructible_v<Pooled<int>>);
static_assert(std::is_nothrow_move_constructible_v<Pooled<int>>);
// Without a way to make one, a factory must be given.
struct NoDefault {
  explicit NoDefault(int v) : value(v) {}
  int value;
};
static_assert(!std::is_default_constructible_v<Pool<NoDefault>>);

class PoolTest : public RuntimeTest {};
GORGE_INSTANTIATE(PoolTest);

TEST_P(PoolTest, MakesItemsWhenItHasNone) {
  EXPECT_EQ(*global_pool.Get(), "");
  Pool<int> zeros;
  EXPECT_EQ(*zeros.Get(), 0);
  Pool<NoDefault> values([] { return NoDefault(7); });
  EXPECT_EQ(values.Get()->value, 7);
  Pool<int> pointers([] { return std::make_unique<int>(8); });
  EXPECT_EQ(*pointers.Get(), 8);
}

TEST_P(PoolTest, WhatIsGivenBackComesOutAgain) {
  Pool<int> pool;
  const int* address = nullptr;
  {
    const Pooled<int> item = pool.Get();
    *item = 5;
    address = item.get();
  }
  const Pooled<int> again = pool.Get();
  EXPECT_EQ(again.get(), address);
  EXPECT_EQ(*again, 5);
}

TEST_P(PoolTest, AllThatWasPutComesOut) {
  constexpr int kItems = 1'000;
  Pool<int> pool([] { return -1; });
  for (int i = 0; i < kItems; ++i) pool.Put(i);
  std::vector<Pooled<int>> items;
  std::vector<int> seen(kItems, 0);
  for (int i = 0; i < kItems; ++i) {
    items.push_back(pool.Get());
    ASSERT_GE(*items.back(), 0);
    ++seen[*items.back()];
  }
  EXPECT_EQ(seen, std::vector<int>(kItems, 1));
  EXPECT_EQ(*pool.Get(), -1);
}

TEST_P(PoolTest, AHandleGivesItsItemBackOnce) {
  Pool<Counted> pool;
  Pooled<Counted> first = pool.Get();
  Pooled<Counted> second(std::move(first));
  EXPECT_FALSE(first);
  EXPECT_TRUE(second);
  Pooled<Counted> third;
  third = std::move(second);
  third = pool.Get();  // Gives the other back.
  EXPECT_EQ(Counted::live, 2);
  third.reset();
  third.reset();
  pool.Put(pool.Get());
  const Pooled<Counted> a = pool.Get();
  const Pooled<Counted> b = pool.Get();
  EXPECT_NE(a.get(), b.get());
  EXPECT_EQ(Counted::live, 2);
}

TEST_P(PoolTest, WhatIsReleasedDoesNotComeBack) {
  Pool<int> pool;
  Pooled<int> item = pool.Get();
  const std::unique_ptr<int> kept = item.release();
  EXPECT_FALSE(item);
  item.reset();
  EXPECT_NE(pool.Get().get(), kept.get());
  pool.Put(std::unique_ptr<int>());  // Ignored.
  EXPECT_NE(pool.Get().get(), nullptr);
}

// It survives one Age, wherever it lies, and a second only if it was used.
TEST_P(PoolTest, WhatNobodyWantsIsDestroyedByTheSecondAge) {
  Pool<Counted> pool;
  for (int i = 0; i < 100; ++i) pool.Put(Counted(i));
  EXPECT_EQ(Counted::live, 100);
  pool.Age();
  EXPECT_EQ(Counted::live, 100);
  { const Pooled<Counted> used = pool.Get(); }
  EXPECT_EQ(Counted::live, 100);
  pool.Age();
  EXPECT_EQ(Counted::live, 1);
  pool.Age();
  EXPECT_EQ(Counted::live, 0);
}

TEST_P(PoolTest, ItsEndDestroysWhatIsInIt) {
  for (int ages = 0; ages < 2; ++ages) {
    auto pool = std::make_unique<Pool<Counted>>();
    for (int i = 0; i < 100; ++i) pool->Put(Counted(i));
    if (ages == 1) pool->Age();
    EXPECT_EQ(Counted::live, 100);
    pool.reset();
    EXPECT_EQ(Counted::live, 0);
  }
}

// Time passes by AgeIfDue, which Put calls with the clock; not here, since it
// does so at the first Put of a thread and then once in a while.
TEST_P(PoolTest, APeriodMakesItOlder) {
  constexpr std::int64_t kStart = std::int64_t{1} << 61;
  PoolCore core([](void* item) { delete static_cast<Counted*>(item); });
  core.Put(new Counted(1));
  core.AgeIfDue(kStart);
  core.Put(new Counted(2));
  core.AgeIfDue(kStart + PoolCore::kPeriod - 1);
  EXPECT_EQ(Counted::live, 2);
  core.AgeIfDue(kStart + PoolCore::kPeriod);
  EXPECT_EQ(Counted::live, 1);
  core.AgeIfDue(kStart + PoolCore::kPeriod + 1);
  EXPECT_EQ(Counted::live, 1);
  core.AgeIfDue(kStart + 2 * PoolCore::kPeriod);
  EXPECT_EQ(Counted::live, 0);
}

TEST_P(PoolTest, PutsLookAtTheClockOnceInAWhile) {
  PoolCore core([](void* item) { delete static_cast<Counted*>(item); });
  core.Put(new Counted(1));
  core.SetNextAge(1);  // Long ago.
  core.Put(new Counted(2));
  for (std::uint32_t i = 0; i < internal::PoolPlace::kPutsPerCheck; ++i) {
    core.Put(core.Get());
  }
  core.SetNextAge(1);
  for (std::uint32_t i = 0; i < internal::PoolPlace::kPutsPerCheck; ++i) {
    core.Put(core.Get());
  }
  EXPECT_EQ(Counted::live, 1);
}

TEST_P(PoolTest, AFactoryThatThrowsThrowsOutOfGet) {
  int calls = 0;
  Pool<int> pool([&]() -> int {
    if (++calls == 1) throw std::runtime_error("none");
    return calls;
  });
  EXPECT_THROW((void)pool.Get(), std::runtime_error);
  EXPECT_EQ(*pool.Get(), 2);
}

// An item whose destructor uses its pool.
struct Relapsing {
  static inline Pool<Relapsing>* pool = nullptr;
  ~Relapsing() {
    if (pool == nullptr) return;
    Pool<Relapsing>& p = *std::exchange(pool, nullptr);
    const Pooled<Relapsing> other = p.Get();
    p.Age();
  }
};

TEST_P(PoolTest, DestructorsMayUseThePool) {
  Pool<Relapsing> pool;
  for (int i = 0; i < 5; ++i) pool.Put(std::make_unique<Relapsing>());
  Relapsing::pool = &pool;
  pool.Age();
  pool.Age();
  EXPECT_EQ(Relapsing::pool, nullptr);
}

// Others find what a thread has put, but for a few: those it keeps for itself.
TEST_P(PoolTest, WhatOneThreadPutsOthersFind) {
  Pool<int> pool([] { return -1; });
  std::thread([&] {
    for (int i = 0; i < 20; ++i) pool.Put(1);
    // Another, which lives at the same time: it has another number.
    std::thread([&] {
      std::vector<Pooled<int>> items;
      for (int i = 0; i < 20 - internal::PoolPlace::kSlots; ++i) {
        items.push_back(pool.Get());
        EXPECT_EQ(*items.back(), 1);
      }
    }).join();
  }).join();
}

// Age takes what lies in the slot of a thread that does nothing more.
TEST_P(PoolTest, AgeReachesTheSlotsOfAllThreads) {
  Pool<Counted> pool;
  constexpr int kThreads = 40;
  std::atomic<int> arrived{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      pool.Put(Counted(1));
      ++arrived;
      while (arrived <= kThreads) std::this_thread::yield();
    });
  }
  while (arrived < kThreads) std::this_thread::yield();
  EXPECT_EQ(Counted::live, kThreads);
  pool.Age();
  pool.Age();
  EXPECT_EQ(Counted::live, 0);
  ++arrived;
  for (std::thread& thread : threads) thread.join();
}

// Threads that end leave what they had to those that come.
TEST_P(PoolTest, AnEndedThreadLosesNothing) {
  Pool<Counted> pool;
  for (int i = 0; i < 100; ++i) {
    std::thread([&] { const Pooled<Counted> item = pool.Get(); }).join();
  }
  EXPECT_EQ(Counted::live, 1);
}

TEST_P(PoolTest, SurvivesRuntimesOfOtherSizes) {
  Pool<Counted> pool;
  for (const int procs : {3, 1, 8, 2}) {
    Shutdown();
    Configure({.max_procs = procs});
    const int before = Counted::live;
    Run([&] {
      WaitGroup all;
      for (int i = 0; i < 50; ++i) {
        all.Go([&] {
          const Pooled<Counted> item = pool.Get();
          Gosched();
        });
      }
      all.Wait();
    });
    EXPECT_GE(Counted::live, before);
    EXPECT_LE(Counted::live, before + 50);
  }
  Shutdown();
}

// No item is ever with two at once, whatever they and Age do, and what one has
// written the next one sees.
TEST_P(PoolTest, AnItemBelongsToOneAtATime) {
  struct Item {
    int users = 0;  // Not atomic: TSan sees those who are there at once.
    std::uint64_t uses = 0;
    Counted counted{0};
  };
  Pool<Item> pool;
  std::atomic<bool> done{false};
  std::atomic<int> left{6};
  Team team;
  for (int t = 0; t < 6; ++t) {
    team.Go(kKinds[t % 2], [&, t] {
      std::vector<Pooled<Item>> held;
      for (int i = 0; i < Scaled(20'000) + 50; ++i) {
        const std::size_t count = 1 + (i + t) % 4;
        while (held.size() < count) {
          held.push_back(pool.Get());
          EXPECT_EQ(++held.back()->users, 1);
        }
        if (i % 64 == 0) Gosched();
        for (Pooled<Item>& item : held) {
          EXPECT_EQ(--item->users, 0);
          ++item->uses;
        }
        held.clear();
      }
      if (--left == 0) done = true;
    });
  }
  team.Go(kKinds[1], [&] {
    while (!done) {
      pool.Age();
      std::this_thread::yield();
    }
  });
}

// A thread-local destructor that runs late finds a pool that still works.
TEST_P(PoolTest, WorksAtTheEndOfAThread) {
  static Pool<Counted>* late_pool = nullptr;
  struct Late {
    ~Late() {
      for (int i = 0; i < 3; ++i) late_pool->Put(Counted(i));
      EXPECT_TRUE(late_pool->Get());
    }
  };
  Pool<Counted> pool;
  late_pool = &pool;
  std::thread([] {
    static thread_local Late late;
    (void)&late;
    const Pooled<Counted> item = late_pool->Get();
  }).join();
  EXPECT_EQ(Counted::live, 4);
}

}  // namespace
}  // namespace gorge
