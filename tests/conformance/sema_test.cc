// The semaphore that the lock types stand on. Answers runtime/sema_test.go;
// each case has the name of the test it answers.

#include <atomic>
#include <functional>

#include "gorge/core/go.h"
#include "gorge/core/internal/semaphore.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::internal::Permits;
using ::gorge::internal::SemAcquire;
using ::gorge::internal::SemPermit;
using ::gorge::internal::SemQueue;
using ::gorge::internal::SemRelease;
using ::gorge::internal::SemWaiters;
using ::gorge::internal::WaitReason;
using ::gorge::testing::kChecked;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;

enum class First { kNobody, kWaiter, kReleaser };

// One waits, another hands it a permit; then both want to be the first.
First Race() {
  Permits permits{0};
  std::atomic<First> first{First::kNobody};
  const auto arrive = [&first](First who) {
    First nobody = First::kNobody;
    first.compare_exchange_strong(nobody, who);
  };
  WaitGroup waiter;
  waiter.Go([&] {
    SemAcquire(permits, SemQueue::kLast, WaitReason::kMutex, &permits);
    arrive(First::kWaiter);
  });
  while (SemWaiters(permits) == 0) Gosched();

  SemRelease(permits, SemPermit::kHanded);

  arrive(First::kReleaser);
  waiter.Wait();
  return first;
}

// A release that hands off lets the waiter run first, most of the time: the
// kernel may stop the thread that has both, and other Ps take one of them.
void ExpectWaitersFirst() {
  const int tries = Scaled(10'000) + 50;
  int waiters = 0;
  for (int i = 0; i < tries; ++i) {
    if (Race() == First::kWaiter) ++waiters;
  }
  // The checked build mixes up who runs next.
  if (!kChecked) {
    EXPECT_GT(waiters, tries / 3 * 2);
  }
}

// With Ps that are busy otherwise, so that none lies in wait for what one of
// the two leaves in its queue.
class SemaTest : public RuntimeTest {};
GORGE_INSTANTIATE(SemaTest);

TEST_P(SemaTest, SemaHandoff) {
  Run([this] {
    std::atomic<bool> stop{false};
    WaitGroup busy;
    for (int i = 1; i < procs(); ++i) {
      busy.Go([&] {
        while (!stop) Gosched();
      });
    }
    ExpectWaitersFirst();
    stop = true;
    busy.Wait();
  });
}

class SemaOfSomePsTest : public RuntimeTest {};
// The sizes for which Go has tests of their own.
INSTANTIATE_TEST_SUITE_P(Procs, SemaOfSomePsTest, ::testing::Values(1, 2),
                         ::testing::PrintToStringParamName());

TEST_P(SemaOfSomePsTest, SemaHandoff1AndSemaHandoff2) {
  Run(ExpectWaitersFirst);
}

}  // namespace
}  // namespace gorge
