#include "gorge/core/internal/global_queue.h"

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <thread>
#include <vector>

#include "gorge/core/internal/goroutine.h"
#include "gorge/core/internal/lock.h"
#include "gorge/core/internal/random.h"
#include "gorge/tests/support/scale.h"
#include "gtest/gtest.h"

namespace gorge::internal {
namespace {

using ::gorge::testing::Scaled;

TEST(GlobalQueueTest, IsEmptyAtFirst) {
  GlobalQueue queue;

  EXPECT_EQ(queue.Size(), 0);
  EXPECT_EQ(queue.Pop(), nullptr);
}

TEST(GlobalQueueTest, BehavesLikeAListWhateverTheOrderOfCalls) {
  constexpr std::uint32_t kGoroutines = 64;
  const auto all = std::make_unique<G[]>(kGoroutines);
  std::vector<G*> free;
  for (std::uint32_t i = 0; i < kGoroutines; ++i) free.push_back(&all[i]);
  GlobalQueue queue;
  std::list<G*> model;
  Random random(7);

  for (int i = 0; i < Scaled(1'000'000); ++i) {
    if (!free.empty() && random.Below(2) == 0) {
      queue.Push(*free.back());
      model.push_back(free.back());
      free.pop_back();
    } else {
      G* expected = model.empty() ? nullptr : model.front();
      ASSERT_EQ(queue.Pop(), expected);
      if (expected != nullptr) {
        model.pop_front();
        free.push_back(expected);
      }
    }
    ASSERT_EQ(queue.Size(), static_cast<std::int64_t>(model.size()));
  }
}

// The size is what machines look at before they sleep: a goroutine whose Push
// has returned is seen by everybody.
TEST(GlobalQueueTest, SizeIsReadableWithoutTheLock) {
  GlobalQueue queue;
  Lock lock{LockRank::kSched};
  G g;
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0};
  std::thread observer([&] {
    while (!done.load()) {
      const std::int64_t size = queue.Size();
      if (size < 0 || size > 1) ++wrong;
    }
  });

  for (int i = 0; i < Scaled(1'000'000); ++i) {
    LockGuard hold(lock);
    queue.Push(g);
    ASSERT_EQ(queue.Size(), 1);
    ASSERT_EQ(queue.Pop(), &g);
  }
  done = true;
  observer.join();

  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace gorge::internal
