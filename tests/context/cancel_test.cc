#include "gorge/context/cancel.h"

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gorge/chan/chan.h"
#include "gorge/context/context.h"
#include "gorge/core/go.h"
#include "gorge/core/panic.h"
#include "gorge/core/runtime.h"
#include "gorge/select/select.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/counted.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::Counted;
using ::gorge::testing::Kind;
using ::gorge::testing::kKinds;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Team;

const absl::Status kCanceled = absl::CancelledError("context canceled");
constexpr Key<Counted> kCounted("counted");

class CancelTest : public RuntimeTest {};
GORGE_INSTANTIATE(CancelTest);

bool IsDone(const Context& ctx) { return ctx.Done().TryRecv().ready; }

TEST_P(CancelTest, BackgroundAndTodoNeverEndAndHaveNothing) {
  for (const Context& ctx : {Background(), TODO()}) {
    EXPECT_FALSE(ctx.Done());
    EXPECT_TRUE(ctx.Err().ok());
    EXPECT_TRUE(Cause(ctx).ok());
    EXPECT_FALSE(ctx.Deadline().has_value());
    EXPECT_EQ(ctx.Value(kCounted), nullptr);
  }
  EXPECT_EQ(Background(), Background());
  EXPECT_NE(Background(), TODO());
}

TEST_P(CancelTest, ANameTellsHowAContextWasMade) {
  EXPECT_EQ(Background().String(), "context.Background");
  EXPECT_EQ(TODO().String(), "context.TODO");
  EXPECT_EQ(Context().String(), "nil");
  const auto [ctx, cancel] = WithCancel(Background());
  EXPECT_EQ(WithoutCancel(WithValue(ctx, kCounted, Counted(1))).String(),
            "context.Background.WithCancel.WithValue(counted).WithoutCancel");
}

TEST_P(CancelTest, IsLiveUntilItIsCancelledAndThenStaysCancelled) {
  auto [ctx, cancel] = WithCancel(Background());
  ASSERT_TRUE(ctx.Done());
  EXPECT_FALSE(IsDone(ctx));
  EXPECT_TRUE(ctx.Err().ok());
  EXPECT_TRUE(Cause(ctx).ok());

  for (int i = 0; i < 2; ++i) {
    cancel();

    EXPECT_TRUE(IsDone(ctx));
    EXPECT_EQ(ctx.Err(), kCanceled);
    EXPECT_EQ(Cause(ctx), kCanceled);
  }
}

TEST_P(CancelTest, DoneIsOneChannelThatIsMadeWhenItIsAskedFor) {
  auto [ctx, cancel] = WithCancel(Background());
  const RecvChan<std::monostate> done = ctx.Done();
  EXPECT_EQ(done, ctx.Done());
  EXPECT_EQ(done, Context(ctx).Done());
  cancel();
  EXPECT_EQ(done, ctx.Done());
  EXPECT_FALSE(done.Recv().has_value());
}

TEST_P(CancelTest, DoneThatIsAskedForAfterTheEndIsClosed) {
  auto [ctx, cancel] = WithCancel(Background());
  cancel();
  EXPECT_FALSE(ctx.Done().Recv().has_value());
  EXPECT_EQ(ctx.Done(), ctx.Done());
}

TEST_P(CancelTest, TheReferenceThatATemporaryGivesIsItsOwn) {
  const Cancelable made = WithCancel(Background());
  const auto done = Context(made.ctx).Done();
  EXPECT_EQ(done, made.ctx.Done());
  static_assert(!std::is_reference_v<decltype(Context().Done())>);
  static_assert(!std::is_reference_v<decltype(Context().Err())>);
}

TEST_P(CancelTest, WakesGoroutinesAndThreads) {
  Run([] {
    auto [ctx, cancel] = WithCancel(Background());
    Team team;
    for (int i = 0; i < 6; ++i) {
      team.Go(kKinds[i % 2], [&ctx = ctx, i] {
        if (i < 3) {
          ctx.Done().Recv();
        } else {
          Select(OnRecv(ctx.Done()), OnRecv(RecvChan<int>()));
        }
        EXPECT_EQ(ctx.Err(), kCanceled);
      });
    }
    AwaitParked(3);
    cancel();
  });
}

TEST_P(CancelTest, EndsWhatIsDerivedButNotWhatItIsDerivedFrom) {
  auto [parent, cancel_parent] = WithCancel(Background());
  auto [ctx, cancel] = WithCancel(parent);
  const Context value = WithValue(ctx, kCounted, Counted(1));
  auto [child, cancel_child] = WithCancel(value);
  auto [sibling, cancel_sibling] = WithCancel(parent);

  cancel();

  for (const Context& ended : {ctx, value, child}) {
    EXPECT_TRUE(IsDone(ended));
    EXPECT_EQ(ended.Err(), kCanceled);
  }
  for (const Context& live : {parent, sibling}) {
    EXPECT_FALSE(IsDone(live));
    EXPECT_TRUE(live.Err().ok());
  }
}

TEST_P(CancelTest, AChildOfAnEndedContextHasEndedWithItsCause) {
  auto [parent, cancel_parent] = WithCancelCause(Background());
  const absl::Status why = absl::AbortedError("why");
  cancel_parent(why);

  auto [ctx, cancel] = WithCancel(WithValue(parent, kCounted, Counted(1)));

  EXPECT_TRUE(IsDone(ctx));
  EXPECT_EQ(ctx.Err(), kCanceled);
  EXPECT_EQ(Cause(ctx), why);
}

TEST_P(CancelTest, AnEndedChildIsForgottenByItsParent) {
  auto [parent, cancel_parent] = WithCancel(Background());
  {
    auto [ctx, cancel] = WithCancel(WithValue(parent, kCounted, Counted(1)));
    cancel();
    EXPECT_EQ(Counted::live, 1);
  }
  EXPECT_EQ(Counted::live, 0);
}

TEST_P(CancelTest, AParentForgetsItsChildrenWhenItEnds) {
  auto [parent, cancel_parent] = WithCancel(Background());
  std::optional<Cancelable> child =
      WithCancel(WithValue(parent, kCounted, Counted(1)));
  cancel_parent();
  EXPECT_EQ(child->ctx.Err(), kCanceled);
  child.reset();
  EXPECT_EQ(Counted::live, 0);
}

// -- CancelFunc.

TEST_P(CancelTest, TheLastCopyOfACancelFuncCancelsWhenItDies) {
  Context ctx;
  std::optional<CancelFunc> last;
  {
    auto [made, cancel] = WithCancel(Background());
    ctx = made;
    const CancelFunc copy = cancel;
    last = copy;
  }
  EXPECT_TRUE(ctx.Err().ok());
  last.reset();
  EXPECT_EQ(ctx.Err(), kCanceled);
  EXPECT_TRUE(IsDone(ctx));
}

TEST_P(CancelTest, AContextWhoseCancelFuncsAreGoneIsCancelled) {
  const Context ctx = WithCancel(Background()).ctx;
  EXPECT_EQ(ctx.Err(), kCanceled);
}

TEST_P(CancelTest, ACancelFuncThatWasMovedFromDoesNothing) {
  auto [ctx, cancel] = WithCancel(Background());
  EXPECT_TRUE(cancel);
  CancelFunc moved = std::move(cancel);
  EXPECT_FALSE(cancel);  // NOLINT(bugprone-use-after-move)
  cancel();
  cancel(absl::AbortedError("x"));
  EXPECT_TRUE(ctx.Err().ok());
  CancelFunc none;
  none();
  none = std::move(moved);
  none();
  EXPECT_EQ(ctx.Err(), kCanceled);
}

TEST_P(CancelTest, AssigningToACancelFuncLetsGoOfTheOneBefore) {
  auto [first, cancel] = WithCancel(Background());
  auto [second, other] = WithCancel(Background());
  cancel = other;
  EXPECT_EQ(first.Err(), kCanceled);
  EXPECT_TRUE(second.Err().ok());
  const CancelFunc& alias = cancel;
  cancel = alias;
  EXPECT_TRUE(second.Err().ok());
}

TEST_P(CancelTest, ACancelFuncIsAFunction) {
  auto [ctx, cancel] = WithCancel(Background());
  const std::function<void()> function = cancel;
  function();
  EXPECT_EQ(ctx.Err(), kCanceled);
}

TEST_P(CancelTest, ACancelFuncKeepsTheContextAndTheContextItsParents) {
  Cancelable child;
  {
    auto [parent, cancel_parent] = WithCancel(Background());
    child = WithCancel(WithValue(parent, kCounted, Counted(7)));
    EXPECT_EQ(child.ctx.Value(kCounted)->value(), 7);
    EXPECT_TRUE(child.ctx.Err().ok());
  }
  EXPECT_EQ(child.ctx.Err(), kCanceled);
  EXPECT_EQ(child.ctx.Value(kCounted)->value(), 7);
  child.ctx = Context();
  EXPECT_EQ(Counted::live, 1);
  child.cancel();
  child.cancel = CancelFunc();
  EXPECT_EQ(Counted::live, 0);
}

// -- Nil.

TEST_P(CancelTest, ToUseANilContextIsAPanic) {
  const Context nil;
  EXPECT_FALSE(nil);
  EXPECT_EQ(nil, Context());
  EXPECT_NE(nil, Background());
  EXPECT_THROW(static_cast<void>(nil.Err()), Panic);
  EXPECT_THROW(static_cast<void>(nil.Done()), Panic);
  EXPECT_THROW(static_cast<void>(nil.Deadline()), Panic);
  EXPECT_THROW(static_cast<void>(nil.Value(kCounted)), Panic);
  EXPECT_THROW(static_cast<void>(Cause(nil)), Panic);
}

TEST_P(CancelTest, NothingIsDerivedFromANilContext) {
  const auto expect_panic = [](const std::function<void()>& derive) {
    try {
      derive();
      ADD_FAILURE() << "no panic";
    } catch (const Panic& panic) {
      EXPECT_STREQ(panic.what(), "cannot create context from nil parent");
    }
  };
  const Context nil;
  expect_panic([&] { static_cast<void>(WithCancel(nil)); });
  expect_panic([&] { static_cast<void>(WithCancelCause(nil)); });
  expect_panic([&] { static_cast<void>(WithoutCancel(nil)); });
  expect_panic(
      [&] { static_cast<void>(WithValue(nil, kCounted, Counted(1))); });
  expect_panic(
      [&] { static_cast<void>(WithDeadline(nil, absl::InfinitePast())); });
  expect_panic([&] { static_cast<void>(WithTimeout(nil, absl::Hours(1))); });
  expect_panic([&] { static_cast<void>(AfterFunc(nil, [] {})); });
  expect_panic([&] { static_cast<void>(WithStopToken(nil, {})); });
  expect_panic([&] {
    static_cast<void>(Context(std::shared_ptr<ContextInterface>())
                          ? nil
                          : WithoutCancel(nil));
  });
}

TEST_P(CancelTest, AMovedContextIsNilWhereItWas) {
  auto [ctx, cancel] = WithCancel(Background());
  const Context moved = std::move(ctx);
  EXPECT_FALSE(ctx);  // NOLINT(bugprone-use-after-move)
  EXPECT_TRUE(moved.Err().ok());
}

// -- WithoutCancel.

TEST_P(CancelTest, WithoutCancelHasTheValuesAndNothingElse) {
  auto [parent, cancel] = WithTimeout(
      WithValue(Background(), kCounted, Counted(3)), absl::Hours(1));
  const Context ctx = WithoutCancel(parent);
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(ctx.Done());
    EXPECT_TRUE(ctx.Err().ok());
    EXPECT_TRUE(Cause(ctx).ok());
    EXPECT_FALSE(ctx.Deadline().has_value());
    EXPECT_EQ(ctx.Value(kCounted)->value(), 3);
    EXPECT_EQ(WithoutCancel(parent).Value(kCounted)->value(), 3);
    cancel(absl::AbortedError("why"));
  }
  auto [child, cancel_child] = WithCancel(ctx);
  EXPECT_TRUE(child.Err().ok());
  cancel_child();
  EXPECT_EQ(Cause(child), kCanceled);
}

}  // namespace
}  // namespace gorge
