#include "gorge/core/internal/fence.h"

#include <atomic>
#include <thread>

#include "gorge/tests/support/scale.h"
#include "gtest/gtest.h"

namespace gorge::internal {
namespace {

using ::gorge::testing::Scaled;

// Lets two threads begin each round at the same moment.
class Starter {
 public:
  void Await(int round) {
    arrived_.fetch_add(1);
    for (int spins = 0; arrived_.load() < 2 * round; ++spins) {
      // The other side may have no core to run on.
      if (spins % 1024 == 1023) std::this_thread::yield();
    }
  }

 private:
  std::atomic<int> arrived_{0};
};

TEST(FenceTest, IsLightOnceTheKernelHasAgreed) {
  EnableLightFences();
  EnableLightFences();  // Harmless.
  if (!light_fences.load()) GTEST_SKIP() << "this kernel has no membarrier";

  HeavyFence();

  EXPECT_TRUE(light_fences.load());
}

// Each side stores its own word and reads the other's. Without fences both may
// read what was there before, and on x86 do so within some thousand rounds.
TEST(FenceTest, OneOfTwoSidesSeesTheOther) {
  EnableLightFences();
  if (!light_fences.load()) GTEST_SKIP() << "this kernel has no membarrier";
  const int rounds = Scaled(30'000);
  alignas(64) std::atomic<int> hot{0};
  alignas(64) std::atomic<int> cold{0};
  alignas(64) int hot_saw = 0;
  alignas(64) int cold_saw = 0;
  Starter start;
  Starter finish;
  int missed = 0;
  std::thread hot_side([&] {
    for (int round = 1; round <= rounds; ++round) {
      start.Await(round);
      hot.store(round, std::memory_order_relaxed);
      LightFence();
      hot_saw = cold.load(std::memory_order_relaxed);
      finish.Await(round);
    }
  });

  for (int round = 1; round <= rounds; ++round) {
    start.Await(round);
    cold.store(round, std::memory_order_relaxed);
    HeavyFence();
    cold_saw = hot.load(std::memory_order_relaxed);
    finish.Await(round);
    if (cold_saw != round && hot_saw != round) ++missed;
  }
  hot_side.join();

  EXPECT_EQ(missed, 0);
}

}  // namespace
}  // namespace gorge::internal
