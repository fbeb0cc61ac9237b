// The end of the process, whatever goroutines are doing: the status is kept,
// and nobody waits for those that are blocked.

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <utility>

#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/death_test.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::DeathTest;
using ::gorge::testing::InChild;
using ::testing::ExitedWithCode;

using ExitTest = DeathTest;

constexpr int kBlocked = gorge::testing::kSlowdown > 1 ? 100 : 1'000;

// Returns once they are blocked.
void Block(const Chan<int>& c) {
  WaitGroup started;
  for (int i = 0; i < kBlocked; ++i) {
    started.Add(1);
    go([&started, c] {
      started.Done();
      c.Recv();
    });
  }
  started.Wait();
}

TEST_F(ExitTest, ExitWithBlockedGoroutinesKeepsTheStatus) {
  EXPECT_EXIT(InChild([] {
                Block(MakeChan<int>());
                std::exit(7);
              }),
              ExitedWithCode(7), "");
}

TEST_F(ExitTest, TheEndOfRunWithBlockedGoroutinesKeepsTheStatus) {
  EXPECT_EXIT(InChild([] {
                std::exit(gorge::Run([] {
                  Block(MakeChan<int>());
                  return 7;
                }));
              }),
              ExitedWithCode(7), "");
}

TEST_F(ExitTest, AGoroutineMayCallExit) {
  EXPECT_EXIT(InChild([] {
                gorge::Run([] {
                  Block(MakeChan<int>());
                  go([] { std::exit(3); });
                  while (true) Gosched();
                });
              }),
              ExitedWithCode(3), "");
}

TEST_F(ExitTest, AfterAGoexitOfMainTheOthersGoOnUntilExit) {
  EXPECT_EXIT(InChild([] {
                gorge::Run([] {
                  go([] {
                    for (int i = 0; i < 100; ++i) Gosched();
                    std::exit(3);
                  });
                  Goexit();
                });
              }),
              ExitedWithCode(3), "");
}

TEST_F(ExitTest, ExitWhileGoroutinesRunIsClean) {
  EXPECT_EXIT(InChild([] {
                std::atomic<int> turns{0};
                for (int i = 0; i < 8; ++i) {
                  go([&turns] {
                    while (true) {
                      ++turns;
                      Gosched();
                    }
                  });
                }
                while (turns < 1'000) Gosched();
                std::exit(7);
              }),
              ExitedWithCode(7), "");
}

TEST_F(ExitTest, QuickExitRunsItsHandlersWhichMayUseChannels) {
  EXPECT_EXIT(InChild([] {
                static const auto c = MakeChan<int>();
                Block(MakeChan<int>());
                std::at_quick_exit([] {
                  go([] { c.Send(9); });
                  ::_exit(*c.Recv());
                });
                std::quick_exit(7);
              }),
              ExitedWithCode(9), "");
}

TEST_F(ExitTest, QuickExitKeepsTheStatus) {
  EXPECT_EXIT(InChild([] {
                gorge::Run([] {
                  Block(MakeChan<int>());
                  std::quick_exit(7);
                });
              }),
              ExitedWithCode(7), "");
}

TEST_F(ExitTest, AnAtexitHandlerMayStartGoroutinesAndBlock) {
  EXPECT_EXIT(InChild([] {
                static const auto c = MakeChan<int>();
                Block(MakeChan<int>());
                std::atexit([] {
                  go([] { c.Send(9); });
                  ::_exit(*c.Recv());
                });
                std::exit(7);
              }),
              ExitedWithCode(9), "");
}

TEST_F(ExitTest, AnAtexitHandlerMayUseTheRuntimeAfterRun) {
  EXPECT_EXIT(InChild([] {
                std::atexit([] {
                  static const auto c = MakeChan<int>();
                  go([] { c.Send(9); });
                  ::_exit(*c.Recv());
                });
                std::exit(gorge::Run([] { return 7; }));
              }),
              ExitedWithCode(9), "");
}

// A global object whose destructor does what `at_exit` says, if anything.
void (*at_exit)() = nullptr;
struct AtExit {
  ~AtExit() {
    if (at_exit != nullptr) at_exit();
  }
};
const AtExit global;

TEST_F(ExitTest, AGlobalDestructorMayStartGoroutinesAndBlock) {
  EXPECT_EXIT(InChild([] {
                Block(MakeChan<int>());
                at_exit = [] {
                  const auto c = MakeChan<int>();
                  go([c] { c.Send(9); });
                  ::_exit(*c.Recv());
                };
                std::exit(7);
              }),
              ExitedWithCode(9), "");
}

TEST_F(ExitTest, AGlobalDestructorMayShutDown) {
  EXPECT_EXIT(InChild([] {
                Block(MakeChan<int>());
                at_exit = [] { Shutdown(); };
                std::exit(7);
              }),
              ExitedWithCode(7), "");
}

// Does f when its thread ends.
template <class F>
void AtThreadEnd(F f) {
  struct Guard {
    explicit Guard(F function) : f(std::move(function)) {}
    ~Guard() { f(); }
    F f;
  };
  thread_local const Guard guard(std::move(f));
  static_cast<void>(guard);
}

TEST_F(ExitTest, AThreadLocalDestructorOfMainMayBlock) {
  EXPECT_EXIT(InChild([] {
                Block(MakeChan<int>());
                AtThreadEnd([] {
                  const auto c = MakeChan<int>();
                  go([c] { c.Send(9); });
                  ::_exit(*c.Recv());
                });
                std::exit(7);
              }),
              ExitedWithCode(9), "");
}

// The threads that run goroutines end too, when the runtime stops. What their
// thread_local objects then ask for must work or fail clearly.
TEST_F(ExitTest, AThreadLocalDestructorOfAWorkerMayUseAChannel) {
  EXPECT_EXIT(InChild([] {
                const auto c = MakeChan<int>(1);
                gorge::Run([c] { AtThreadEnd([c] { c.Send(9); }); });
                std::exit(*c.Recv());
              }),
              ExitedWithCode(9), "");
}

TEST_F(ExitTest, AThreadLocalDestructorOfAWorkerMayReadyAThread) {
  EXPECT_EXIT(InChild([] {
                const auto c = MakeChan<int>();
                std::thread receiver([c] { std::exit(*c.Recv()); });
                gorge::Run([c] { AtThreadEnd([c] { c.Send(9); }); });
                receiver.join();
              }),
              ExitedWithCode(9), "");
}

TEST_F(ExitTest, AThreadLocalDestructorOfAWorkerMayStartTheRuntimeAgain) {
  EXPECT_EXIT(
      InChild([] {
        const auto c = MakeChan<int>(1);
        gorge::Run([c] { AtThreadEnd([c] { go([c] { c.Send(9); }); }); });
        std::exit(*c.Recv());
      }),
      ExitedWithCode(9), "");
}

TEST_F(ExitTest, AThreadLocalDestructorOfAWorkerMayReadyAGoroutine) {
  EXPECT_EXIT(InChild([] {
                const auto c = MakeChan<int>();
                gorge::Run([c] {
                  AtThreadEnd([c] { static_cast<void>(c.TrySend(1)); });
                  go([c] { c.Recv(); });
                  Gosched();
                });
                std::exit(9);  // It was abandoned: nothing to be readied.
              }),
              ExitedWithCode(9), "");
}

}  // namespace
}  // namespace gorge
