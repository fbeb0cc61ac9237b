// The error tells how a context ended, the cause why.

#include <atomic>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gorge/context/context.h"
#include "gorge/core/runtime.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::kKinds;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::gorge::testing::Team;

const absl::Status kCanceled = absl::CancelledError("context canceled");
const absl::Status kExceeded =
    absl::DeadlineExceededError("context deadline exceeded");
const absl::Status kParent = absl::AbortedError("parent");
const absl::Status kChild = absl::NotFoundError("child");
const absl::Status kLate = absl::UnavailableError("too late");

class CauseTest : public RuntimeTest {};
GORGE_INSTANTIATE(CauseTest);

void ExpectEnded(const Context& ctx, const absl::Status& error,
                 const absl::Status& cause) {
  EXPECT_EQ(ctx.Err(), error);
  EXPECT_EQ(Cause(ctx), cause);
}

TEST_P(CauseTest, IsWhatTheFirstCancelGave) {
  auto [ctx, cancel] = WithCancelCause(Background());
  cancel(kParent);
  cancel(kChild);
  cancel();
  ExpectEnded(ctx, kCanceled, kParent);
}

TEST_P(CauseTest, IsTheErrorIfNoneIsGiven) {
  auto [ctx, cancel] = WithCancelCause(Background());
  cancel(absl::OkStatus());
  ExpectEnded(ctx, kCanceled, kCanceled);
}

TEST_P(CauseTest, OfTheParentIsThatOfTheChildIfTheParentEndsFirst) {
  auto [parent, cancel_parent] = WithCancelCause(Background());
  auto [ctx, cancel] = WithCancelCause(parent);
  cancel_parent(kParent);
  cancel(kChild);
  ExpectEnded(parent, kCanceled, kParent);
  ExpectEnded(ctx, kCanceled, kParent);
}

TEST_P(CauseTest, OfTheChildIsItsOwnIfTheChildEndsFirst) {
  auto [parent, cancel_parent] = WithCancelCause(Background());
  auto [ctx, cancel] = WithCancelCause(parent);
  cancel(kChild);
  ExpectEnded(parent, absl::OkStatus(), absl::OkStatus());
  cancel_parent(kParent);
  ExpectEnded(parent, kCanceled, kParent);
  ExpectEnded(ctx, kCanceled, kChild);
}

TEST_P(CauseTest, GoesDownThroughAllKindsOfContext) {
  static constexpr Key<int> kKey("key");
  auto [parent, cancel_parent] = WithCancelCause(Background());
  auto [middle, cancel_middle] = WithTimeout(parent, absl::Hours(1));
  auto [ctx, cancel] = WithCancel(WithValue(middle, kKey, 1));
  const Context value = WithValue(ctx, kKey, 2);
  cancel_parent(kParent);
  for (const Context& each : {middle, ctx, value}) {
    ExpectEnded(each, kCanceled, kParent);
  }
}

TEST_P(CauseTest, OfAPassedDeadlineIsTheErrorOrWhatWasGiven) {
  const absl::Time past = absl::Now() - absl::Seconds(1);
  ExpectEnded(WithDeadline(Background(), past).ctx, kExceeded, kExceeded);
  ExpectEnded(WithDeadlineCause(Background(), past, kLate).ctx, kExceeded,
              kLate);
  ExpectEnded(WithDeadlineCause(Background(), past, absl::OkStatus()).ctx,
              kExceeded, kExceeded);
  ExpectEnded(WithTimeoutCause(Background(), absl::ZeroDuration(), kLate).ctx,
              kExceeded, kLate);
}

TEST_P(CauseTest, OfADeadlineIsNotThatOfACancelBeforeIt) {
  auto [ctx, cancel] = WithTimeoutCause(Background(), absl::Hours(1), kLate);
  cancel();
  ExpectEnded(ctx, kCanceled, kCanceled);
}

TEST_P(CauseTest, OfADeadlineIsThatOfTheFirstToPass) {
  Run([] {
    auto [parent, cancel_parent] =
        WithTimeoutCause(Background(), absl::Milliseconds(1), kParent);
    auto [ctx, cancel] = WithTimeoutCause(parent, absl::Hours(1), kChild);
    ctx.Done().Recv();
    ExpectEnded(ctx, kExceeded, kParent);
    ExpectEnded(parent, kExceeded, kParent);
  });
  Run([] {
    auto [parent, cancel_parent] =
        WithTimeoutCause(Background(), absl::Hours(1), kParent);
    auto [ctx, cancel] =
        WithTimeoutCause(parent, absl::Milliseconds(1), kChild);
    ctx.Done().Recv();
    ExpectEnded(ctx, kExceeded, kChild);
    ExpectEnded(parent, absl::OkStatus(), absl::OkStatus());
  });
}

TEST_P(CauseTest, OfADeadlineThatComesAfterACancelDoesNotCount) {
  Run([] {
    auto [parent, cancel_parent] = WithCancelCause(Background());
    auto [ctx, cancel] = WithTimeoutCause(parent, absl::Milliseconds(5), kLate);
    cancel_parent(kParent);
    const auto [later, cancel_later] =
        WithTimeout(Background(), absl::Milliseconds(20));
    later.Done().Recv();
    ExpectEnded(ctx, kCanceled, kParent);
  });
}

TEST_P(CauseTest, StopsAtWithoutCancel) {
  auto [parent, cancel_parent] = WithCancelCause(Background());
  const Context cut = WithoutCancel(parent);
  auto [ctx, cancel] = WithCancelCause(cut);
  cancel_parent(kParent);
  ExpectEnded(cut, absl::OkStatus(), absl::OkStatus());
  ExpectEnded(ctx, absl::OkStatus(), absl::OkStatus());
  cancel(kChild);
  ExpectEnded(ctx, kCanceled, kChild);
}

TEST_P(CauseTest, IsThereAsSoonAsTheErrorIsAndNeverChanges) {
  Run([] {
    for (int round = 0; round < Scaled(500); ++round) {
      auto [ctx, cancel] = WithCancelCause(Background());
      if (round % 2 == 0) static_cast<void>(ctx.Done());
      Team team;
      for (int i = 0; i < 2; ++i) {
        team.Go(kKinds[i], [&ctx = ctx] {
          while (ctx.Err().ok()) Gosched();
          const absl::Status first = Cause(ctx);
          EXPECT_TRUE(first == kParent || first == kChild) << first;
          EXPECT_EQ(Cause(ctx), first);
          EXPECT_EQ(ctx.Err(), kCanceled);
        });
        team.Go(kKinds[i],
                [&cancel = cancel, i] { cancel(i == 0 ? kParent : kChild); });
      }
    }
  });
}

}  // namespace
}  // namespace gorge
