#include "gorge/core/internal/random.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace gorge::internal {
namespace {

// How far the counts are from equal, in standard deviations of chi-square.
double Unevenness(const std::vector<int>& counts) {
  double total = 0;
  for (const int count : counts) total += count;
  const double expected = total / static_cast<double>(counts.size());
  double chi_square = 0;
  for (const int count : counts) {
    chi_square += (count - expected) * (count - expected) / expected;
  }
  const auto freedom = static_cast<double>(counts.size() - 1);
  return (chi_square - freedom) / std::sqrt(2 * freedom);
}

class RandomTest : public ::testing::TestWithParam<std::uint32_t> {};

INSTANTIATE_TEST_SUITE_P(Below, RandomTest,
                         ::testing::Values(2, 3, 4, 7, 16, 61, 64, 1000),
                         ::testing::PrintToStringParamName());

TEST_P(RandomTest, IsUniform) {
  Random random(42);
  std::vector<int> counts(GetParam());

  for (int i = 0; i < 1'000'000; ++i) ++counts[random.Below(GetParam())];

  EXPECT_LT(std::abs(Unevenness(counts)), 5);
}

// The order in which a select looks at its cases is made of such pairs.
TEST_P(RandomTest, ConsecutiveNumbersAreIndependent) {
  if (GetParam() > 64) return;  // Too few samples for each pair.
  Random random(42);
  std::vector<int> counts(std::size_t{GetParam()} * GetParam());

  for (int i = 0; i < 1'000'000; ++i) {
    const std::uint32_t first = random.Below(GetParam());
    ++counts[std::size_t{first} * GetParam() + random.Below(GetParam())];
  }

  EXPECT_LT(std::abs(Unevenness(counts)), 5);
}

// Goroutines are seeded with consecutive ids times a constant.
TEST_P(RandomTest, FirstNumbersOfNeighbouringGoroutinesAreUniform) {
  std::vector<int> counts(GetParam());

  for (std::uint64_t id = 1; id <= 1'000'000; ++id) {
    ++counts[Random(id * 0x9e3779b97f4a7c15u).Below(GetParam())];
  }

  EXPECT_LT(std::abs(Unevenness(counts)), 5);
}

TEST(RandomTest, BelowOneIsZero) {
  Random random(1);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(random.Below(1), 0u);
}

TEST(RandomTest, EachBitIsSetHalfOfTheTime) {
  Random random(1);
  std::vector<int> set(32);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint32_t number = random.Next();
    for (std::size_t bit = 0; bit < 32; ++bit) set[bit] += number >> bit & 1;
  }
  for (const int count : set) EXPECT_NEAR(count, 50'000, 1'000);
}

TEST(RandomTest, GoesOnForLongWithoutRepeatingItself) {
  Random random;  // Seed 0 is as good as any.
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t high = random.Next();
    seen.insert(high << 32 | random.Next());
  }
  EXPECT_EQ(seen.size(), 100'000u);
}

}  // namespace
}  // namespace gorge::internal
