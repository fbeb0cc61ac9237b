// tests/support/death_test.h -- for tests of how a process ends.
//
//   class ExitTest : public DeathTest {};
//   TEST_F(ExitTest, KeepsTheStatus) {
//     EXPECT_EXIT(InChild([] { std::exit(7); }), ExitedWithCode(7), "");
//   }
//
// The child is a new process, not a fork of this one: it begins its life with
// the test, and without a runtime.

#ifndef GORGE_TESTS_SUPPORT_DEATH_TEST_H_
#define GORGE_TESTS_SUPPORT_DEATH_TEST_H_

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "gorge/tests/support/scale.h"
#include "gtest/gtest.h"

namespace gorge::testing {

class DeathTest : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

// Calls f(), then exit(0). A process that hangs dies of SIGALRM.
template <class F>
[[noreturn]] void InChild(F&& f) {
  ::alarm(kSlowdown > 1 ? 120 : 30);
  std::forward<F>(f)();
  std::exit(0);
}

// How a process ends that touches memory it does not have: the sanitizers
// catch the signal.
inline bool DiedOfFault(int status) {
  if (GORGE_ASAN || GORGE_TSAN) {
    return WIFEXITED(status) && WEXITSTATUS(status) != 0;
  }
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

}  // namespace gorge::testing

#endif  // GORGE_TESTS_SUPPORT_DEATH_TEST_H_
