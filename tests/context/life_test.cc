// Contexts where there is no runtime yet, or none any more, and in threads that
// never heard of one.

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gorge/chan/chan.h"
#include "gorge/context/context.h"
#include "gorge/core/go.h"
#include "gorge/core/runtime.h"
#include "gorge/tests/support/death_test.h"
#include "gorge/tests/support/runtime_test.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::DeathTest;
using ::gorge::testing::InChild;
using ::gorge::testing::RuntimeTest;
using ::testing::ExitedWithCode;

constexpr Key<int> kNumber("number");

// Made before main, in whatever order the linker likes; destroyed after it.
const Context global_background = Background();
const Context global_value = WithValue(TODO(), kNumber, 5);
const Cancelable global_cancelable = WithCancel(global_value);
const Cancelable global_deadline =
    WithTimeout(global_cancelable.ctx, absl::Hours(1));
const StopFunc global_stop = AfterFunc(global_cancelable.ctx, [] {});

class LifeTest : public RuntimeTest {};
GORGE_INSTANTIATE(LifeTest);

TEST_P(LifeTest, AContextMadeBeforeMainIsLikeAnyOther) {
  EXPECT_EQ(global_background, Background());
  EXPECT_EQ(*global_deadline.ctx.Value(kNumber), 5);
  EXPECT_TRUE(global_deadline.ctx.Err().ok());
  auto [ctx, cancel] = WithCancel(global_deadline.ctx);
  cancel();
  EXPECT_FALSE(ctx.Err().ok());
}

TEST_P(LifeTest, PlainThreadsDoWithoutGoroutines) {
  auto [root, cancel] = WithCancel(Background());
  std::atomic<int> ended{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&root = root, &ended] {
      auto [ctx, cancel_ctx] = WithTimeout(root, absl::Hours(1));
      ctx.Done().Recv();
      EXPECT_TRUE(absl::IsCancelled(ctx.Err()));
      ++ended;
    });
  }
  cancel();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ended, 8);
}

TEST_P(LifeTest, OutlivesTheRuntimeItWasUsedIn) {
  auto [ctx, cancel] = WithCancel(Background());
  auto [timed, cancel_timed] = WithTimeout(ctx, absl::Hours(1));
  static_cast<void>(ctx.Done());
  Shutdown();
  EXPECT_TRUE(timed.Err().ok());
  cancel();
  EXPECT_TRUE(absl::IsCancelled(timed.Err()));
}

class LifeDeathTest : public DeathTest {};

struct AfterMain {
  ~AfterMain() {
    auto [ctx, cancel] = WithCancel(Background());
    auto [child, cancel_child] = WithTimeout(ctx, absl::Hours(1));
    static_cast<void>(child.Done());
    cancel();
    child.Done().Recv();
    if (absl::IsCancelled(child.Err()) && !Background().Done()) std::_Exit(7);
  }
};

TEST_F(LifeDeathTest, ContextsAreUsableAfterMain) {
  EXPECT_EXIT(InChild([] { static AfterMain after; }), ExitedWithCode(7), "");
}

TEST_F(LifeDeathTest, AnAbandonedGoroutinesContextsDoNotHoldUpTheEnd) {
  EXPECT_EXIT(InChild([] {
                std::exit(gorge::Run([] {
                  const auto started = MakeChan<std::monostate>();
                  go([started] {
                    auto [ctx, cancel] = WithCancel(Background());
                    started.Send({});
                    ctx.Done().Recv();
                  });
                  started.Recv();
                  return 3;
                }));
              }),
              ExitedWithCode(3), "");
}

}  // namespace
}  // namespace gorge
