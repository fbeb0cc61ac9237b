#include "gorge/core/internal/runnext.h"

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include "gorge/core/internal/goroutine.h"
#include "gorge/tests/support/scale.h"
#include "gtest/gtest.h"

namespace gorge::internal {
namespace {

using ::gorge::testing::Scaled;

TEST(RunNextTest, HoldsTheLastOneAndGivesBackTheOneBefore) {
  G first;
  G second;
  RunNext next;
  EXPECT_EQ(next.Peek(), nullptr);

  EXPECT_EQ(next.Exchange(&first), nullptr);
  EXPECT_EQ(next.Exchange(&second), &first);
  EXPECT_EQ(next.Peek(), &second);
  EXPECT_EQ(next.Exchange(nullptr), &second);

  EXPECT_EQ(next.Peek(), nullptr);
}

TEST(RunNextTest, AThiefTakesOnlyWhatHeHasSeen) {
  G first;
  G second;
  RunNext next;
  next.Exchange(&second);

  EXPECT_EQ(next.Steal(&first), nullptr);
  EXPECT_EQ(next.Peek(), &second);
  EXPECT_EQ(next.Steal(&second), &second);

  EXPECT_EQ(next.Peek(), nullptr);
  EXPECT_EQ(next.Steal(&second), nullptr);
}

class RobbedTest : public ::testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(Thieves, RobbedTest, ::testing::Values(1, 2, 5),
                         ::testing::PrintToStringParamName());

TEST_P(RobbedTest, EachGoroutineComesOutOnceForTheHolderOrAThief) {
  const auto n = static_cast<std::size_t>(Scaled(1'000'000));
  std::vector<char> bytes(n);  // Never looked into: any address will do.
  std::vector<std::atomic<int>> taken(n);
  const auto take = [&](const G* g) {
    ++taken[static_cast<std::size_t>(reinterpret_cast<const char*>(g) -
                                     bytes.data())];
  };
  RunNext next;
  std::atomic<bool> done{false};
  std::vector<std::thread> thieves;
  for (int i = 0; i < GetParam(); ++i) {
    thieves.emplace_back([&] {
      while (!done.load()) {
        G* seen = next.Peek();
        if (seen == nullptr) continue;
        if (const G* g = next.Steal(seen)) take(g);
        std::this_thread::yield();
      }
    });
  }

  for (std::size_t i = 0; i < n; ++i) {
    const G* old = next.Exchange(reinterpret_cast<G*>(&bytes[i]));
    if (old != nullptr) take(old);
  }
  if (const G* last = next.Exchange(nullptr)) take(last);
  done = true;
  for (std::thread& thief : thieves) thief.join();

  for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(taken[i], 1) << i;
}

}  // namespace
}  // namespace gorge::internal
