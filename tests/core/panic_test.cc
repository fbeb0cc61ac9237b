// What becomes of an exception that leaves a goroutine's function.

#include "gorge/core/panic.h"

#include <signal.h>

#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>

#include "gmock/gmock.h"
#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/core/runtime.h"
#include "gorge/tests/support/death_test.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::DeathTest;
using ::gorge::testing::InChild;
using ::testing::ContainsRegex;
using ::testing::ExitedWithCode;
using ::testing::HasSubstr;
using ::testing::KilledBySignal;

using PanicTest = DeathTest;

[[noreturn]] void YieldForEver() {
  while (true) Gosched();
}

[[noreturn]] void Throw(const char* what) { throw std::runtime_error(what); }

// Outside of the macros, which have but one line.
constexpr int kStartLine = __LINE__ + 2;
void StartTheThrower() {
  go({.name = "thrower"}, [] { throw std::runtime_error("out of luck"); });
}

TEST_F(PanicTest, SaysWhatWhoAndWhereStarted) {
  EXPECT_EXIT(InChild([] {
                gorge::Run([] {
                  StartTheThrower();
                  YieldForEver();
                });
              }),
              KilledBySignal(SIGABRT),
              ContainsRegex("panic: out of luck\n\nin goroutine [0-9]+ "
                            "\\[thrower\\], started at .*panic_test.cc:" +
                            std::to_string(kStartLine) + "\n"));
}

TEST_F(PanicTest, AGoroutineWithoutANameHasNoBrackets) {
  EXPECT_EXIT(InChild([] {
                gorge::Run([] {
                  go([] { throw std::runtime_error("anonymous"); });
                  YieldForEver();
                });
              }),
              KilledBySignal(SIGABRT),
              ContainsRegex("panic: anonymous\n\nin goroutine [0-9]+, started "
                            "at .*panic_test.cc:[0-9]+\n"));
}

TEST_F(PanicTest, EndsTheProcessFromRunsFunctionToo) {
  EXPECT_EXIT(
      InChild([] { gorge::Run([] { throw std::runtime_error("in main"); }); }),
      KilledBySignal(SIGABRT),
      ContainsRegex("panic: in main\n\nin goroutine [0-9]+ \\[main\\], "));
}

TEST_F(PanicTest, AnExceptionOfAnyTypeIsReported) {
  EXPECT_EXIT(InChild([] { gorge::Run([] { throw 17; }); }),
              KilledBySignal(SIGABRT),
              HasSubstr("panic: an exception that is no std::exception\n"));
}

TEST_F(PanicTest, APanicOfTheLibraryIsAnExceptionLikeOthers) {
  EXPECT_EXIT(InChild([] {
                gorge::Run([] {
                  const auto c = MakeChan<int>(1);
                  c.Close();
                  c.Send(1);
                });
              }),
              KilledBySignal(SIGABRT),
              HasSubstr("panic: send on closed channel\n"));
}

TEST_F(PanicTest, DestructorsRunBeforeTheProcessEnds) {
  EXPECT_EXIT(InChild([] {
                struct Says {
                  ~Says() { internal::WriteError("destroyed\n"); }
                };
                gorge::Run([] {
                  const Says says;
                  throw std::runtime_error("after that");
                });
              }),
              KilledBySignal(SIGABRT), HasSubstr("destroyed\npanic: after"));
}

TEST_F(PanicTest, TheTerminateHandlerIsCalled) {
  EXPECT_EXIT(InChild([] {
                std::set_terminate([] { std::_Exit(5); });
                gorge::Run([] { throw std::runtime_error("handled"); });
              }),
              ExitedWithCode(5), HasSubstr("panic: handled\n"));
}

TEST_F(PanicTest, WhatIsCaughtInsideIsNobodysBusiness) {
  EXPECT_EXIT(InChild([] {
                std::exit(gorge::Run([] {
                  try {
                    throw std::runtime_error("caught");
                  } catch (const std::runtime_error&) {
                    return 3;
                  }
                }));
              }),
              ExitedWithCode(3), ::testing::Not(HasSubstr("panic")));
}

TEST_F(PanicTest, AnExceptionInANoexceptFunctionTerminates) {
  EXPECT_EXIT(
      InChild([] { gorge::Run([]() noexcept { Throw("not allowed"); }); }),
      KilledBySignal(SIGABRT), HasSubstr("not allowed"));
}

TEST_F(PanicTest, AGoexitThatACatchAllStopsIsFatal) {
  EXPECT_EXIT(InChild([] {
                gorge::Run([] {
                  try {
                    Goexit();
                  } catch (...) {
                  }
                });
              }),
              KilledBySignal(SIGABRT),
              ContainsRegex("fatal error: Goexit was stopped by a catch "
                            "\\(...\\) that does not rethrow\nin goroutine "
                            "[0-9]+ \\[main\\]"));
}

TEST_F(PanicTest, AGoexitThroughANoexceptFunctionTerminates) {
  EXPECT_EXIT(InChild([] {
                std::set_terminate([] { std::_Exit(5); });
                gorge::Run([] { []() noexcept { Goexit(); }(); });
              }),
              ExitedWithCode(5), "");
}

TEST_F(PanicTest, AnExceptionOutOfADestructorDuringGoexitEndsTheProcess) {
  EXPECT_EXIT(InChild([] {
                struct Throws {
                  ~Throws() noexcept(false) {
                    throw std::runtime_error("while leaving");
                  }
                };
                gorge::Run([] {
                  const Throws throws;
                  Goexit();
                });
              }),
              KilledBySignal(SIGABRT), "");
}

}  // namespace
}  // namespace gorge
