// Progress, parallelism and fairness of the scheduler.

#include <atomic>
#include <cstdint>
#include <thread>

#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;

class ProcTest : public RuntimeTest {};

GORGE_INSTANTIATE(ProcTest);

TEST_P(ProcTest, ALoopThatYieldsLetsItsPeerStopIt) {
  Run([] {
    const auto stopped = MakeChan<int>();
    std::atomic<bool> stop{false};
    go([&] {
      while (!stop) Gosched();
      stopped.Send(1);
    });
    for (int i = 0; i < 10; ++i) Gosched();
    stop = true;
    EXPECT_EQ(stopped.Recv(), 1);
  });
}

// n goroutines that take turns at a counter without a call into the library:
// each must have a thread.
void CountInLockStep(int n) {
  std::atomic<int> counter{0};
  WaitGroup all;
  for (int self = 0; self < n; ++self) {
    all.Go([&counter, self, n] {
      for (int i = 0; i < 3; ++i) {
        while (counter != n * i + self) std::this_thread::yield();
        ++counter;
      }
    });
  }
  all.Wait();
}

TEST_P(ProcTest, AsManyGoroutinesAsPsSpinInLockStep) {
  Run([this] {
    for (int i = 0; i < Scaled(20) + 1; ++i) CountInLockStep(procs());
  });
}

// Started by one that was started, after a load that has come and gone.
TEST_P(ProcTest, AsManyAlsoAfterALoadAndFromANestedStart) {
  Run([this] {
    for (int i = 0; i < Scaled(20) + 1; ++i) {
      WaitGroup load;
      for (int k = 0; k < 50; ++k) {
        load.Go([] {
          for (int turn = 0; turn < 5; ++turn) Gosched();
        });
      }
      load.Wait();
      WaitGroup outer;
      outer.Go([this] { CountInLockStep(procs()); });
      outer.Wait();
    }
  });
}

TEST_P(ProcTest, ThereIsOneGoroutineAtTheStart) {
  Run([] { EXPECT_EQ(NumGoroutine(), 1); });
  Await([] { return NumGoroutine() == 0; });
  gorge::Run([] { EXPECT_EQ(NumGoroutine(), 1); });
}

// Two goroutines that pass a message to and fro share one slice of time: what
// they do in between does not let them starve a pair that does less.
TEST_P(ProcTest, AHeavyPairAndALightOneBothProgress) {
  Run([this] {
    std::atomic<bool> stop{false};
    WaitGroup all;
    const auto pair = [&](std::atomic<std::int64_t>& rounds, int work) {
      const auto ping = MakeChan<int>();
      const auto pong = MakeChan<int>();
      all.Go([ping, pong] {
        for (const int i : ping) pong.Send(i);
      });
      all.Go([&stop, &rounds, ping, pong, work] {
        while (!stop) {
          ping.Send(1);
          pong.Recv();
          for (volatile int i = 0; i < work;) i = i + 1;
          ++rounds;
        }
        ping.Close();
      });
    };
    std::atomic<std::int64_t> heavy{0};
    std::atomic<std::int64_t> light{0};
    pair(heavy, 500);
    pair(light, 0);
    all.Go([&] {
      for (int turn = 0; turn < Scaled(500) + 50; ++turn) Gosched();
      // With several Ps, one of them may not have been awake so far.
      while (heavy == 0 || light == 0) Gosched();
      stop = true;
    });
    all.Wait();

    if (procs() != 1) return;
    EXPECT_LE(light, 20 * heavy);
    EXPECT_LE(heavy, 20 * light);
  });
}

TEST_P(ProcTest, StartingAGoroutineInALoopDoesNotStarveTheOthers) {
  Run([] {
    std::atomic<bool> stop{false};
    WaitGroup all;
    all.Go([&] {
      while (!stop) {
        WaitGroup one;
        one.Go([] {});
        one.Wait();
      }
    });
    for (int i = 0; i < 50; ++i) Gosched();
    stop = true;
    all.Wait();
  });
}

// One busy P has all the work; the others must find it, whichever it is.
TEST_P(ProcTest, ThievesFindWorkOnEveryP) {
  if (procs() == 1) return;
  Run([this] {
    WaitGroup all;
    for (int i = 0; i < procs(); ++i) {
      all.Go([] {
        std::atomic<int> ran{0};
        for (int k = 0; k < 20; ++k) go([&] { ++ran; });
        // Not itself: it is busy.
        while (ran < 20) std::this_thread::yield();
      });
      all.Wait();
    }
  });
}

}  // namespace
}  // namespace gorge
