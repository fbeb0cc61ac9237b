// tests/support/runtime_test.h -- the fixture of tests that run goroutines.
//
//   class CloseTest : public RuntimeTest {};
//   GORGE_INSTANTIATE(CloseTest);
//   TEST_P(CloseTest, WakesEveryBlockedReceiver) { Run([&] { ... }); }
//
// Each test runs with 1, 2, 4 and 16 Ps. It fails if it leaves a goroutine, a
// stack, an armed timer or a Counted element behind, and is killed, with the
// state of all goroutines on stderr, if it takes longer than its time limit.

#ifndef GORGE_TESTS_SUPPORT_RUNTIME_TEST_H_
#define GORGE_TESTS_SUPPORT_RUNTIME_TEST_H_

#include <cstddef>
#include <functional>
#include <memory>

#include "gtest/gtest.h"

namespace gorge::testing {

class Watchdog;

class RuntimeTest : public ::testing::TestWithParam<int> {
 public:
  RuntimeTest();
  ~RuntimeTest() override;

 protected:
  void SetUp() override;
  void TearDown() override;

  // Runs f as a goroutine and returns once it has ended.
  static void Run(const std::function<void()>& f);

  // Returns once at least n goroutines are parked. Callable from goroutines and
  // plain threads. Polls the scheduler; no sleeping, no guessing.
  static void AwaitParked(int n);

  // Returns once condition() is true, yielding in between.
  static void Await(const std::function<bool()>& condition);

  // This test leaves n goroutines blocked for ever, on purpose.
  void LeavesBlocked(int n) { expected_blocked_ = n; }
  // And n armed timers.
  void LeavesTimers(std::size_t n) { expected_timers_ = n; }

  int procs() const { return GetParam(); }

 private:
  int expected_blocked_ = 0;
  std::size_t expected_timers_ = 0;
  std::unique_ptr<Watchdog> watchdog_;
};

#define GORGE_INSTANTIATE(Suite)                                         \
  INSTANTIATE_TEST_SUITE_P(Procs, Suite, ::testing::Values(1, 2, 4, 16), \
                           ::testing::PrintToStringParamName())

}  // namespace gorge::testing

#endif  // GORGE_TESTS_SUPPORT_RUNTIME_TEST_H_
