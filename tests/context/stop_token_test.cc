#include "gorge/context/stop_token.h"

#include <atomic>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gorge/chan/chan.h"
#include "gorge/context/context.h"
#include "gorge/core/runtime.h"
#include "gorge/tests/support/counted.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::Counted;
using ::gorge::testing::kKinds;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::gorge::testing::Team;

const absl::Status kCanceled = absl::CancelledError("context canceled");
constexpr Key<Counted> kCounted("counted");

// A token is taken from a source that stays.
template <class Source>
concept GivesToken = requires(Source source) {
  std::forward<Source>(source).get_token();
};
static_assert(GivesToken<const StopSource&>);
static_assert(!GivesToken<StopSource&&>);

class StopTokenTest : public RuntimeTest {};
GORGE_INSTANTIATE(StopTokenTest);

TEST_P(StopTokenTest, AStopCancelsTheContextBeforeItReturns) {
  std::stop_source source;
  auto [ctx, cancel] = WithStopToken(Background(), source.get_token());
  auto [child, cancel_child] = WithCancel(ctx);
  EXPECT_TRUE(ctx.Err().ok());
  source.request_stop();
  for (const Context& each : {ctx, child}) {
    EXPECT_EQ(each.Err(), kCanceled);
    EXPECT_TRUE(each.Done().TryRecv().ready);
  }
}

TEST_P(StopTokenTest, AStoppedTokenMakesAnEndedContext) {
  std::stop_source source;
  source.request_stop();
  EXPECT_EQ(WithStopToken(Background(), source.get_token()).ctx.Err(),
            kCanceled);
}

TEST_P(StopTokenTest, AContextEndsInTheUsualWaysToo) {
  std::stop_source source;
  auto [parent, cancel_parent] = WithCancelCause(Background());
  auto [one, cancel_one] = WithStopToken(parent, source.get_token());
  auto [two, cancel_two] = WithStopToken(parent, source.get_token());
  auto [none, cancel_none] = WithStopToken(parent, std::stop_token());
  cancel_one();
  EXPECT_EQ(one.Err(), kCanceled);
  EXPECT_TRUE(two.Err().ok());
  cancel_parent(absl::AbortedError("why"));
  EXPECT_EQ(Cause(two), absl::AbortedError("why"));
  EXPECT_EQ(Cause(none), absl::AbortedError("why"));
  source.request_stop();
  EXPECT_EQ(Cause(one), kCanceled);
  EXPECT_EQ(WithStopToken(parent, std::stop_source().get_token()).ctx.Err(),
            kCanceled);
}

TEST_P(StopTokenTest, ATokenForgetsTheContextsThatEnded) {
  Run([] {
    std::stop_source source;
    for (int i = 0; i < 100; ++i) {
      auto [ctx, cancel] = WithStopToken(
          WithValue(Background(), kCounted, Counted(1)), source.get_token());
      ASSERT_EQ(Counted::live, 1);
    }
    EXPECT_EQ(Counted::live, 0);
  });
}

TEST_P(StopTokenTest, AStoppedTokenForgetsItsContext) {
  Run([] {
    std::stop_source source;
    {
      auto [ctx, cancel] = WithStopToken(
          WithValue(Background(), kCounted, Counted(1)), source.get_token());
      source.request_stop();
    }
    // A goroutine takes the callback off.
    Await([] { return Counted::live == 0; });
  });
}

TEST_P(StopTokenTest, StopsAndCancelsMeet) {
  Run([] {
    for (int round = 0; round < Scaled(1'000); ++round) {
      std::stop_source source;
      auto [parent, cancel_parent] = WithCancel(Background());
      std::optional<Cancelable> made;
      Team team;
      if (round % 3 != 0) made = WithStopToken(parent, source.get_token());
      team.Go(kKinds[round % 2], [&source] { source.request_stop(); });
      team.Go(kKinds[round / 2 % 2],
              [cancel = made ? made->cancel : cancel_parent] { cancel(); });
      if (!made) made = WithStopToken(parent, source.get_token());
      auto [child, cancel_child] = WithCancel(made->ctx);
      child.Done().Recv();
      EXPECT_EQ(made->ctx.Err(), kCanceled);
      made.reset();
      team.Wait();
    }
  });
}

TEST_P(StopTokenTest, TheEndOfAContextStopsItsTokens) {
  Run([] {
    const auto stopped = MakeChan<std::monostate>();
    auto [ctx, cancel] = WithCancel(Background());
    const StopSource source = ToStopToken(ctx);
    const StopSource copy = source;
    const std::stop_token token = copy.get_token();
    EXPECT_EQ(token, source.get_token());
    EXPECT_TRUE(token.stop_possible());
    EXPECT_FALSE(token.stop_requested());
    const std::stop_callback callback(token, [stopped] { stopped.Close(); });
    cancel();
    stopped.Recv();
    EXPECT_TRUE(token.stop_requested());
    EXPECT_TRUE(source.stop_requested());
  });
}

TEST_P(StopTokenTest, OfAnEndedContextAreStoppedAtOnce) {
  const Context ctx = WithCancel(Background()).ctx;
  const StopSource source = ToStopToken(ctx);
  EXPECT_TRUE(source.get_token().stop_requested());
}

TEST_P(StopTokenTest, AContextForgetsTheSourcesThatAreGone) {
  Run([] {
    auto [ctx, cancel] = WithCancel(Background());
    std::stop_token token;
    {
      const StopSource source = ToStopToken(ctx);
      token = source.get_token();
    }
    cancel();
    EXPECT_FALSE(token.stop_requested());
    // Nobody is left who could stop it.
    EXPECT_FALSE(token.stop_possible());
  });
}

TEST_P(StopTokenTest, ThereAndBack) {
  Run([] {
    auto [ctx, cancel] = WithCancel(Background());
    const StopSource source = ToStopToken(ctx);
    auto [copy, cancel_copy] = WithStopToken(Background(), source.get_token());
    cancel();
    copy.Done().Recv();
    EXPECT_EQ(copy.Err(), kCanceled);
  });
}

}  // namespace
}  // namespace gorge
