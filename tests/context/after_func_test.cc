#include "gorge/context/after_func.h"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gorge/chan/chan.h"
#include "gorge/context/context.h"
#include "gorge/core/panic.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/cond.h"
#include "gorge/sync/mutex.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/counted.h"
#include "gorge/tests/support/death_test.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::Counted;
using ::gorge::testing::DeathTest;
using ::gorge::testing::InChild;
using ::gorge::testing::Kind;
using ::gorge::testing::kKinds;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::gorge::testing::Team;
using ::testing::HasSubstr;
using ::testing::KilledBySignal;

using Signal = std::monostate;

class AfterFuncTest : public RuntimeTest {};
GORGE_INSTANTIATE(AfterFuncTest);

TEST_P(AfterFuncTest, IsCalledOnceWhenTheContextEndsAndNotBefore) {
  Run([] {
    const auto called = MakeChan<int>(2);
    auto [ctx, cancel] = WithCancel(Background());
    const StopFunc stop = AfterFunc(
        ctx, [called, &ctx = ctx] { called.Send(ctx.Err().ok() ? 0 : 1); });
    EXPECT_FALSE(called.TryRecv().ready);
    cancel();
    EXPECT_EQ(called.Recv(), 1);
    EXPECT_FALSE(stop());
    cancel();
    EXPECT_FALSE(called.TryRecv().ready);
  });
}

TEST_P(AfterFuncTest, IsCalledWhenTheDeadlinePasses) {
  Run([] {
    const auto called = MakeChan<Signal>();
    auto [ctx, cancel] = WithTimeout(Background(), absl::Milliseconds(1));
    const StopFunc stop = AfterFunc(ctx, [called] { called.Send({}); });
    called.Recv();
    EXPECT_FALSE(stop());
  });
}

TEST_P(AfterFuncTest, IsCalledWhenAContextAboveEnds) {
  Run([] {
    static constexpr Key<int> kKey("key");
    const auto called = MakeChan<Signal>();
    auto [ctx, cancel] = WithCancel(Background());
    AfterFunc(WithValue(ctx, kKey, 1), [called] { called.Send({}); });
    cancel();
    called.Recv();
  });
}

TEST_P(AfterFuncTest, IsCalledAtOnceIfTheContextHasEnded) {
  Run([] {
    const auto called = MakeChan<Signal>();
    const Context ctx = WithCancel(Background()).ctx;
    const StopFunc stop = AfterFunc(ctx, [called] { called.Send({}); });
    called.Recv();
    EXPECT_FALSE(stop());
  });
}

TEST_P(AfterFuncTest, IsNotCalledAfterAStopThatReturnsTrueOnce) {
  Run([] {
    auto [ctx, cancel] = WithCancel(Background());
    const StopFunc stop =
        AfterFunc(ctx, [] { ADD_FAILURE() << "stopped before"; });
    const StopFunc copy = stop;
    EXPECT_TRUE(stop());
    EXPECT_FALSE(stop());
    EXPECT_FALSE(copy());
    cancel();
    EXPECT_FALSE(stop());
    EXPECT_FALSE(StopFunc()());
  });
}

TEST_P(AfterFuncTest, StaysWhenTheStopFuncIsDropped) {
  Run([] {
    const auto called = MakeChan<Signal>();
    auto [ctx, cancel] = WithCancel(Background());
    AfterFunc(ctx, [called] { called.Send({}); });
    cancel();
    called.Recv();
  });
}

TEST_P(AfterFuncTest, IsDestroyedWhenItIsStopped) {
  auto [ctx, cancel] = WithCancel(Background());
  const StopFunc stop = AfterFunc(ctx, [c = Counted(1)]() mutable {});
  EXPECT_EQ(Counted::live, 1);
  EXPECT_TRUE(stop());
  EXPECT_EQ(Counted::live, 0);
}

TEST_P(AfterFuncTest, IsDestroyedWhenItCanNoLongerBeCalled) {
  {
    const StopFunc stop = AfterFunc(Background(), [c = Counted(1)] {});
    EXPECT_EQ(Counted::live, 1);
  }
  EXPECT_EQ(Counted::live, 0);
}

TEST_P(AfterFuncTest, OnBackgroundIsNeverCalledAndCanBeStopped) {
  const StopFunc stop = AfterFunc(Background(), [] { ADD_FAILURE(); });
  EXPECT_TRUE(stop());
  EXPECT_FALSE(stop());
}

TEST_P(AfterFuncTest, IsMovedInAndCalledAsAnRvalue) {
  struct OnlyRvalue {
    std::unique_ptr<int> value;
    Chan<int> out;
    void operator()() && { out.Send(*value); }
  };
  Run([] {
    const auto out = MakeChan<int>();
    auto [ctx, cancel] = WithCancel(Background());
    AfterFunc(ctx, OnlyRvalue{std::make_unique<int>(5), out});
    cancel();
    EXPECT_EQ(out.Recv(), 5);
  });
}

TEST_P(AfterFuncTest, OfANilFunctionIsAPanic) {
  EXPECT_THROW(AfterFunc(Background(), std::function<void()>()), Panic);
  EXPECT_THROW(AfterFunc(Background(), static_cast<void (*)()>(nullptr)),
               Panic);
}

TEST_P(AfterFuncTest, CancelDoesNotWaitForIt) {
  Run([] {
    const auto release = MakeChan<Signal>();
    const auto ended = MakeChan<Signal>();
    auto [ctx, cancel] = WithCancel(Background());
    const StopFunc stop = AfterFunc(ctx, [=] {
      release.Recv();
      ended.Send({});
    });
    cancel();
    EXPECT_FALSE(stop());
    release.Send({});
    ended.Recv();
  });
}

TEST_P(AfterFuncTest, StopDoesNotWaitForOneThatWantsALockThatIsHeld) {
  Run([] {
    Mutex mutex;
    const auto ended = MakeChan<Signal>();
    auto [ctx, cancel] = WithCancel(Background());
    const StopFunc stop = AfterFunc(ctx, [&mutex, ended] {
      { const std::lock_guard hold(mutex); }
      ended.Send({});
    });
    {
      const std::lock_guard hold(mutex);
      cancel();
      EXPECT_FALSE(stop());
    }
    ended.Recv();
  });
}

TEST_P(AfterFuncTest, MayCancelItsContextAndThoseAroundIt) {
  Run([] {
    auto [parent, cancel_parent] = WithCancel(Background());
    auto [ctx, cancel] = WithCancel(parent);
    auto [sibling, cancel_sibling] = WithCancel(parent);
    const auto ended = MakeChan<Signal>();
    AfterFunc(ctx, [cancels = std::vector<CancelFunc>{cancel, cancel_sibling,
                                                      cancel_parent},
                    ended] {
      for (const CancelFunc& each : cancels) each();
      ended.Send({});
    });
    cancel();
    ended.Recv();
    for (const Context& each : {parent, ctx, sibling}) {
      EXPECT_FALSE(each.Err().ok());
    }
  });
}

TEST_P(AfterFuncTest, MayRegisterAnotherOnTheDyingContext) {
  Run([] {
    const auto called = MakeChan<Signal>();
    auto [ctx, cancel] = WithCancel(Background());
    AfterFunc(ctx, [called, ctx = ctx] {
      AfterFunc(ctx, [called] { called.Send({}); });
    });
    cancel();
    called.Recv();
  });
}

TEST_P(AfterFuncTest, MayCallItsOwnStop) {
  Run([] {
    const auto stopped = MakeChan<bool>();
    const auto given = MakeChan<StopFunc>(1);
    auto [ctx, cancel] = WithCancel(Background());
    given.Send(AfterFunc(ctx, [=] { stopped.Send((*given.Recv())()); }));
    cancel();
    EXPECT_EQ(stopped.Recv(), false);
  });
}

TEST_P(AfterFuncTest, OneThatBlocksForEverHoldsNobodyUp) {
  LeavesBlocked(1);
  Run([] {
    auto [ctx, cancel] = WithCancel(Background());
    auto [child, cancel_child] = WithCancel(ctx);
    AfterFunc(ctx, [] { RecvChan<int>().Recv(); });
    cancel();
    EXPECT_FALSE(child.Err().ok());
  });
  AwaitParked(1);
}

TEST_P(AfterFuncTest, WithACondEndsAWait) {
  Run([] {
    for (int round = 0; round < Scaled(200); ++round) {
      Mutex mutex;
      Cond cond;
      WaitGroup waking;
      auto [ctx, cancel] = WithCancel(Background());
      Team team;
      team.Go(kKinds[round % 2], [&mutex, &cond, &waking, &ctx = ctx] {
        waking.Add(1);
        const StopFunc stop = AfterFunc(ctx, [&] {
          {
            const std::lock_guard hold(mutex);
            cond.Broadcast();
          }
          waking.Done();
        });
        {
          std::unique_lock hold(mutex);
          cond.Wait(hold, [&] { return !ctx.Err().ok(); });
        }
        // The context may have ended before the wait: then it is still under
        // way, and uses what lies in this scope.
        EXPECT_FALSE(stop());
        waking.Wait();
      });
      team.Go(kKinds[round / 2 % 2], [cancel = cancel] { cancel(); });
      team.Wait();
    }
  });
}

TEST_P(AfterFuncTest, EitherItIsStartedOrStopped) {
  Run([] {
    std::atomic<int> started{0};
    std::atomic<int> stopped{0};
    const int rounds = Scaled(2'000);
    for (int round = 0; round < rounds; ++round) {
      auto [ctx, cancel] = WithCancel(Background());
      const StopFunc stop = AfterFunc(ctx, [&started] { ++started; });
      Team team;
      for (int i = 0; i < 2; ++i) {
        team.Go(kKinds[i], [&stop, &stopped] {
          if (stop()) ++stopped;
        });
      }
      team.Go(kKinds[round % 2], [cancel = cancel] { cancel(); });
    }
    Await([&] { return started + stopped >= rounds; });
    EXPECT_EQ(started + stopped, rounds);
  });
}

class AfterFuncDeathTest : public DeathTest {};

TEST_F(AfterFuncDeathTest, WhatItThrowsEndsTheProcess) {
  EXPECT_EXIT(InChild([] {
                const Context ctx = WithCancel(Background()).ctx;
                AfterFunc(ctx, [] { throw std::runtime_error("after"); });
                RecvChan<int>().Recv();
              }),
              KilledBySignal(SIGABRT), HasSubstr("panic: after"));
}

}  // namespace
}  // namespace gorge
