// Case B30: a coroutine that is destroyed while it waits is unwound by an
// exception that catch (...) swallows and noexcept turns into an abort. Here
// goroutines that are blocked for ever are abandoned as in Go: nothing of
// theirs runs, no handler and no destructor.

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <functional>
#include <stdexcept>

#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/core/runtime.h"
#include "gorge/select/select.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/census.h"
#include "gorge/tests/support/death_test.h"
#include "gorge/tests/support/runtime_test.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::DeathTest;
using ::gorge::testing::InChild;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::TakeCensus;
using ::testing::ExitedWithCode;

// How much of the goroutines ran that must not.
std::atomic<int> ran{0};

struct Witness {
  ~Witness() { ++ran; }
};

struct BlocksInDestructor {
  const std::function<void()>& block;
  // Noexcept, as destructors are.
  ~BlocksInDestructor() {
    const Witness witness;
    block();
    ++ran;
  }
};

void BlockNoexcept(const std::function<void()>& block) noexcept {
  const Witness witness;
  block();
  ++ran;
}

// Each of these calls block() in a place that is sensitive to unwinding.

void InTryBlock(const std::function<void()>& block) {
  const Witness witness;
  try {
    const Witness inner;
    block();
    ++ran;
  } catch (...) {
    ++ran;
  }
  ++ran;
}

void InNoexceptFunction(const std::function<void()>& block) {
  BlockNoexcept(block);
  ++ran;
}

void InDestructor(const std::function<void()>& block) {
  try {
    const Witness witness;
    const BlocksInDestructor last{block};
  } catch (...) {
    ++ran;
  }
}

void WhileAnExceptionUnwinds(const std::function<void()>& block) {
  try {
    const Witness witness;
    const BlocksInDestructor last{block};
    throw std::runtime_error("unwinds");
  } catch (...) {
    ++ran;
  }
}

void InHandler(const std::function<void()>& block) {
  const Witness witness;
  try {
    throw std::runtime_error("handled");
  } catch (const std::runtime_error&) {
    block();
    ++ran;
  }
}

void WhileGoexitUnwinds(const std::function<void()>& block) {
  const Witness witness;
  const BlocksInDestructor last{block};
  Goexit();
}

constexpr void (*kPlaces[])(const std::function<void()>&) = {
    &InTryBlock, &InNoexceptFunction, &InDestructor, &WhileAnExceptionUnwinds,
    &InHandler,  &WhileGoexitUnwinds};

// Ways of blocking, and what could end them.
struct Endless {
  Chan<int> receive = MakeChan<int>();
  Chan<int> send = MakeChan<int>();
  WaitGroup group;

  Endless() { group.Add(1); }

  // All that would wake the goroutines, were they still there.
  void End() {
    receive.Close();
    static_cast<void>(send.TryRecv());
    group.Done();
  }
};

// Starts a goroutine for each place and way, and returns their number.
int BlockAll(Endless& endless) {
  const std::function<void()> ways[] = {
      [&] { endless.receive.Recv(); },
      [&] { endless.send.Send(1); },
      [&] { endless.group.Wait(); },
      [&] { Select(OnRecv(endless.receive), OnSend(endless.send, 1)); },
      [] { Chan<int>().Recv(); },
      [] { Select(); },
  };
  int count = 0;
  for (const auto place : kPlaces) {
    for (const std::function<void()>& way : ways) {
      // The goroutine's own copy, on its stack.
      go([place, way] { place(way); });
      ++count;
    }
  }
  return count;
}

void AwaitBlocked(int n) {
  while (TakeCensus().waiting < n) Gosched();
}

class AbandonedTest : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    ran = 0;
  }
};
GORGE_INSTANTIATE(AbandonedTest);

TEST_P(AbandonedTest, ShutdownRunsNothingOfTheirs) {
  Endless endless;
  AwaitBlocked(BlockAll(endless));
  const int before = ran;

  Shutdown();

  EXPECT_EQ(ran, before);
  endless.End();
  Run([] {
    for (int i = 0; i < 100; ++i) Gosched();
  });
  EXPECT_EQ(ran, before);
}

// Neither the thread that stopped them nor those that run goroutines after them
// take over what they were in the middle of.
TEST_P(AbandonedTest, TheirExceptionsAreNobodyElses) {
  Endless endless;
  AwaitBlocked(BlockAll(endless));
  const auto expect_none = [] {
    EXPECT_EQ(std::uncaught_exceptions(), 0);
    EXPECT_EQ(std::current_exception(), nullptr);
  };
  Run(expect_none);

  Shutdown();

  expect_none();
  Run(expect_none);
}

// The runtime that comes next has blocked goroutines of its own.
TEST_P(AbandonedTest, OverAndOver) {
  for (int i = 0; i < 10; ++i) {
    Endless endless;
    AwaitBlocked(BlockAll(endless));
    const int before = ran;
    Shutdown();
    ASSERT_EQ(ran, before);
  }
}

using AbandonedAtExitTest = DeathTest;

// What the process ends with if the goroutines went on.
constexpr int kWentOn = 99;
std::atomic<bool> all_blocked{false};
struct Judge {
  ~Judge() {
    if (all_blocked && ran != 0) ::_exit(kWentOn);
  }
} const judge;

// For the child: leaves them all blocked. `endless` lives on.
void LeaveBlocked() {
  static Endless& endless = *new Endless;
  AwaitBlocked(BlockAll(endless));
  ran = 0;
  all_blocked = true;
}

TEST_F(AbandonedAtExitTest, TheEndOfRunKeepsTheStatus) {
  EXPECT_EXIT(InChild([] {
                std::exit(gorge::Run([] {
                  LeaveBlocked();
                  return 7;
                }));
              }),
              ExitedWithCode(7), "^$");
}

TEST_F(AbandonedAtExitTest, ExitKeepsTheStatus) {
  EXPECT_EXIT(InChild([] {
                LeaveBlocked();
                std::exit(7);
              }),
              ExitedWithCode(7), "^$");
}

TEST_F(AbandonedAtExitTest, ExitByAGoroutineKeepsTheStatus) {
  EXPECT_EXIT(InChild([] {
                gorge::Run([] {
                  LeaveBlocked();
                  std::exit(7);
                });
              }),
              ExitedWithCode(7), "^$");
}

TEST_F(AbandonedAtExitTest, ExitWhileAnExceptionIsHandledKeepsTheStatus) {
  EXPECT_EXIT(InChild([] {
                gorge::Run([] {
                  try {
                    throw std::runtime_error("handled");
                  } catch (const std::runtime_error&) {
                    LeaveBlocked();
                    std::exit(7);
                  }
                });
              }),
              ExitedWithCode(7), "^$");
}

}  // namespace
}  // namespace gorge
