// Configure, Shutdown, and starting again.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/core/internal/goroutine.h"
#include "gorge/core/internal/procs.h"
#include "gorge/core/internal/scheduler.h"
#include "gorge/core/panic.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;

class LifecycleTest : public RuntimeTest {};

GORGE_INSTANTIATE(LifecycleTest);

bool IsRunning() {
  return internal::sched.phase.load() == internal::Phase::kRunning;
}

TEST_P(LifecycleTest, TheRuntimeStartsOnFirstUse) {
  EXPECT_FALSE(IsRunning());
  go([] {});
  EXPECT_TRUE(IsRunning());
}

TEST_P(LifecycleTest, MaxProcsStartsIt) {
  EXPECT_EQ(MaxProcs(), procs());
  EXPECT_TRUE(IsRunning());
}

TEST_P(LifecycleTest, WhatOnlyLooksDoesNotStartIt) {
  EXPECT_EQ(NumGoroutine(), 0);
  EXPECT_GE(NumCPU(), 1);
  Gosched();
  FreeOSMemory();
  Shutdown();
  EXPECT_FALSE(IsRunning());
}

TEST_P(LifecycleTest, ChannelsBetweenThreadsNeedNoRuntime) {
  const auto c = MakeChan<int>();
  std::thread sender([c] { c.Send(1); });
  EXPECT_EQ(c.Recv(), 1);
  sender.join();
  EXPECT_FALSE(IsRunning());
}

TEST_P(LifecycleTest, ConfigureIsAPanicWhileTheRuntimeRuns) {
  go([] {});
  EXPECT_THROW(Configure({}), Panic);
  Run([] { EXPECT_THROW(Configure({}), Panic); });
}

TEST_P(LifecycleTest, ConfigureRefusesValuesOutOfRangeAndKeepsTheOld) {
  EXPECT_THROW(Configure({.max_procs = -1}), Panic);
  EXPECT_THROW(Configure({.max_procs = internal::kMaxProcsLimit + 1}), Panic);
  EXPECT_THROW(Configure({.max_procs = 7, .stack_size = SIZE_MAX}), Panic);
  EXPECT_EQ(MaxProcs(), procs());
}

TEST_P(LifecycleTest, ConfigureSetsTheDefaultStackSize) {
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  for (const std::size_t size : {kMiB, std::size_t{20'000}, std::size_t{0}}) {
    Configure({.max_procs = procs(), .stack_size = size});
    Run([size] {
      const auto out = MakeChan<std::size_t>();
      go([out] {
        const internal::StackSlot& stack = internal::Self()->stack;
        out.Send(static_cast<std::size_t>(stack.end() - stack.bottom()));
      });
      const std::size_t usable = *out.Recv();
      EXPECT_GE(usable, size);
      EXPECT_LE(usable, size == 0 ? 256 * 1024 : 2 * size + 64 * 1024);
    });
    Shutdown();
  }
}

TEST_P(LifecycleTest, TheMostProcsWork) {
  if (procs() != 16) return;
  Configure({.max_procs = 1000});
  std::atomic<int> count{0};
  Run([&] {
    WaitGroup all;
    for (int i = 0; i < 3000; ++i) all.Go([&] { ++count; });
    all.Wait();
  });
  EXPECT_EQ(MaxProcs(), 1000);
  EXPECT_EQ(count, 3000);
}

TEST_P(LifecycleTest, ShutdownTwiceIsFine) {
  go([] {});
  Shutdown();
  Shutdown();
  EXPECT_FALSE(IsRunning());
}

TEST_P(LifecycleTest, ShutdownIsAPanicInAGoroutine) {
  Run([] { EXPECT_THROW(Shutdown(), Panic); });
  EXPECT_TRUE(IsRunning());
}

TEST_P(LifecycleTest, ShutdownEndsEveryThread) {
  // By the number of machines: other threads come and go as they like.
  Run([] {
    WaitGroup all;
    for (int i = 0; i < 64; ++i) all.Go([] { Gosched(); });
    all.Wait();
  });
  Shutdown();
  internal::LockGuard hold(internal::sched.lock);
  EXPECT_EQ(internal::sched.all_machines, nullptr);
  EXPECT_EQ(internal::sched.idle_machines, nullptr);
}

TEST_P(LifecycleTest, StartingAndStoppingManyTimesWorks) {
  for (int i = 0; i < Scaled(500) + 3; ++i) {
    const auto c = MakeChan<int>();
    for (int k = 0; k < 4; ++k) go([c, k] { c.Send(k); });
    for (int k = 0; k < 4; ++k) ASSERT_TRUE(c.Recv().has_value());
    Shutdown();
    ASSERT_FALSE(IsRunning());
  }
}

TEST_P(LifecycleTest, StoppingWhileGoroutinesStartAndBlockWorks) {
  for (int i = 0; i < Scaled(200) + 3; ++i) {
    const auto never = MakeChan<int>();
    std::atomic<int> started{0};
    for (int k = 0; k < 4; ++k) {
      go([&started, never] {
        ++started;
        go([never] { never.Recv(); });
        while (true) Gosched();
      });
    }
    while (started == 0) std::this_thread::yield();
    Shutdown();
    ASSERT_EQ(NumGoroutine(), 0);
  }
}

TEST_P(LifecycleTest, AnotherThreadMayStopItAtAnyTime) {
  std::atomic<bool> done{false};
  std::atomic<std::int64_t> ran{0};
  std::thread stopper([&] {
    while (!done) {
      Shutdown();
      std::this_thread::yield();
    }
  });

  for (int i = 0; i < Scaled(20'000) + 100; ++i) go([&ran] { ++ran; });
  done = true;
  stopper.join();

  // Whatever was abandoned: the next one runs.
  const auto c = MakeChan<int>();
  go([c] { c.Send(1); });
  EXPECT_EQ(c.Recv(), 1);
  Shutdown();
  EXPECT_LE(ran, Scaled(20'000) + 100);
}

TEST_P(LifecycleTest, SeveralThreadsMayStopItAtOnce) {
  for (int i = 0; i < Scaled(200) + 2; ++i) {
    go([] {});
    std::vector<std::thread> threads;
    for (int k = 0; k < 4; ++k) threads.emplace_back([] { Shutdown(); });
    for (std::thread& thread : threads) thread.join();
    ASSERT_FALSE(IsRunning());
  }
}

TEST_P(LifecycleTest, SeveralThreadsMayStartItAtOnce) {
  for (int i = 0; i < Scaled(200) + 2; ++i) {
    std::atomic<int> ran{0};
    std::vector<std::thread> threads;
    for (int k = 0; k < 4; ++k)
      threads.emplace_back([&] { go([&] { ++ran; }); });
    for (std::thread& thread : threads) thread.join();
    Await([&] { return ran == 4; });
    Shutdown();
  }
}

// Also those in the queues of channels that live on.
TEST_P(LifecycleTest, AbandonedGoroutinesNeverRunAgain) {
  std::atomic<int> ran{0};
  const auto c = MakeChan<int>();
  WaitGroup group;
  group.Add(1);
  for (int i = 0; i < 3; ++i) {
    go([&ran, c] {
      c.Recv();
      ++ran;
    });
    go([&] {
      group.Wait();
      ++ran;
    });
  }
  AwaitParked(6);
  Shutdown();

  go([] {});  // The next epoch.
  group.Done();
  c.Close();
  Run([] {
    for (int i = 0; i < 100; ++i) Gosched();
  });

  EXPECT_EQ(ran, 0);
}

TEST_P(LifecycleTest, APlainThreadStaysBlockedAcrossAShutdown) {
  go([] {});
  const auto c = MakeChan<int>();
  std::atomic<int> received{0};
  std::thread thread([&] { received = *c.Recv(); });
  Shutdown();
  EXPECT_EQ(received, 0);

  go([c] { c.Send(5); });
  thread.join();

  EXPECT_EQ(received, 5);
}

TEST_P(LifecycleTest, ShutdownOfAnIdleRuntimeTakesNoTime) {
  Run([] {});
  const auto start = std::chrono::steady_clock::now();

  Shutdown();

  // Less than the patience it has for those that do not come.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
}

TEST_P(LifecycleTest, NumGoroutineCountsThoseNotYetEnded) {
  Run([] {
    const auto release = MakeChan<int>();
    WaitGroup all;
    EXPECT_EQ(NumGoroutine(), 1);
    for (int i = 0; i < 500; ++i) all.Go([release] { release.Recv(); });
    EXPECT_EQ(NumGoroutine(), 501);
    release.Close();
    all.Wait();
    Await([] { return NumGoroutine() == 1; });
  });
}

}  // namespace
}  // namespace gorge
