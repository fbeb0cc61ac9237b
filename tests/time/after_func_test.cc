#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "absl/time/time.h"
#include "gorge/chan/chan.h"
#include "gorge/core/internal/timers.h"
#include "gorge/core/panic.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/channels.h"
#include "gorge/tests/support/elapsed.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/team.h"
#include "gorge/time/time.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::internal::CountTimers;
using ::gorge::testing::Elapsed;
using ::gorge::testing::Kind;
using ::gorge::testing::kKinds;
using ::gorge::testing::PanicText;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::gorge::testing::Team;

constexpr absl::Duration kLong = absl::Hours(1);

class AfterFuncTest : public RuntimeTest {};
GORGE_INSTANTIATE(AfterFuncTest);

TEST_P(AfterFuncTest, RunsInAGoroutineOfItsOwnAndNotTooEarly) {
  for (const Kind kind : kKinds) {
    Team team;
    team.Go(kind, [] {
      const auto c = MakeChan<absl::Duration>();
      const Elapsed elapsed;

      const Timer timer =
          AfterFunc(absl::Milliseconds(1), [&] { c.Send(elapsed()); });

      EXPECT_FALSE(timer.C());
      EXPECT_GE(*c.Recv(), absl::Milliseconds(1));
      EXPECT_FALSE(timer.Stop());
    });
  }
}

TEST_P(AfterFuncTest, RunsAlthoughTheHandleIsDropped) {
  const auto c = MakeChan<int>(1);
  AfterFunc(std::chrono::microseconds(100), [c] { c.Send(1); });
  EXPECT_EQ(c.Recv(), 1);
}

TEST_P(AfterFuncTest, MayArmItselfAgain) {
  Run([] {
    const auto done = MakeChan<int>();
    int left = 50;
    std::function<void()> step = [&] {
      if (--left == 0) {
        done.Send(1);
      } else {
        AfterFunc(absl::ZeroDuration(), step);
      }
    };

    AfterFunc(absl::ZeroDuration(), step);

    EXPECT_EQ(done.Recv(), 1);
  });
}

TEST_P(AfterFuncTest, WhatIsStoppedInTimeNeverRuns) {
  Run([] {
    std::atomic<int> ran{0};
    std::vector<Timer> timers;
    for (int i = 0; i < 100; ++i) {
      timers.push_back(AfterFunc(kLong, [&] { ++ran; }));
    }
    for (const Timer& timer : timers) EXPECT_TRUE(timer.Stop());
    for (const Timer& timer : timers) EXPECT_FALSE(timer.Stop());

    EXPECT_EQ(CountTimers(), 0u);
    Sleep(absl::Milliseconds(1));
    EXPECT_EQ(ran, 0);
  });
}

TEST_P(AfterFuncTest, ResetRunsItAgain) {
  Run([] {
    const auto c = MakeChan<int>();
    const Timer timer = AfterFunc(kLong, [c] { c.Send(1); });

    EXPECT_TRUE(timer.Reset(absl::ZeroDuration()));
    EXPECT_EQ(c.Recv(), 1);
    EXPECT_FALSE(timer.Reset(absl::ZeroDuration()));
    EXPECT_EQ(c.Recv(), 1);
  });
}

TEST_P(AfterFuncTest, TheFunctionGoesWithTheLastHandleOrAfterItsRun) {
  Run([] {
    auto token = std::make_shared<std::atomic<int>>(0);
    {
      const Timer timer = AfterFunc(kLong, [token] {});
      EXPECT_EQ(token.use_count(), 2);
      timer.Stop();
      EXPECT_EQ(token.use_count(), 2);
    }
    EXPECT_EQ(token.use_count(), 1);

    AfterFunc(absl::ZeroDuration(), [token] { ++*token; });
    Await([&] { return token.use_count() == 1; });
    EXPECT_EQ(*token, 1);
  });
}

TEST_P(AfterFuncTest, AShutdownFreesFunctionsThatHaveNotRun) {
  auto token = std::make_shared<int>(0);
  AfterFunc(kLong, [token] {});
  EXPECT_EQ(token.use_count(), 2);

  Shutdown();

  EXPECT_EQ(token.use_count(), 1);
}

TEST_P(AfterFuncTest, OfNothingPanics) {
  EXPECT_EQ(PanicText([] { AfterFunc(kLong, std::function<void()>()); }),
            "go of nil func value");
}

// With one P a pair that passes messages must not keep a timer waiting.
TEST_P(AfterFuncTest, IsNotStarvedByMessages) {
  Run([] {
    const auto ping = MakeChan<int>();
    const auto pong = MakeChan<int>();
    std::atomic<bool> stop{false};
    WaitGroup all;
    all.Go([&] {
      while (!stop) {
        ping.Send(1);
        static_cast<void>(pong.Recv());
      }
      ping.Close();
    });
    all.Go([&] {
      for (const int message : ping) pong.Send(message);
    });

    AfterFunc(absl::Microseconds(1), [&] { stop = true; });

    all.Wait();
  });
}

// Each arming ends in exactly one of: a run, Stop true, Reset true.
TEST_P(AfterFuncTest, EachArmingIsAccountedFor) {
  const int rounds = Scaled(20'000) + 50;
  for (const Kind kind : kKinds) {
    std::atomic<int> ran{0};
    std::atomic<int> taken_back{0};
    std::atomic<int> armed{1};
    {
      const Timer timer = AfterFunc(absl::ZeroDuration(), [&] { ++ran; });
      Team team;
      for (int k = 0; k < 3; ++k) {
        team.Go(kind, [&, k] {
          for (int i = 0; i < rounds; ++i) {
            if ((i + k) % 3 == 0) {
              taken_back += timer.Stop() ? 1 : 0;
            } else {
              ++armed;
              taken_back += timer.Reset(absl::Nanoseconds(i % 5 * 700)) ? 1 : 0;
            }
            if (i % 16 == 0) Gosched();
          }
        });
      }
      team.Wait();
      taken_back += timer.Stop() ? 1 : 0;
    }
    Await([&] { return ran + taken_back >= armed; });
    EXPECT_EQ(ran + taken_back, armed);
  }
}

}  // namespace
}  // namespace gorge
