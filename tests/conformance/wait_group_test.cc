// WaitGroup as a barrier and as a collector of results.

#include "gorge/sync/wait_group.h"

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/core/panic.h"
#include "gorge/core/runtime.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;

class WaitGroupConformanceTest : public RuntimeTest {};

GORGE_INSTANTIATE(WaitGroupConformanceTest);

// n goroutines report to the first and wait for the second.
void Barrier(WaitGroup& arrived, WaitGroup& released) {
  constexpr int kGoroutines = 16;
  arrived.Add(kGoroutines);
  released.Add(kGoroutines);
  const auto exited = MakeChan<bool>(kGoroutines);
  for (int i = 0; i < kGoroutines; ++i) {
    go([&, exited] {
      arrived.Done();
      released.Wait();
      exited.Send(true);
    });
  }

  arrived.Wait();
  for (int i = 0; i < kGoroutines; ++i) {
    EXPECT_FALSE(exited.TryRecv().ready) << "released too soon";
    released.Done();
  }

  for (int i = 0; i < kGoroutines; ++i) EXPECT_EQ(exited.Recv(), true);
}

TEST_P(WaitGroupConformanceTest, TheSameTwoMakeABarrierAgainAndAgain) {
  Run([] {
    WaitGroup first;
    WaitGroup second;
    for (int i = 0; i < 8; ++i) Barrier(first, second);
  });
}

TEST_P(WaitGroupConformanceTest, ANegativeCounterIsAPanic) {
  WaitGroup group;
  group.Add(1);
  group.Done();
  EXPECT_THROW(group.Done(), Panic);
}

TEST_P(WaitGroupConformanceTest, WaitNeverReturnsBeforeBothAreDone) {
  Run([] {
    for (int i = 0; i < Scaled(1'000) + 1; ++i) {
      WaitGroup group;
      std::atomic<int> n{0};
      group.Add(1);
      go([&] {
        ++n;
        group.Done();
      });
      group.Add(1);
      go([&] {
        ++n;
        group.Done();
      });
      group.Wait();
      ASSERT_EQ(n, 2);
    }
  });
}

TEST_P(WaitGroupConformanceTest, WorksAnywhereInAStruct) {
  Run([] {
    struct Odd {
      char byte;
      WaitGroup group;
    };
    Odd odd{'x', {}};
    odd.group.Add(1);
    go([&odd] { odd.group.Done(); });
    odd.group.Wait();
    EXPECT_EQ(odd.byte, 'x');
  });
}

TEST_P(WaitGroupConformanceTest, GoRunsAndWaitWaits) {
  Run([] {
    WaitGroup group;
    int result = 0;
    group.Go([&] { result = 1; });
    group.Wait();
    EXPECT_EQ(result, 1);
  });
}

TEST_P(WaitGroupConformanceTest, GoOfNilIsAPanicAndCountsNothing) {
  WaitGroup group;
  EXPECT_THROW(group.Go(std::function<void()>()), Panic);
  group.Wait();
}

TEST_P(WaitGroupConformanceTest, GoTakesAClosureThatFitsOnNoStack) {
  Run([] {
    const auto large = std::make_unique<std::array<char, 8 << 20>>();
    (*large)[5] = 'x';
    struct Large {
      const std::array<char, 8 << 20>* from;
      std::array<char, 8 << 20> bytes;
      explicit Large(const std::array<char, 8 << 20>* f) : from(f) {}
      Large(Large&& other) noexcept : from(other.from) {
        bytes[5] = (*from)[5];
      }
      void operator()() { EXPECT_EQ(bytes[5], 'x'); }
    };
    WaitGroup group;
    const auto task = std::make_unique<Large>(large.get());
    group.Go(std::move(*task));
    group.Wait();
  });
}

}  // namespace
}  // namespace gorge
