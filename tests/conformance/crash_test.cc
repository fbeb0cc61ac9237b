// How programs end that panic, exit or run out of stack, as whole processes.

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/core/panic.h"
#include "gorge/core/runtime.h"
#include "gorge/tests/support/death_test.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::DeathTest;
using ::gorge::testing::InChild;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::KilledBySignal;
using ::testing::Not;

using CrashTest = DeathTest;

// Main returns while a goroutine is on its way to panic: from its last call
// into the library on it is waited for, so the message is whole.
TEST_F(CrashTest, APanicWhileMainReturnsIsReportedWhole) {
  for (const int procs : {1, 4}) {
    EXPECT_EXIT(InChild([procs] {
                  Configure({.max_procs = procs});
                  std::exit(gorge::Run([] {
                    std::atomic<bool> about_to{false};
                    go({.name = "late"}, [&about_to] {
                      about_to = true;
                      throw std::runtime_error("at the last moment");
                    });
                    while (!about_to) Gosched();
                    return 0;
                  }));
                }),
                KilledBySignal(SIGABRT),
                ContainsRegex("panic: at the last moment\n\nin goroutine "
                              "[0-9]+ \\[late\\], started at .*\n"));
  }
}

TEST_F(CrashTest, APanicWhileOthersYieldForEverEndsTheProcess) {
  EXPECT_EXIT(InChild([] {
                Configure({.max_procs = 1});
                gorge::Run([] {
                  struct Yields {
                    ~Yields() {
                      for (int i = 0; i < 100; ++i) Gosched();
                    }
                  };
                  for (int i = 0; i < 4; ++i) {
                    go([] {
                      while (true) Gosched();
                    });
                  }
                  const Yields yields;
                  throw std::runtime_error("after all");
                });
              }),
              KilledBySignal(SIGABRT), HasSubstr("panic: after all\n"));
}

TEST_F(CrashTest, OfSeveralPanicsAtOnceOneIsReported) {
  EXPECT_EXIT(InChild([] {
                Configure({.max_procs = 4});
                gorge::Run([] {
                  for (int i = 0; i < 8; ++i) {
                    go([] { throw std::runtime_error("one of many"); });
                  }
                  while (true) Gosched();
                });
              }),
              KilledBySignal(SIGABRT),
              AllOf(HasSubstr("panic: one of many\n\nin goroutine "),
                    Not(ContainsRegex("panic: .*panic: "))));
}

TEST_F(CrashTest, APanicThatIsThrownAgainIsReportedOnce) {
  EXPECT_EXIT(InChild([] {
                gorge::Run([] {
                  try {
                    throw std::runtime_error("first");
                  } catch (...) {
                    throw;
                  }
                });
              }),
              KilledBySignal(SIGABRT),
              AllOf(HasSubstr("panic: first\n"),
                    Not(ContainsRegex("panic: first.*panic: first"))));
}

TEST_F(CrashTest, APanicOutOfAHandlerReportsTheSecond) {
  EXPECT_EXIT(InChild([] {
                gorge::Run([] {
                  try {
                    throw std::runtime_error("first");
                  } catch (const std::runtime_error&) {
                    throw std::runtime_error("second");
                  }
                });
              }),
              KilledBySignal(SIGABRT), HasSubstr("panic: second\n"));
}

TEST_F(CrashTest, AGoOfNilThatIsNotCaughtIsReported) {
  EXPECT_EXIT(InChild([] { gorge::Run([] { go(std::function<void()>()); }); }),
              KilledBySignal(SIGABRT),
              HasSubstr("panic: go of nil func value\n"));
}

TEST_F(CrashTest, APanicOnAThreadOfTheProgramIsTheProgramsOwn) {
  EXPECT_EXIT(InChild([] {
                MaxProcs();
                std::thread([] {
                  const auto c = MakeChan<int>();
                  c.Close();
                  c.Close();
                }).join();
              }),
              KilledBySignal(SIGABRT), HasSubstr("close of closed channel"));
}

int (*volatile recurse)(int) = nullptr;  // The compiler is not told.
int Recurse(int n) {
  volatile char frame[100];
  frame[0] = static_cast<char>(n);
  return recurse(n + 1) + frame[0];
}

TEST_F(CrashTest, AnEndlessRecursionSaysSoAndSaysLittle) {
  EXPECT_EXIT(InChild([] {
                recurse = &Recurse;
                gorge::Run([] { static_cast<void>(Recurse(0)); });
              }),
              KilledBySignal(SIGABRT),
              AllOf(ContainsRegex("^fatal error: stack overflow\n"),
                    ::testing::ResultOf(
                        [](const std::string& text) { return text.size(); },
                        ::testing::Lt(1'000u))));
}

TEST_F(CrashTest, ASignalThatKillsIsSeenInTheStatus) {
  for (const int signal : {SIGTERM, SIGQUIT, SIGKILL, SIGSEGV, SIGBUS}) {
    EXPECT_EXIT(InChild([signal] {
                  ::signal(signal, SIG_DFL);
                  gorge::Run([signal] {
                    ::kill(::getpid(), signal);
                    while (true) Gosched();
                  });
                }),
                KilledBySignal(signal), "");
  }
}

}  // namespace
}  // namespace gorge
