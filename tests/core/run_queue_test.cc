#include "gorge/core/internal/run_queue.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "gorge/core/internal/goroutine.h"
#include "gorge/core/internal/random.h"
#include "gorge/tests/support/scale.h"
#include "gtest/gtest.h"

namespace gorge::internal {
namespace {

using ::gorge::testing::Scaled;

constexpr std::uint32_t kCapacity = RunQueue::kCapacity;
using Batch = std::array<G*, kCapacity / 2>;

// The queue never looks into its goroutines: any address will do.
class Goroutines {
 public:
  explicit Goroutines(std::size_t n) : bytes_(n), seen_(n) {}

  std::size_t size() const { return bytes_.size(); }
  G* at(std::size_t i) { return reinterpret_cast<G*>(&bytes_[i]); }

  // Notes that `g` came out of a queue, and returns its number.
  std::size_t Take(const G* g) {
    const auto i = static_cast<std::size_t>(reinterpret_cast<const char*>(g) -
                                            bytes_.data());
    seen_[i].fetch_add(1, std::memory_order_relaxed);
    return i;
  }

  bool EachTakenOnce() const {
    for (const auto& count : seen_) {
      if (count.load() != 1) return false;
    }
    return true;
  }

 private:
  std::vector<char> bytes_;
  std::vector<std::atomic<int>> seen_;
};

TEST(RunQueueTest, GivesBackInOrderWhatWasPutIn) {
  Goroutines all(kCapacity);
  RunQueue queue;
  for (std::size_t n = 0; n <= kCapacity; ++n) {
    for (std::size_t i = 0; i < n; ++i) ASSERT_TRUE(queue.Push(all.at(i)));
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(queue.Pop(), all.at(i));

    EXPECT_TRUE(queue.Empty());
    EXPECT_EQ(queue.Pop(), nullptr);
  }
}

TEST(RunQueueTest, RefusesMoreThanItHolds) {
  Goroutines all(kCapacity + 1);
  RunQueue queue;
  for (std::size_t i = 0; i < kCapacity; ++i) {
    ASSERT_TRUE(queue.Push(all.at(i)));
  }

  EXPECT_FALSE(queue.Push(all.at(kCapacity)));

  EXPECT_EQ(queue.Pop(), all.at(0));
  EXPECT_TRUE(queue.Push(all.at(kCapacity)));
}

TEST(RunQueueTest, PopHalfTakesTheOlderHalfOfAFullRing) {
  Goroutines all(kCapacity);
  RunQueue queue;
  for (std::size_t i = 0; i < kCapacity; ++i) {
    ASSERT_TRUE(queue.Push(all.at(i)));
  }

  Batch batch;
  EXPECT_EQ(queue.PopHalf(batch), kCapacity / 2);

  for (std::size_t i = 0; i < kCapacity / 2; ++i) {
    EXPECT_EQ(batch[i], all.at(i));
    EXPECT_EQ(queue.Pop(), all.at(kCapacity / 2 + i));
  }
  EXPECT_TRUE(queue.Empty());
}

TEST(RunQueueTest, PopHalfLeavesARingThatIsNotFull) {
  Goroutines all(kCapacity - 1);
  RunQueue queue;
  for (std::size_t i = 0; i < all.size(); ++i) {
    ASSERT_TRUE(queue.Push(all.at(i)));
  }

  Batch batch;
  EXPECT_EQ(queue.PopHalf(batch), 0u);

  EXPECT_EQ(queue.Pop(), all.at(0));
}

TEST(RunQueueTest, StealTakesTheOlderHalfRoundedUp) {
  for (std::size_t n = 0; n <= kCapacity; ++n) {
    Goroutines all(n);
    RunQueue victim;
    RunQueue thief;
    for (std::size_t i = 0; i < n; ++i) ASSERT_TRUE(victim.Push(all.at(i)));
    const std::size_t stolen = n - n / 2;

    const G* newest = victim.StealInto(thief);

    if (n == 0) {
      EXPECT_EQ(newest, nullptr);
      continue;
    }
    EXPECT_EQ(newest, all.at(stolen - 1)) << "of " << n;
    all.Take(newest);
    for (std::size_t i = 0; i + 1 < stolen; ++i) {
      const G* g = thief.Pop();
      ASSERT_EQ(g, all.at(i)) << "of " << n;
      all.Take(g);
    }
    EXPECT_TRUE(thief.Empty());
    for (std::size_t i = stolen; i < n; ++i) all.Take(victim.Pop());
    EXPECT_TRUE(all.EachTakenOnce());
    EXPECT_TRUE(victim.Empty());
  }
}

// A thief's loop: what it steals it pops from a ring of its own.
void StealUntil(const std::atomic<bool>& done, RunQueue& victim,
                Goroutines& all) {
  RunQueue own;
  while (true) {
    const bool last_look = done.load();
    if (const G* g = victim.StealInto(own)) {
      all.Take(g);
      while (const G* more = own.Pop()) all.Take(more);
    } else if (last_look) {
      return;
    } else {
      std::this_thread::yield();
    }
  }
}

class StealingTest : public ::testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(Thieves, StealingTest, ::testing::Values(1, 2, 7),
                         ::testing::PrintToStringParamName());

TEST_P(StealingTest, EachGoroutineComesOutOnceWhateverTheOwnerDoes) {
  Goroutines all(static_cast<std::size_t>(Scaled(1'000'000)));
  RunQueue queue;
  std::atomic<bool> done{false};
  std::vector<std::thread> thieves;
  for (int i = 0; i < GetParam(); ++i) {
    thieves.emplace_back([&] { StealUntil(done, queue, all); });
  }

  Random random(1);
  for (std::size_t i = 0; i < all.size(); ++i) {
    while (!queue.Push(all.at(i))) {
      Batch batch;
      const std::uint32_t count = queue.PopHalf(batch);
      for (std::uint32_t k = 0; k < count; ++k) all.Take(batch[k]);
    }
    if (random.Below(3) == 0) {
      if (const G* g = queue.Pop()) all.Take(g);
    }
  }
  done = true;
  for (std::thread& thief : thieves) thief.join();

  EXPECT_TRUE(all.EachTakenOnce());
  EXPECT_TRUE(queue.Empty());
}

TEST_P(StealingTest, ThievesMayRobEachOther) {
  Goroutines all(static_cast<std::size_t>(Scaled(500'000)));
  const auto n = static_cast<std::size_t>(GetParam()) + 1;
  const auto queues = std::make_unique<RunQueue[]>(n);
  std::atomic<std::size_t> taken{0};
  std::vector<std::thread> thieves;
  for (std::size_t self = 1; self < n; ++self) {
    thieves.emplace_back([&, self] {
      Random random(self);
      while (taken.load() < all.size()) {
        if (const G* g = queues[self].Pop()) {
          all.Take(g);
          ++taken;
          continue;
        }
        RunQueue& victim = queues[random.Below(static_cast<std::uint32_t>(n))];
        if (&victim == &queues[self]) continue;
        if (const G* g = victim.StealInto(queues[self])) {
          all.Take(g);
          ++taken;
        } else {
          std::this_thread::yield();
        }
      }
    });
  }

  for (std::size_t i = 0; i < all.size(); ++i) {
    while (!queues[0].Push(all.at(i))) std::this_thread::yield();
  }
  for (std::thread& thief : thieves) thief.join();

  EXPECT_TRUE(all.EachTakenOnce());
}

TEST(RunQueueTest, IsNeverCalledEmptyWhileItHoldsSomething) {
  Goroutines all(2);
  RunQueue queue;
  ASSERT_TRUE(queue.Push(all.at(0)));
  std::atomic<bool> done{false};
  std::atomic<int> empty{0};
  std::thread observer([&] {
    while (!done.load()) empty += queue.Empty() ? 1 : 0;
  });

  for (int i = 0; i < Scaled(2'000'000); ++i) {
    ASSERT_TRUE(queue.Push(all.at(1)));
    ASSERT_NE(queue.Pop(), nullptr);
  }
  done = true;
  observer.join();

  EXPECT_EQ(empty, 0);
}

}  // namespace
}  // namespace gorge::internal
