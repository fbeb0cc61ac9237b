// Run: the main goroutine, and what becomes of the others when it returns.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/core/panic.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;

// In the tests, Run is gorge::Run and not the fixture's.
class RunTest : public RuntimeTest {
 protected:
  template <class F>
  static int Run(F f) {
    return gorge::Run(std::move(f));
  }
};

GORGE_INSTANTIATE(RunTest);

int Five() { return 5; }

TEST_P(RunTest, ReturnsTheFunctionsInt) {
  EXPECT_EQ(Run([] { return 42; }), 42);
  EXPECT_EQ(Run(&Five), 5);
  EXPECT_EQ(Run(std::function<int()>([] { return -1; })), -1);
}

TEST_P(RunTest, ReturnsZeroForAFunctionWithoutResult) {
  int calls = 0;
  EXPECT_EQ(Run([&] { ++calls; }), 0);
  EXPECT_EQ(calls, 1);
}

TEST_P(RunTest, TakesAMoveOnlyFunction) {
  EXPECT_EQ(Run([p = std::make_unique<int>(6)] { return *p; }), 6);
}

TEST_P(RunTest, TheFunctionIsAGoroutineAndTheOnlyOne) {
  Run([] { EXPECT_EQ(NumGoroutine(), 1); });
}

TEST_P(RunTest, MayBeCalledAgainAndAgain) {
  for (int i = 0; i < Scaled(200) + 2; ++i) {
    const int result = Run([i] {
      const auto c = MakeChan<int>();
      go([c, i] { c.Send(i); });
      return *c.Recv();
    });
    ASSERT_EQ(result, i);
  }
}

TEST_P(RunTest, StopsTheRuntime) {
  Run([] {});
  EXPECT_EQ(NumGoroutine(), 0);
  Configure({.max_procs = procs()});  // Panics while the runtime runs.
}

TEST_P(RunTest, IsAPanicWhileAnotherRuns) {
  Run([] {
    std::thread([] {
      EXPECT_THROW(gorge::Run([] { ADD_FAILURE() << "it was run"; }), Panic);
    }).join();
  });
  Run([] {});
}

TEST_P(RunTest, IsAPanicIfTheRuntimeIsShutDownMeanwhile) {
  const auto started = MakeChan<int>();
  const auto never = MakeChan<int>();
  std::thread other([&] {
    started.Recv();
    Shutdown();
  });

  EXPECT_THROW(Run([started, never] {
                 started.Send(1);
                 never.Recv();
               }),
               Panic);

  other.join();
  EXPECT_EQ(Run([] { return 3; }), 3);
}

// Each call runs its function to the end, or panics; none hangs.
TEST_P(RunTest, ManyThreadsMayTryAtOnceAndShutDown) {
  std::atomic<int> ran{0};
  std::atomic<int> panicked{0};
  const int rounds = Scaled(100) + 3;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < rounds; ++i) {
        if (t == 0) {
          Shutdown();
          continue;
        }
        try {
          EXPECT_EQ(Run([] {
                      Gosched();
                      return 5;
                    }),
                    5);
          ++ran;
        } catch (const Panic&) {
          ++panicked;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ran + panicked, 3 * rounds);
  EXPECT_EQ(Run([] { return 3; }), 3);
}

TEST_P(RunTest, IsAPanicInAGoroutine) {
  Run([] { EXPECT_THROW(gorge::Run([] {}), Panic); });
}

TEST_P(RunTest, OrdersMemoryOnBothSides) {
  auto value = std::make_unique<int>(1);
  Run([&] {
    EXPECT_EQ(*value, 1);
    *value = 2;
  });
  EXPECT_EQ(*value, 2);
}

TEST_P(RunTest, GoroutinesOfBeforeTakePart) {
  const auto c = MakeChan<int>();
  go([c] { c.Send(3); });

  EXPECT_EQ(Run([c] { return *c.Recv(); }), 3);
}

// One in each kind of place from which an unwinding would not come out well.
TEST_P(RunTest, AbandonsBlockedGoroutinesWithoutRunningAnythingOfTheirs) {
  static std::atomic<int> ran{0};
  struct Counts {
    ~Counts() { ++ran; }
  };
  Run([] {
    const auto never = MakeChan<int>();
    go([never] {
      const Counts counts;
      never.Recv();
      ++ran;
    });
    go([never] {
      try {
        never.Recv();
      } catch (...) {
        ++ran;
      }
      ++ran;
    });
    go([never]() noexcept { never.Recv(); });
    go([never] {
      struct BlocksInDestructor {
        Chan<int> c;
        ~BlocksInDestructor() { c.Recv(); }
      };
      const BlocksInDestructor blocks{never};
    });
    go([never] {
      try {
        throw 1;
      } catch (int) {
        never.Recv();
        ++ran;
      }
    });
    AwaitParked(5);
  });

  EXPECT_EQ(ran, 0);
}

TEST_P(RunTest, StopsRunningGoroutinesAtTheirNextCall) {
  std::atomic<std::int64_t> turns{0};
  Run([&] {
    for (int i = 0; i < 4; ++i) {
      go([&] {
        while (true) {
          ++turns;
          Gosched();
        }
      });
      go([&] {
        const auto c = MakeChan<int>(1);
        while (true) {
          c.Send(1);
          c.Recv();
          ++turns;
          go([] {});
          Gosched();  // Nothing else would take its P from it.
        }
      });
    }
    Await([&] { return turns > 100; });
  });
  const std::int64_t after = turns;

  std::this_thread::yield();

  EXPECT_EQ(turns, after);
}

TEST_P(RunTest, NoGoroutineRunsWhileGlobalsAreDestroyed) {
  auto global = std::make_unique<std::atomic<int>>(0);
  Run([&] {
    for (int i = 0; i < 8; ++i) {
      go([&] {
        while (true) {
          ++*global;
          Gosched();
        }
      });
    }
    Await([&] { return *global > 100; });
  });

  global.reset();  // AddressSanitizer would see them.
}

// A known limit: what never calls the library cannot be stopped. Run returns
// all the same, after a second.
TEST_P(RunTest, LeavesAGoroutineThatMakesNoCallRunning) {
  if (procs() != 4) return;  // One of the four will do for a test that waits.
  static std::atomic<bool> spin{true};
  static std::atomic<bool> spinning{false};
  static std::atomic<bool> ended{false};
  static std::atomic<bool> went_on{false};
  spin = true;

  Run([] {
    go([] {
      spinning = true;
      while (spin) {
      }
      ended = true;
      Gosched();  // Its epoch is over: the thread ends here.
      went_on = true;
    });
    Await([] { return spinning.load(); });
  });

  EXPECT_FALSE(ended);
  spin = false;
  while (!ended) std::this_thread::yield();
  EXPECT_EQ(Run([] { return 8; }), 8) << "and the runtime starts again";
  EXPECT_FALSE(went_on);
}

}  // namespace
}  // namespace gorge
