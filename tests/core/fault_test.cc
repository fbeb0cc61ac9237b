// Stack overflow has a message; other faults are the program's own.

#include "gorge/core/internal/fault.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/core/internal/goroutine.h"
#include "gorge/core/internal/sanitizer.h"
#include "gorge/core/runtime.h"
#include "gorge/tests/support/death_test.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::DeathTest;
using ::gorge::testing::DiedOfFault;
using ::gorge::testing::InChild;
using ::testing::ContainsRegex;
using ::testing::ExitedWithCode;
using ::testing::HasSubstr;
using ::testing::KilledBySignal;
using ::testing::Not;

constexpr char kOverflow[] = "stack overflow";

// Recurses for ever with frames of this size, which it uses from the top down,
// as a program compiled with -fstack-clash-protection does.
std::size_t Dive(std::size_t frame);
std::size_t (*volatile dive)(std::size_t) = &Dive;  // The compiler is not told.

std::size_t Dive(std::size_t frame) {
  auto* block = static_cast<volatile char*>(__builtin_alloca(frame));
  for (std::size_t i = frame; i >= 4096; i -= 4096) block[i - 1] = 1;
  block[0] = 1;
  const std::size_t below = dive(frame);
  return below + static_cast<std::size_t>(block[0]);
}

// The child's program: runs f as a goroutine that is called "diver".
template <class F>
[[noreturn]] void Diver(const GoOptions& options, F f) {
  InChild([&] {
    gorge::Run([&] {
      GoOptions named = options;
      named.name = "diver";
      go(named, f);
      while (true) Gosched();
    });
  });
}

std::string OverflowMessage(const std::string& kib) {
  return "fatal error: stack overflow\nthe stack of goroutine [0-9]+ "
         "\\[diver\\], started at .*fault_test.cc:[0-9]+, has " +
         kib + " KiB; GoOptions::stack_size gives it more\n";
}

class OverflowTest : public DeathTest,
                     public ::testing::WithParamInterface<std::size_t> {};

// The sanitizers begin with a frame's far end, and so jump over the guard.
constexpr bool kSanitized = GORGE_ASAN || GORGE_TSAN;
INSTANTIATE_TEST_SUITE_P(FrameSize, OverflowTest,
                         ::testing::Values(64, 5 * 1024,
                                           kSanitized ? 6 * 1024 : 100 * 1024,
                                           kSanitized ? 7 * 1024 : 1 << 20),
                         ::testing::PrintToStringParamName());

TEST_P(OverflowTest, NamesTheGoroutineAndItsStack) {
  EXPECT_EXIT(Diver({}, [] { Dive(GetParam()); }), KilledBySignal(SIGABRT),
              ContainsRegex(OverflowMessage("240")));
}

TEST_P(OverflowTest, NamesTheSizeThatWasAskedFor) {
  EXPECT_EXIT(Diver({.stack_size = 1'000'000}, [] { Dive(GetParam()); }),
              KilledBySignal(SIGABRT), ContainsRegex(OverflowMessage("1008")));
}

using FaultTest = DeathTest;

TEST_F(FaultTest, TheMainGoroutineHasItsOverflowReportedToo) {
  EXPECT_EXIT(InChild([] { gorge::Run([] { Dive(64); }); }),
              KilledBySignal(SIGABRT),
              ContainsRegex("fatal error: stack overflow\nthe stack of "
                            "goroutine [0-9]+ \\[main\\]"));
}

TEST_F(FaultTest, AnOverflowAfterManyParksIsReported) {
  EXPECT_EXIT(Diver({},
                    [] {
                      for (int i = 0; i < 100; ++i) Gosched();
                      Dive(64);
                    }),
              KilledBySignal(SIGABRT), ContainsRegex(OverflowMessage("240")));
}

TEST_F(FaultTest, AnOverflowIsReportedThoughSigabrtIsBlocked) {
  EXPECT_EXIT(Diver({},
                    [] {
                      sigset_t abort_only;
                      sigemptyset(&abort_only);
                      sigaddset(&abort_only, SIGABRT);
                      ::pthread_sigmask(SIG_BLOCK, &abort_only, nullptr);
                      Dive(64);
                    }),
              KilledBySignal(SIGABRT), ContainsRegex(OverflowMessage("240")));
}

// Not null itself, which the sanitizers see before the processor does.
char* volatile no_memory = reinterpret_cast<char*>(64);
void TouchNoMemory() { *no_memory = 1; }

TEST_F(FaultTest, ANullDereferenceIsNotCalledAnOverflow) {
  EXPECT_EXIT(Diver({}, [] { TouchNoMemory(); }), DiedOfFault,
              Not(HasSubstr(kOverflow)));
}

TEST_F(FaultTest, AFaultInAPlainThreadIsNotCalledAnOverflow) {
  EXPECT_EXIT(InChild([] {
                MaxProcs();  // The runtime is there.
                std::thread(&TouchNoMemory).join();
              }),
              DiedOfFault, Not(HasSubstr(kOverflow)));
}

TEST_F(FaultTest, ATouchOfAnothersGuardIsNotCalledAnOverflow) {
  EXPECT_EXIT(Diver({},
                    [] {
                      const auto out = MakeChan<char*>();
                      go([out] {
                        out.Send(internal::Self()->stack.low);
                        out.Recv();
                      });
                      *const_cast<volatile char*>(*out.Recv()) = 1;
                    }),
              DiedOfFault, Not(HasSubstr(kOverflow)));
}

// The program's own handlers, installed before the runtime starts.

void Install(int signal, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(signal, &action, nullptr);
}

void ExitIfAt64(int, siginfo_t* info, void*) {
  ::_exit(info->si_addr == no_memory ? 42 : 43);
}

TEST_F(FaultTest, TheProgramsOwnHandlerIsAskedAboutOtherFaults) {
  EXPECT_EXIT(InChild([] {
                Install(SIGSEGV, &ExitIfAt64);
                gorge::Run(&TouchNoMemory);
              }),
              ExitedWithCode(42), "");
}

TEST_F(FaultTest, AHandlerOfTheOldKindIsAskedToo) {
  EXPECT_EXIT(InChild([] {
                ::signal(SIGSEGV, [](int signal) { ::_exit(signal + 20); });
                gorge::Run(&TouchNoMemory);
              }),
              ExitedWithCode(SIGSEGV + 20), "");
}

TEST_F(FaultTest, TheProgramsOwnHandlerWorksInPlainThreads) {
  EXPECT_EXIT(InChild([] {
                Install(SIGSEGV, &ExitIfAt64);
                MaxProcs();
                std::thread(&TouchNoMemory).join();
              }),
              ExitedWithCode(42), "");
}

TEST_F(FaultTest, TheProgramsOwnHandlerIsNotAskedAboutAnOverflow) {
  EXPECT_EXIT(InChild([] {
                Install(SIGSEGV, &ExitIfAt64);
                gorge::Run([] { Dive(64); });
              }),
              KilledBySignal(SIGABRT), HasSubstr(kOverflow));
}

char* protected_page = nullptr;

// A collector's write barrier, say.
void Unprotect(int, siginfo_t* info, void*) {
  if (info->si_addr != protected_page) ::_exit(43);
  ::mprotect(protected_page, 4096, PROT_READ | PROT_WRITE);
}

TEST_F(FaultTest, AHandlerThatMendsTheFaultLetsTheGoroutineGoOn) {
  EXPECT_EXIT(InChild([] {
                Install(SIGSEGV, &Unprotect);
                void* page = ::mmap(nullptr, 4096, PROT_NONE,
                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                protected_page = static_cast<char*>(page);
                std::exit(gorge::Run([] {
                  *const_cast<volatile char*>(protected_page) = 42;
                  return *protected_page;
                }));
              }),
              ExitedWithCode(42), "");
}

TEST_F(FaultTest, ABusErrorGoesToTheProgramsOwnHandler) {
  EXPECT_EXIT(InChild([] {
                Install(SIGBUS, [](int, siginfo_t*, void*) { ::_exit(44); });
                const int file = ::memfd_create("empty", 0);
                void* page = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file,
                                    0);  // Beyond the file's end.
                gorge::Run([page] {
                  static_cast<void>(*static_cast<volatile char*>(page));
                });
              }),
              ExitedWithCode(44), "");
}

TEST_F(FaultTest, AHandlerInstalledLaterReplacesOurs) {
  EXPECT_EXIT(InChild([] {
                gorge::Run([] {
                  Install(SIGSEGV, &ExitIfAt64);
                  TouchNoMemory();
                });
              }),
              ExitedWithCode(42), "");
}

// Sent by kill, it is no fault that would come again if the handler returns.
TEST_F(FaultTest, ASignalThatIsSentHasItsDefaultEffect) {
  EXPECT_EXIT(InChild([] {
                ::signal(SIGSEGV, SIG_DFL);
                MaxProcs();
                ::kill(::getpid(), SIGSEGV);
                ::_exit(45);
              }),
              KilledBySignal(SIGSEGV), "");
}

TEST_F(FaultTest, ASignalThatIsSentAndIgnoredStaysIgnored) {
  EXPECT_EXIT(InChild([] {
                ::signal(SIGSEGV, SIG_IGN);
                MaxProcs();
                for (int i = 0; i < 3; ++i) ::kill(::getpid(), SIGSEGV);
                ::_exit(45);
              }),
              ExitedWithCode(45), "");
}

TEST_F(FaultTest, ASignalThatWasSentDoesNotDisarmTheMessage) {
  EXPECT_EXIT(InChild([] {
                ::signal(SIGSEGV, SIG_IGN);
                MaxProcs();
                ::kill(::getpid(), SIGSEGV);
                gorge::Run([] { Dive(64); });
              }),
              KilledBySignal(SIGABRT), HasSubstr(kOverflow));
}

TEST_F(FaultTest, OtherSignalsAreNotTouched) {
  EXPECT_EXIT(InChild([] { gorge::Run([] { ::raise(SIGTERM); }); }),
              KilledBySignal(SIGTERM), "");
  EXPECT_EXIT(InChild([] {
                ::signal(SIGTRAP, SIG_IGN);
                std::exit(gorge::Run([] { return ::raise(SIGTRAP) + 3; }));
              }),
              ExitedWithCode(3), "");
}

}  // namespace
}  // namespace gorge
