#include "gorge/core/internal/semaphore.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "gorge/core/go.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::internal::Permits;
using ::gorge::internal::SemPermit;
using ::gorge::internal::SemQueue;
using ::gorge::internal::SemRelease;
using ::gorge::internal::SemWaiters;
using ::gorge::internal::WaitReason;
using ::gorge::testing::Kind;
using ::gorge::testing::kKinds;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::gorge::testing::Team;

void Acquire(Permits& permits) {
  internal::SemAcquire(permits, SemQueue::kLast, WaitReason::kMutex, &permits);
}

class SemaphoreTest : public RuntimeTest {
 protected:
  static void AwaitWaiters(const Permits& permits, int n) {
    Await([&] { return SemWaiters(permits) == n; });
  }
};
GORGE_INSTANTIATE(SemaphoreTest);

TEST_P(SemaphoreTest, APermitThatIsThereIsTaken) {
  Permits permits{2};
  Acquire(permits);
  Acquire(permits);
  EXPECT_EQ(permits, 0u);
  EXPECT_EQ(SemWaiters(permits), 0);
}

TEST_P(SemaphoreTest, AReleaseWithoutWaitersIsKept) {
  Permits permits{0};
  SemRelease(permits, SemPermit::kFree);
  SemRelease(permits, SemPermit::kHanded);
  EXPECT_EQ(permits, 2u);
}

TEST_P(SemaphoreTest, WaitersAreServedInOrder) {
  for (const SemPermit permit : {SemPermit::kFree, SemPermit::kHanded}) {
    Run([permit] {
      Permits permits{0};
      std::atomic<int> served{0};
      WaitGroup all;
      for (int i = 0; i < 10; ++i) {
        all.Go([&, i] {
          Acquire(permits);
          EXPECT_EQ(served++, i);
        });
        AwaitWaiters(permits, i + 1);
      }
      for (int i = 0; i < 10; ++i) {
        SemRelease(permits, permit);
        Await([&] { return served == i + 1; });
      }
      all.Wait();
    });
  }
}

TEST_P(SemaphoreTest, GoroutinesAndThreadsExcludeEachOther) {
  Permits permits{1};
  long count = 0;
  const int n = Scaled(20'000);
  {
    Team team;
    for (int i = 0; i < 6; ++i) {
      team.Go(kKinds[i % 2], [&] {
        for (int k = 0; k < n; ++k) {
          Acquire(permits);
          ++count;
          SemRelease(permits,
                     k % 8 == 0 ? SemPermit::kHanded : SemPermit::kFree);
        }
      });
    }
  }
  EXPECT_EQ(count, 6L * n);
  EXPECT_EQ(permits, 1u);
}

// Many words share a bucket; each has its own waiters.
TEST_P(SemaphoreTest, ManyWordsAtOnceDoNotDisturbEachOther) {
  Run([] {
    const int words = Scaled(2'000) + 10;
    const auto permits = std::make_unique<Permits[]>(words);
    std::vector<std::atomic<int>> woken(words);
    WaitGroup all;
    for (int i = 0; i < words; ++i) {
      for (int k = 0; k < 2; ++k) {
        all.Go([&, i] {
          Acquire(permits[i]);
          ++woken[i];
        });
      }
    }
    AwaitParked(2 * words);
    for (int round = 1; round <= 2; ++round) {
      for (int i = words - 1; i >= 0; --i) {
        SemRelease(permits[i], SemPermit::kFree);
      }
      for (int i = 0; i < words; ++i) {
        Await([&] { return woken[i] == round; });
      }
    }
    all.Wait();
  });
}

TEST_P(SemaphoreTest, WhoTookTheLastPermitMayDestroyTheWord) {
  for (const Kind kind : kKinds) {
    for (int i = 0; i < Scaled(2'000); ++i) {
      auto permits = std::make_unique<Permits>(0);
      Team team;
      team.Go(kind, [p = permits.get()] { SemRelease(*p, SemPermit::kFree); });
      Acquire(*permits);
      permits.reset();
    }
  }
}

}  // namespace
}  // namespace gorge
