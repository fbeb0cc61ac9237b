// Pool under load. Answers sync/pool_test.go; each case has the name of the
// test it answers.

#include "gorge/sync/pool.h"

#include <atomic>
#include <cstddef>
#include <vector>

#include "gorge/core/runtime.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::kKinds;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::gorge::testing::Team;

class PoolConformanceTest : public RuntimeTest {};
GORGE_INSTANTIATE(PoolConformanceTest);

// Ten at once, each with a value of its own kind that it puts and takes back
// wherever it comes from: nobody gets what nobody put.
TEST_P(PoolConformanceTest, PoolStress) {
  constexpr int kWorkers = 10;
  constexpr int kNew = -1;
  const int rounds = Scaled(100'000) + 100;
  Pool<int> pool([] { return kNew; });
  Team team;
  for (int w = 0; w < kWorkers; ++w) {
    team.Go(kKinds[w % 3 == 2 ? 1 : 0], [&, w] {
      for (int i = 0; i < rounds; ++i) {
        const Pooled<int> item = pool.Get();
        EXPECT_TRUE(*item == kNew || (*item >= 0 && *item < kWorkers)) << *item;
        *item = w;
        if (i % 256 == 0) Gosched();
      }
    });
  }
}

// Some put numbered items in and others take them out: each comes out exactly
// once, by whatever way through slots and lists. Stands for PoolDequeue too,
// which is of a structure that Go has besides.
TEST_P(PoolConformanceTest, PoolChain) {
  constexpr int kProducers = 2;
  constexpr int kConsumers = 4;
  constexpr int kNone = -1;
  const int each = Scaled(20'000) + 100;
  Pool<int> pool([] { return kNone; });
  std::vector<std::atomic<int>> taken(
      static_cast<std::size_t>(kProducers * each));
  std::atomic<int> producing{kProducers};
  const auto take = [&] {
    const int item = *pool.Get().release();
    if (item == kNone) return false;
    ++taken[static_cast<std::size_t>(item)];
    return true;
  };
  Team team;
  for (int p = 0; p < kProducers; ++p) {
    team.Go(kKinds[p % 2], [&, p] {
      for (int i = 0; i < each; ++i) {
        pool.Put(p * each + i);
        // It takes some itself, from its own end.
        if (i % 10 == 0) take();
        if (i % 100 == 0) Gosched();
      }
      --producing;
    });
  }
  for (int c = 0; c < kConsumers; ++c) {
    team.Go(kKinds[c % 2], [&] {
      while (producing > 0) {
        if (!take()) Gosched();
      }
    });
  }
  team.Wait();
  // What lies in the slots of threads that do nothing more becomes old, and so
  // anybody's.
  pool.Age();
  while (take()) {
  }
  for (std::size_t i = 0; i < taken.size(); ++i) ASSERT_EQ(taken[i], 1) << i;
}

}  // namespace
}  // namespace gorge
