#include "gorge/core/internal/check.h"

#include <signal.h>

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "gorge/core/go.h"
#include "gorge/core/internal/goroutine_state.h"
#include "gorge/core/panic.h"
#include "gorge/core/runtime.h"
#include "gorge/tests/support/death_test.h"
#include "gtest/gtest.h"

namespace gorge::internal {
namespace {

using ::gorge::testing::DeathTest;
using ::gorge::testing::InChild;
using ::testing::KilledBySignal;

using CheckTest = DeathTest;

TEST_F(CheckTest, APanicIsALogicErrorWithItsText) {
  static_assert(std::is_base_of_v<std::logic_error, Panic>);
  try {
    RaisePanic("close of nil channel");
  } catch (const std::logic_error& e) {
    EXPECT_STREQ(e.what(), "close of nil channel");
    EXPECT_NE(dynamic_cast<const Panic*>(&e), nullptr);
    return;
  }
  FAIL() << "nothing was thrown";
}

TEST_F(CheckTest, AnInvariantThatHoldsCostsNothingAndIsLookedAtOnce) {
  int looks = 0;
  GORGE_CHECK(++looks == 1, "never printed");
  EXPECT_EQ(looks, 1);
}

TEST_F(CheckTest, ABrokenInvariantIsNamedWithItsPlace) {
  EXPECT_EXIT(InChild([] { GORGE_CHECK(1 > 2, "one is more than two"); }),
              KilledBySignal(SIGABRT),
              "gorge: broken invariant at .*check_test.cc:[0-9]+: one is more "
              "than two");
}

TEST_F(CheckTest, FatalSaysWhyAndAborts) {
  EXPECT_EXIT(InChild([] { Fatal("nothing can be trusted"); }),
              KilledBySignal(SIGABRT), "^fatal error: nothing can be trusted");
}

TEST_F(CheckTest, FatalIsNotCatchable) {
  EXPECT_EXIT(InChild([] {
                try {
                  Fatal("this is the end");
                } catch (...) {
                  std::exit(0);
                }
              }),
              KilledBySignal(SIGABRT), "fatal error: this is the end");
}

TEST_F(CheckTest, FatalNamesTheGoroutine) {
  EXPECT_EXIT(InChild([] {
                gorge::Run([] {
                  go({.name = "culprit"}, [] { Fatal("told you"); });
                  while (true) Gosched();
                });
              }),
              KilledBySignal(SIGABRT),
              "fatal error: told you\nin goroutine [0-9]+ \\[culprit\\], "
              "started at .*check_test.cc:[0-9]+");
}

TEST_F(CheckTest, InAPlainThreadFatalNamesNoGoroutine) {
  EXPECT_EXIT(InChild([] {
                MaxProcs();  // The runtime is there.
                Fatal("told you");
              }),
              KilledBySignal(SIGABRT), "^fatal error: told you\n$");
}

TEST_F(CheckTest, AStateThatWasNotLeftAsExpectedIsABrokenInvariant) {
  EXPECT_EXIT(InChild([] {
                std::atomic<State> state{State::kRunning};
                Transition(state, State::kWaiting, State::kRunnable);
              }),
              KilledBySignal(SIGABRT),
              "a goroutine is in the state its owner left it in");
}

TEST_F(CheckTest, LongTextsAreWrittenWhole) {
  static const std::string text(100'000, 'x');
  EXPECT_EXIT(InChild([] { Fatal(text.c_str()); }), KilledBySignal(SIGABRT),
              "fatal error: x{200}.*x{200}\n");
}

}  // namespace
}  // namespace gorge::internal
