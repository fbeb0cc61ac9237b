#include "gorge/xsync/err_group.h"

#include <atomic>
#include <functional>

#include "absl/status/status.h"
#include "gorge/chan/chan.h"
#include "gorge/context/context.h"
#include "gorge/core/panic.h"
#include "gorge/core/runtime.h"
#include "gorge/tests/support/channels.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::Kind;
using ::gorge::testing::kKinds;
using ::gorge::testing::PanicText;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Team;

absl::Status Ok() { return absl::OkStatus(); }
const absl::Status kLost = absl::DataLossError("lost");

class ErrGroupTest : public RuntimeTest {};
GORGE_INSTANTIATE(ErrGroupTest);

TEST_P(ErrGroupTest, WaitReturnsWhenAllHaveEnded) {
  for (const Kind kind : kKinds) {
    Team team;
    team.Go(kind, [] {
      std::atomic<int> ended{0};
      ErrGroup group;
      for (int i = 0; i < 20; ++i) {
        group.Go([&ended] {
          Gosched();
          ++ended;
          return absl::OkStatus();
        });
      }

      EXPECT_EQ(group.Wait(), absl::OkStatus());

      EXPECT_EQ(ended, 20);
    });
  }
}

TEST_P(ErrGroupTest, TheFirstErrorIsReturnedAndEndsTheContext) {
  Run([] {
    auto [group, ctx] = ErrGroup::WithContext(Background());
    std::atomic<int> told{0};
    for (int i = 0; i < 3; ++i) {
      group.Go([&told, &ctx = ctx] {
        static_cast<void>(ctx.Done().Recv());
        ++told;
        return absl::AbortedError("later");
      });
    }
    AwaitParked(3);

    group.Go([] { return kLost; });

    EXPECT_EQ(group.Wait(), kLost);
    EXPECT_EQ(group.Wait(), kLost);
    EXPECT_EQ(told, 3);
    EXPECT_EQ(ctx.Err(), absl::CancelledError("context canceled"));
    EXPECT_EQ(Cause(ctx), kLost);
  });
}

TEST_P(ErrGroupTest, WaitEndsTheContextAlsoWithoutAnError) {
  Run([] {
    auto [group, ctx] = ErrGroup::WithContext(Background());
    group.Go(Ok);

    EXPECT_EQ(group.Wait(), absl::OkStatus());

    EXPECT_FALSE(ctx.Err().ok());
  });
}

TEST_P(ErrGroupTest, TheDestructorEndsTheContextAndWaits) {
  Run([] {
    std::atomic<bool> ended{false};
    {
      auto [group, ctx] = ErrGroup::WithContext(Background());
      group.Go([&ended, ctx = ctx] {
        static_cast<void>(ctx.Done().Recv());
        ended = true;
        return ctx.Err();
      });
    }
    EXPECT_TRUE(ended);
  });
}

TEST_P(ErrGroupTest, RunsNoMoreAtATimeThanTheLimit) {
  Run([] {
    static constexpr int kLimit = 3;
    std::atomic<int> running{0};
    ErrGroup group;
    group.SetLimit(kLimit);
    for (int i = 0; i < 50; ++i) {
      group.Go([&running] {
        EXPECT_LE(++running, kLimit);
        Gosched();
        --running;
        return absl::OkStatus();
      });
    }
    EXPECT_EQ(group.Wait(), absl::OkStatus());
  });
}

TEST_P(ErrGroupTest, TryGoRefusesAtTheLimitAndKeepsTheFunction) {
  Run([] {
    const auto release = MakeChan<int>();
    ErrGroup group;
    group.SetLimit(1);
    EXPECT_TRUE(group.TryGo([release] {
      static_cast<void>(release.Recv());
      return absl::OkStatus();
    }));
    std::function<absl::Status()> ok = Ok;

    EXPECT_FALSE(group.TryGo(std::move(ok)));

    EXPECT_TRUE(ok);  // NOLINT(bugprone-use-after-move): that is the point.
    EXPECT_EQ(PanicText([&] { group.SetLimit(2); }),
              "errgroup: modify limit while goroutines in the group are still "
              "active");
    release.Close();
    EXPECT_EQ(group.Wait(), absl::OkStatus());
    group.SetLimit(0);
    EXPECT_FALSE(group.TryGo(Ok));
    group.SetLimit(-1);
    EXPECT_TRUE(group.TryGo(Ok));
  });
}

TEST_P(ErrGroupTest, GoexitIsNoErrorAndGivesItsPlaceBack) {
  Run([] {
    ErrGroup group;
    group.SetLimit(1);
    for (int i = 0; i < 3; ++i) {
      group.Go([]() -> absl::Status { Goexit(); });
    }
    EXPECT_EQ(group.Wait(), absl::OkStatus());
  });
}

TEST_P(ErrGroupTest, NothingToRunIsAPanicAndTakesNoPlace) {
  Run([] {
    ErrGroup group;
    group.SetLimit(1);
    EXPECT_EQ(PanicText([&] { group.Go(std::function<absl::Status()>()); }),
              "go of nil func value");
    EXPECT_TRUE(group.TryGo(Ok));
    EXPECT_EQ(group.Wait(), absl::OkStatus());
  });
}

}  // namespace
}  // namespace gorge
