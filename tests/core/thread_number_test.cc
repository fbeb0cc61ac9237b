#include "gorge/core/internal/thread_number.h"

#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace gorge::internal {
namespace {

TEST(ThreadNumberTest, ThreadsThatLiveTogetherHaveDifferentNumbers) {
  constexpr int kThreads = 20;
  std::vector<int> numbers(kThreads);
  std::atomic<int> asked{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      numbers[t] = ThreadNumber();
      ++asked;
      while (asked < kThreads) std::this_thread::yield();
      EXPECT_EQ(ThreadNumber(), numbers[t]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::set<int>(numbers.begin(), numbers.end()).size(), kThreads);
  for (const int number : numbers) {
    EXPECT_GE(number, 0);
    EXPECT_LT(number, ThreadNumbersGiven());
  }
}

TEST(ThreadNumberTest, ANumberIsUsedAgainWithAllThatWasWritten) {
  (void)ThreadNumber();
  int plain = 0;  // Ordered by the number's way from thread to thread alone.
  int first = -1;
  for (int i = 0; i < 100; ++i) {
    std::thread([&] {
      const int number = ThreadNumber();
      if (i == 0) first = number;
      EXPECT_EQ(number, first);
      EXPECT_EQ(plain++, i);
    }).join();
  }
}

int late = -2;
struct AsksLate {
  ~AsksLate() { late = ThreadNumber(); }
};

TEST(ThreadNumberTest, AThreadThatEndsHasNone) {
  std::thread([] {
    // Made before the number is asked for, so destroyed after it is given back.
    static thread_local AsksLate asks;
    (void)&asks;
    EXPECT_GE(ThreadNumber(), 0);
  }).join();
  EXPECT_EQ(late, -1);
}

}  // namespace
}  // namespace gorge::internal
