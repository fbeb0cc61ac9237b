#include "gorge/xsync/semaphore.h"

#include <atomic>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "gorge/context/context.h"
#include "gorge/core/panic.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/channels.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::Kind;
using ::gorge::testing::kKinds;
using ::gorge::testing::PanicText;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::gorge::testing::Team;

const absl::Status kOk = absl::OkStatus();
const absl::Status kCanceled = absl::CancelledError("context canceled");
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

class SemaphoreTest : public RuntimeTest {};
GORGE_INSTANTIATE(SemaphoreTest);

TEST_P(SemaphoreTest, NoMoreThanItsSizeAreTakenAtATime) {
  for (const Kind kind : kKinds) {
    Semaphore semaphore(10);
    std::atomic<std::int64_t> taken{0};
    Team team;
    for (std::int64_t count = 1; count <= 10; ++count) {
      team.Go(kind, [&, count] {
        for (int i = Scaled(1000) + 5; i > 0; --i) {
          ASSERT_EQ(semaphore.Acquire(Background(), count), kOk);
          EXPECT_LE(taken += count, 10);
          if (i % 8 == 0) Gosched();
          taken -= count;
          semaphore.Release(count);
        }
      });
    }
    team.Wait();
    EXPECT_TRUE(semaphore.TryAcquire(10));
  }
}

TEST_P(SemaphoreTest, WaitersAreServedInTheOrderTheyCame) {
  Run([] {
    Semaphore semaphore(4);
    ASSERT_TRUE(semaphore.TryAcquire(4));
    std::vector<int> order;
    WaitGroup all;
    int waiting = 0;
    // Each takes all that the one before gives back, so only one at a time.
    for (const int name : {1, 2, 3, 4}) {
      all.Go([&, name] {
        ASSERT_EQ(semaphore.Acquire(Background(), 3), kOk);
        order.push_back(name);
        semaphore.Release(3);
      });
      AwaitParked(++waiting);
    }

    semaphore.Release(4);

    all.Wait();
    EXPECT_EQ(order, std::vector<int>({1, 2, 3, 4}));
  });
}

TEST_P(SemaphoreTest, TheSmallDoNotOvertakeTheBig) {
  Run([] {
    Semaphore semaphore(10);
    ASSERT_TRUE(semaphore.TryAcquire(5));
    WaitGroup all;
    all.Go([&] { EXPECT_EQ(semaphore.Acquire(Background(), 8), kOk); });
    AwaitParked(1);

    EXPECT_FALSE(semaphore.TryAcquire(1));

    semaphore.Release(5);
    all.Wait();
    EXPECT_TRUE(semaphore.TryAcquire(2));
  });
}

TEST_P(SemaphoreTest, AnEndedContextAlwaysFails) {
  Run([] {
    Semaphore semaphore(1);
    auto [ctx, cancel] = WithCancel(Background());
    cancel();

    EXPECT_EQ(semaphore.Acquire(ctx, 1), kCanceled);

    EXPECT_TRUE(semaphore.TryAcquire(1));
  });
}

TEST_P(SemaphoreTest, OneThatGivesUpAtTheHeadLetsTheNextProceed) {
  for (const Kind kind : kKinds) {
    Semaphore semaphore(10);
    ASSERT_TRUE(semaphore.TryAcquire(5));
    auto [ctx, cancel] = WithCancel(Background());
    Team big;
    big.Go(kind, [&semaphore, &ctx = ctx] {
      EXPECT_EQ(semaphore.Acquire(ctx, 8), kCanceled);
    });
    Await([&] {
      if (!semaphore.TryAcquire(1)) return true;
      semaphore.Release(1);
      return false;
    });
    Team small;
    small.Go(kind, [&semaphore] {
      EXPECT_EQ(semaphore.Acquire(Background(), 1), kOk);
    });

    cancel();

    big.Wait();
    small.Wait();
  }
}

TEST_P(SemaphoreTest, MoreThanThereAreWaitsForTheContextAlone) {
  Run([] {
    Semaphore semaphore(2);
    auto [ctx, cancel] = WithCancel(Background());
    WaitGroup all;
    for (const std::int64_t count : {std::int64_t{3}, kMax}) {
      all.Go([&, count, &ctx = ctx] {
        EXPECT_EQ(semaphore.Acquire(ctx, count), kCanceled);
      });
    }
    AwaitParked(2);

    EXPECT_EQ(semaphore.Acquire(Background(), 2), kOk);
    semaphore.Release(2);

    cancel();
    all.Wait();
  });
}

TEST_P(SemaphoreTest, MisuseIsAPanic) {
  Semaphore semaphore(2);
  EXPECT_EQ(PanicText([&] { semaphore.Release(1); }),
            "semaphore: released more than held");
  for (const std::int64_t bad :
       {std::int64_t{-1}, std::numeric_limits<std::int64_t>::min()}) {
    EXPECT_EQ(PanicText([&] { semaphore.Release(bad); }),
              "semaphore: negative count");
    EXPECT_EQ(PanicText([&] { static_cast<void>(semaphore.TryAcquire(bad)); }),
              "semaphore: negative count");
    EXPECT_EQ(PanicText([&] {
                static_cast<void>(semaphore.Acquire(Background(), bad));
              }),
              "semaphore: negative count");
    EXPECT_EQ(PanicText([&] { Semaphore negative(bad); }),
              "semaphore: negative size");
  }
  EXPECT_TRUE(semaphore.TryAcquire(0));
  EXPECT_TRUE(semaphore.TryAcquire(2));
}

// A cancel at the moment of a release: the permits are the waiter's, or there.
TEST_P(SemaphoreTest, NoPermitIsLostToACancel) {
  for (const Kind kind : kKinds) {
    Semaphore semaphore(3);
    for (int i = Scaled(2000) + 20; i > 0; --i) {
      ASSERT_TRUE(semaphore.TryAcquire(3));
      auto [ctx, cancel] = WithCancel(Background());
      Team team;
      team.Go(kind, [&semaphore, &ctx = ctx] {
        if (semaphore.Acquire(ctx, 2).ok()) semaphore.Release(2);
      });
      team.Go(kind, [&semaphore] {
        ASSERT_EQ(semaphore.Acquire(Background(), 1), kOk);
        semaphore.Release(1);
      });
      team.Go(kind, [&cancel = cancel] { cancel(); });
      semaphore.Release(3);
      team.Wait();
    }
    EXPECT_TRUE(semaphore.TryAcquire(3));
  }
}

}  // namespace
}  // namespace gorge
