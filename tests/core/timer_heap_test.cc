#include "gorge/core/internal/timer_heap.h"

#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <vector>

#include "gorge/core/internal/clock.h"
#include "gorge/core/internal/random.h"
#include "gorge/core/internal/timers.h"
#include "gtest/gtest.h"

namespace gorge::internal {
namespace {

constexpr TimerActions kNothing = {
    .claim = [](TimerNode&) { return true; },
    .fire = [](TimerNode&, std::int64_t) {},
    .abandon = [](TimerNode&) {},
};

struct Timer : TimerNode {
  Timer() : TimerNode(kNothing) {}
  std::int64_t when = 0;
};

void Push(TimerHeap& heap, Timer& timer, std::int64_t when) {
  timer.when = when;
  heap.MakeRoom();
  heap.Push(timer, when);
}

Timer* Pop(TimerHeap& heap, std::int64_t now) {
  return static_cast<Timer*>(heap.PopDue(now));
}

TEST(TimerHeapTest, PopsWhatIsDueInTheOrderOfInstants) {
  constexpr int kTimers = 1000;
  TimerHeap heap;
  std::vector<Timer> timers(kTimers);
  Random random(1);
  for (Timer& timer : timers) Push(heap, timer, random.Below(500));

  std::int64_t last = 0;
  int popped = 0;
  for (std::int64_t now = 0; now < 500; now += 7) {
    while (const Timer* timer = Pop(heap, now)) {
      EXPECT_LE(last, timer->when);
      EXPECT_LE(timer->when, now);
      last = timer->when;
      ++popped;
    }
    EXPECT_GT(heap.Earliest(), now);
  }

  EXPECT_EQ(popped, kTimers - static_cast<int>(heap.Size()));
  EXPECT_LT(heap.Size(), 20u);
}

TEST(TimerHeapTest, WhatIsDueNeverIsNotPopped) {
  TimerHeap heap;
  Timer timer;
  Push(heap, timer, kNever);

  EXPECT_EQ(Pop(heap, kNever), nullptr);

  heap.Remove(timer);
  EXPECT_EQ(heap.Size(), 0u);
  EXPECT_EQ(heap.Earliest(), kNever);
}

// Against a std::multimap, with random pushes, changes, removals and pops,
// while the heap grows and shrinks.
TEST(TimerHeapTest, AgreesWithAModel) {
  TimerHeap heap;
  std::multimap<std::int64_t, std::unique_ptr<Timer>> model;
  Random random(2);
  const auto any = [&] {
    return std::next(model.begin(), random.Below(std::min<std::uint32_t>(
                                        50, std::uint32_t(model.size()))));
  };
  for (int i = 0; i < 200'000; ++i) {
    const std::int64_t when = random.Below(1'000'000);
    const bool grows = i / 20'000 % 2 == 0;
    const std::uint32_t choice = random.Below(10);
    if (model.empty() || choice < (grows ? 6u : 2u)) {
      auto timer = std::make_unique<Timer>();
      Push(heap, *timer, when);
      model.emplace(when, std::move(timer));
    } else if (choice < 7) {
      auto node = model.extract(any());
      heap.Change(*node.mapped(), when);
      node.mapped()->when = when;
      node.key() = when;
      model.insert(std::move(node));
    } else if (choice < 9) {
      const auto it = any();
      heap.Remove(*it->second);
      model.erase(it);
    } else {
      const Timer* popped = Pop(heap, 1'000'000);
      ASSERT_EQ(popped->when, model.begin()->first);
      auto [first, last] = model.equal_range(popped->when);
      while (first != last && first->second.get() != popped) ++first;
      ASSERT_NE(first, last);
      model.erase(first);
    }
    ASSERT_EQ(heap.Size(), model.size());
    ASSERT_EQ(heap.Earliest(), model.empty() ? kNever : model.begin()->first);
  }
}

}  // namespace
}  // namespace gorge::internal
