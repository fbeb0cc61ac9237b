#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <list>

#include "gorge/core/internal/goroutine.h"
#include "gorge/core/internal/random.h"
#include "gorge/core/internal/sudog.h"
#include "gorge/tests/support/scale.h"
#include "gtest/gtest.h"

namespace gorge::internal {
namespace {

using ::gorge::testing::Scaled;

TEST(WaitQueueTest, IsFirstInFirstOut) {
  std::array<G, 3> g;
  std::array<Sudog, 3> waiters;
  WaitQueue queue;
  EXPECT_TRUE(queue.Empty());

  for (std::size_t i = 0; i < 3; ++i) {
    waiters[i].g = &g[i];
    queue.Push(waiters[i]);
  }

  EXPECT_EQ(queue.Count(), 3);
  for (Sudog& waiter : waiters) EXPECT_EQ(queue.Pop(), &waiter);
  EXPECT_EQ(queue.Pop(), nullptr);
  EXPECT_TRUE(queue.Empty());
}

// First, in the middle, last, alone.
TEST(WaitQueueTest, AWaiterMayLeaveFromAnyPlace) {
  for (std::size_t size = 1; size <= 4; ++size) {
    for (std::size_t leaver = 0; leaver < size; ++leaver) {
      std::array<G, 5> g;
      std::array<Sudog, 5> waiters;
      WaitQueue queue;
      for (std::size_t i = 0; i < 5; ++i) waiters[i].g = &g[i];
      for (std::size_t i = 0; i < size; ++i) queue.Push(waiters[i]);

      queue.Remove(waiters[leaver]);
      queue.Remove(waiters[leaver]);  // Not there any more: nothing happens.
      queue.Push(waiters[4]);

      for (std::size_t i = 0; i < size; ++i) {
        if (i == leaver) continue;
        EXPECT_EQ(queue.Pop(), &waiters[i]);
      }
      EXPECT_EQ(queue.Pop(), &waiters[4]);
      EXPECT_TRUE(queue.Empty());
    }
  }
}

TEST(WaitQueueTest, PopClaimsASelect) {
  G g;
  Sudog waiter;
  waiter.g = &g;
  waiter.is_select = true;
  WaitQueue queue;
  queue.Push(waiter);

  EXPECT_EQ(queue.Pop(), &waiter);

  EXPECT_FALSE(g.ClaimSelect());
}

TEST(WaitQueueTest, PopDropsSelectsThatOthersHaveClaimed) {
  std::array<G, 3> g;
  std::array<Sudog, 3> waiters;
  WaitQueue queue;
  for (std::size_t i = 0; i < 3; ++i) {
    waiters[i].g = &g[i];
    waiters[i].is_select = i != 2;
    queue.Push(waiters[i]);
  }
  ASSERT_TRUE(g[0].ClaimSelect());
  ASSERT_TRUE(g[1].ClaimSelect());

  EXPECT_EQ(queue.Pop(), &waiters[2]);

  EXPECT_TRUE(queue.Empty());
  EXPECT_FALSE(waiters[0].queued);
  EXPECT_FALSE(waiters[1].queued);
}

TEST(WaitQueueTest, ASelectMayWaitInOneQueueSeveralTimes) {
  G g;
  std::array<Sudog, 3> waiters;
  WaitQueue queue;
  for (Sudog& waiter : waiters) {
    waiter.g = &g;
    waiter.is_select = true;
    queue.Push(waiter);
  }

  EXPECT_EQ(queue.Pop(), &waiters[0]);
  EXPECT_EQ(queue.Pop(), nullptr);
}

// Goroutines, each with a place in both of two queues, as a select has; every
// other one waits plainly, in one of them.
class Model {
 public:
  static constexpr std::size_t kGoroutines = 24;

  Model() {
    for (std::size_t i = 0; i < kGoroutines; ++i) {
      for (std::size_t q = 0; q < 2; ++q) {
        At(q, i).g = &g_[i];
        At(q, i).is_select = IsSelect(i);
      }
    }
  }

  void Step(Random& random) {
    const std::size_t i = random.Below(kGoroutines);
    const std::size_t q = random.Below(2);
    switch (random.Below(4)) {
      case 0:
        Enqueue(i, q);
        break;
      case 1:
        Pop(q);
        break;
      case 2:
        Leave(i);
        break;
      default:
        Claim(i);
    }
    for (std::size_t k = 0; k < 2; ++k) {
      ASSERT_EQ(queues_[k].Count(), static_cast<int>(lists_[k].size()));
      ASSERT_EQ(queues_[k].Empty(), lists_[k].empty());
    }
  }

 private:
  static bool IsSelect(std::size_t i) { return i % 2 == 0; }
  Sudog& At(std::size_t q, std::size_t i) { return waiters_[q][i]; }
  bool Waits(std::size_t i) { return At(0, i).queued || At(1, i).queued; }

  void Enqueue(std::size_t i, std::size_t q) {
    if (Waits(i)) return;
    g_[i].select_done.store(0);
    claimed_[i] = false;
    for (std::size_t k = 0; k < 2; ++k) {
      if (!IsSelect(i) && k != q) continue;
      queues_[k].Push(At(k, i));
      lists_[k].push_back(i);
    }
  }

  void Pop(std::size_t q) {
    Sudog* expected = nullptr;
    while (expected == nullptr && !lists_[q].empty()) {
      const std::size_t i = lists_[q].front();
      lists_[q].pop_front();
      if (IsSelect(i) && claimed_[i]) continue;
      claimed_[i] = true;
      expected = &At(q, i);
    }
    ASSERT_EQ(queues_[q].Pop(), expected);
  }

  // As the third pass of a select.
  void Leave(std::size_t i) {
    for (std::size_t k = 0; k < 2; ++k) {
      queues_[k].Remove(At(k, i));
      lists_[k].remove(i);
      ASSERT_FALSE(At(k, i).queued);
    }
  }

  // As a channel that is in neither queue.
  void Claim(std::size_t i) {
    if (!IsSelect(i) || !Waits(i)) return;
    ASSERT_EQ(g_[i].ClaimSelect(), !claimed_[i]);
    claimed_[i] = true;
  }

  std::array<G, kGoroutines> g_;
  std::array<bool, kGoroutines> claimed_{};
  std::array<std::array<Sudog, kGoroutines>, 2> waiters_;
  std::array<WaitQueue, 2> queues_;
  std::array<std::list<std::size_t>, 2> lists_;
};

TEST(WaitQueueTest, BehavesLikeAListWhateverTheOrderOfCalls) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    Model model;
    Random random(seed);
    for (int i = 0; i < Scaled(200'000); ++i) {
      model.Step(random);
      ASSERT_FALSE(::testing::Test::HasFatalFailure()) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace gorge::internal
