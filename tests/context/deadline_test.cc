#include "gorge/context/deadline.h"

#include <chrono>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gorge/context/context.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/counted.h"
#include "gorge/tests/support/elapsed.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/team.h"
#include "gorge/time/time.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::Counted;
using ::gorge::testing::kAdjusted;
using ::gorge::testing::kKinds;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::gorge::testing::Team;
using std::chrono::steady_clock;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const absl::Status kCanceled = absl::CancelledError("context canceled");
const absl::Status kExceeded =
    absl::DeadlineExceededError("context deadline exceeded");
constexpr Key<Counted> kCounted("counted");

class DeadlineTest : public RuntimeTest {};
GORGE_INSTANTIATE(DeadlineTest);

bool HasEnded(const Context& ctx) {
  return !ctx.Err().ok() && ctx.Done().TryRecv().ready;
}

TEST_P(DeadlineTest, EndsWhenTheTimeoutIsOverAndNotBefore) {
  Team team;
  for (int i = 0; i < 4; ++i) {
    team.Go(kKinds[i % 2], [i] {
      const auto timeout = std::chrono::milliseconds(5);
      const auto start = steady_clock::now();
      const auto [ctx, cancel] =
          i < 2 ? WithTimeout(Background(), timeout)
                : WithDeadline(Background(),
                               absl::Now() + absl::FromChrono(timeout));
      ctx.Done().Recv();
      EXPECT_EQ(ctx.Err(), kExceeded);
      if (i < 2) {
        EXPECT_GE(steady_clock::now() - start, timeout);
      }
      EXPECT_GE(absl::Now() + kAdjusted, *ctx.Deadline());
    });
  }
}

TEST_P(DeadlineTest, IsLiveAsLongAsTheDeadlineIsAhead) {
  const absl::Time deadline = absl::Now() + absl::Hours(1);
  auto [ctx, cancel] = WithDeadline(Background(), deadline);
  EXPECT_EQ(ctx.Deadline(), deadline);
  EXPECT_TRUE(ctx.Err().ok());
  EXPECT_FALSE(ctx.Done().TryRecv().ready);
  cancel();
  EXPECT_EQ(ctx.Deadline(), deadline);
}

TEST_P(DeadlineTest, ThatIsCancelledBeforeEndsAsCancelled) {
  Run([] {
    auto [ctx, cancel] = WithTimeout(Background(), absl::Milliseconds(2));
    cancel();
    Sleep(absl::Milliseconds(10));
    EXPECT_EQ(ctx.Err(), kCanceled);
  });
}

TEST_P(DeadlineTest, ThatPassedIsNotChangedByACancelAfterIt) {
  const std::vector<Cancelable> past = [] {
    std::vector<Cancelable> all;
    all.push_back(WithDeadline(Background(), absl::Now() - absl::Seconds(1)));
    all.push_back(WithDeadline(Background(), absl::InfinitePast()));
    all.push_back(WithTimeout(Background(), absl::ZeroDuration()));
    all.push_back(WithTimeout(Background(), -absl::InfiniteDuration()));
    all.push_back(
        WithTimeout(Background(), std::chrono::nanoseconds(INT64_MIN)));
    all.push_back(WithTimeout(Background(), std::chrono::hours::min()));
    return all;
  }();
  for (const auto& [ctx, cancel] : past) {
    EXPECT_TRUE(HasEnded(ctx));
    EXPECT_EQ(ctx.Err(), kExceeded);
    cancel();
    EXPECT_EQ(ctx.Err(), kExceeded);
    EXPECT_EQ(Cause(ctx), kExceeded);
  }
}

TEST_P(DeadlineTest, ThatIsVeryFarIsNeverReached) {
  const std::vector<Cancelable> far = [] {
    std::vector<Cancelable> all;
    all.push_back(WithTimeout(Background(), std::chrono::hours::max()));
    all.push_back(
        WithTimeout(Background(), std::chrono::nanoseconds(INT64_MAX)));
    all.push_back(WithTimeout(Background(), absl::Hours(1'000'000'000)));
    all.push_back(WithDeadline(Background(), absl::FromUnixSeconds(1LL << 60)));
    return all;
  }();
  for (const auto& [ctx, cancel] : far) {
    EXPECT_TRUE(ctx.Err().ok());
    cancel();
    EXPECT_EQ(ctx.Err(), kCanceled);
  }
}

TEST_P(DeadlineTest, ThatIsInfiniteIsNone) {
  auto [one, cancel_one] = WithDeadline(Background(), absl::InfiniteFuture());
  auto [two, cancel_two] = WithTimeout(one, absl::InfiniteDuration());
  EXPECT_FALSE(two.Deadline().has_value());
  EXPECT_TRUE(two.Err().ok());
  cancel_one();
  EXPECT_EQ(two.Err(), kCanceled);
}

TEST_P(DeadlineTest, IsNeverLaterThanTheParents) {
  const absl::Time now = absl::Now();
  auto [outer, cancel_outer] = WithDeadline(Background(), now + absl::Hours(2));
  auto [later, cancel_later] = WithDeadline(outer, now + absl::Hours(3));
  auto [sooner, cancel_sooner] = WithDeadline(outer, now + absl::Hours(1));
  EXPECT_EQ(later.Deadline(), now + absl::Hours(2));
  EXPECT_EQ(sooner.Deadline(), now + absl::Hours(1));
  auto [below, cancel_below] = WithCancel(WithCancel(sooner).ctx);
  EXPECT_EQ(below.Deadline(), now + absl::Hours(1));
  cancel_outer();
  EXPECT_EQ(later.Err(), kCanceled);
}

TEST_P(DeadlineTest, OfTheParentEndsTheChild) {
  Run([] {
    auto [outer, cancel_outer] =
        WithTimeout(Background(), absl::Milliseconds(2));
    auto [later, cancel_later] = WithTimeout(outer, absl::Hours(1));
    auto [plain, cancel_plain] = WithCancel(later);
    plain.Done().Recv();
    EXPECT_EQ(plain.Err(), kExceeded);
    EXPECT_EQ(later.Err(), kExceeded);
    EXPECT_EQ(outer.Err(), kExceeded);
  });
}

TEST_P(DeadlineTest, OfTheChildLeavesTheParentAlone) {
  Run([] {
    auto [outer, cancel_outer] = WithTimeout(Background(), absl::Hours(1));
    auto [inner, cancel_inner] = WithTimeout(outer, absl::Milliseconds(2));
    inner.Done().Recv();
    EXPECT_EQ(inner.Err(), kExceeded);
    EXPECT_TRUE(outer.Err().ok());
  });
}

TEST_P(DeadlineTest, OfAChildOfAnEndedContextIsNotWaitedFor) {
  const Context ended = WithCancel(Background()).ctx;
  EXPECT_EQ(WithTimeout(ended, absl::Hours(1)).ctx.Err(), kCanceled);
  // As in Go, the parent's end comes first, even if the deadline is past.
  EXPECT_EQ(WithDeadline(ended, absl::InfinitePast()).ctx.Err(), kCanceled);
}

TEST_P(DeadlineTest, ThatIsCancelledLeavesNothingBehind) {
  Run([] {
    const Context root = WithValue(Background(), kCounted, Counted(1));
    for (int i = 0; i < Scaled(100'000); ++i) {
      auto [ctx, cancel] =
          WithTimeout(WithValue(root, kCounted, Counted(i)), absl::Hours(1));
      if (i % 2 == 0) cancel();
      ASSERT_EQ(Counted::live, 2);
    }
  });
}

TEST_P(DeadlineTest, ThatPassedLeavesNothingBehind) {
  Run([] {
    for (int i = 0; i < 20; ++i) {
      auto [ctx, cancel] =
          WithTimeout(WithValue(Background(), kCounted, Counted(i)),
                      absl::Microseconds(100));
      ctx.Done().Recv();
    }
    // The timer's goroutine may still hold the last one.
    Await([] { return Counted::live == 0; });
  });
}

TEST_P(DeadlineTest, MeetsCancelsAndTheFirstOneWins) {
  Run([] {
    for (int round = 0; round < Scaled(500); ++round) {
      auto [parent, cancel_parent] = WithCancel(Background());
      auto [ctx, cancel] = WithTimeout(parent, absl::Microseconds(round % 50));
      auto [child, cancel_child] = WithCancel(ctx);
      Team team;
      team.Go(kKinds[round % 2], [cancel = cancel, &ctx = ctx, round] {
        for (int i = 0; i < round % 7; ++i) Gosched();
        cancel();
        EXPECT_TRUE(HasEnded(ctx));
      });
      team.Go(kKinds[round / 2 % 2], [&child = child, &ctx = ctx] {
        child.Done().Recv();
        const absl::Status first = ctx.Err();
        EXPECT_TRUE(first == kCanceled || first == kExceeded) << first;
        EXPECT_EQ(child.Err(), first);
        EXPECT_EQ(Cause(child), first);
      });
      if (round % 3 == 0) cancel_parent();
      team.Wait();
      EXPECT_EQ(ctx.Err(), child.Err());
    }
  });
}

TEST_P(DeadlineTest, LayersOfTimeoutsEndWithTheFirst) {
  Run([] {
    std::vector<Cancelable> layers;
    Context ctx = Background();
    for (int i = 0; i < 50; ++i) {
      layers.push_back(WithTimeout(
          ctx, i == 25 ? absl::Milliseconds(3) : absl::Hours(1 + i % 7)));
      ctx = WithValue(layers.back().ctx, kCounted, Counted(i));
    }
    ctx.Done().Recv();
    for (int i = 0; i < 50; ++i) {
      EXPECT_EQ(layers[static_cast<std::size_t>(i)].ctx.Err().ok(), i < 25);
    }
  });
}

TEST_P(DeadlineTest, ANameTellsTheDeadline) {
  const auto [ctx, cancel] = WithTimeout(Background(), absl::Hours(1));
  EXPECT_THAT(ctx.String(), StartsWith("context.Background.WithDeadline("));
  EXPECT_THAT(ctx.String(), HasSubstr("59m"));
}

}  // namespace
}  // namespace gorge
