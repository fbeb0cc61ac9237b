// Case B33, the second half: the library at work before main and in the
// initialiser of a static, which the compiler guards with a lock of its own
// that blocks threads.

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/core/runtime.h"
#include "gorge/select/select.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/runtime_test.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::RuntimeTest;

// The sum of what n goroutines send; waits for each of them.
int SumFromGoroutines(int n) {
  const auto c = MakeChan<int>();
  for (int i = 1; i <= n; ++i) go([c, i] { c.Send(i); });
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += *c.Recv();
  return sum;
}

// Objects whose constructors run before main, and whose destructors run after
// it, in the reverse order: the last one finds the runtime as main left it.

struct Global {
  Global() {
    group.Go([this] { sum += SumFromGoroutines(10); });
    group.Wait();
    by_run = gorge::Run([] { return SumFromGoroutines(4); });
    // After the end of Run, by a runtime that starts once more.
    go([this] {
      in.Recv();
      out.Send(7);
    });
  }
  ~Global() {
    const int last = SumFromGoroutines(3);
    if (last != 6) std::abort();
  }

  WaitGroup group;
  Chan<int> in = MakeChan<int>();
  Chan<int> out = MakeChan<int>(1);
  int sum = 0;
  int by_run = 0;
} global;

// Its static initialisation, and that of `constant_group`, needs no code.
constinit WaitGroup constant_group;

TEST(GlobalObjectTest, ItsConstructorWaitedForGoroutines) {
  EXPECT_EQ(global.sum, 55);
  EXPECT_EQ(global.by_run, 10);
}

TEST(GlobalObjectTest, AGoroutineThatItStartedOutlivesIt) {
  // Other tests shut down; in a repetition it is gone.
  if (NumGoroutine() == 0) GTEST_SKIP();
  EXPECT_EQ(global.out.Len(), 0u);
  Select(OnSend(global.in, 1));
  EXPECT_EQ(global.out.Recv(), 7);
}

TEST(GlobalObjectTest, AGlobalWaitGroupNeedsNoConstructor) {
  constant_group.Go([] { Gosched(); });
  constant_group.Wait();
}

class StaticLocalTest : public RuntimeTest {};
GORGE_INSTANTIATE(StaticLocalTest);

// Each number of Ps has statics of its own, to find them uninitialised.

template <int procs>
const Chan<int>& ClosedByAGoroutine() {
  static const Chan<int> channel = [] {
    const auto c = MakeChan<int>();
    go([c] { c.Close(); });
    return c;
  }();
  return channel;
}

TEST_P(StaticLocalTest, ManyGoroutinesReachAnInitialiserThatStartsAnother) {
  const auto get = procs() == 1   ? &ClosedByAGoroutine<1>
                   : procs() == 2 ? &ClosedByAGoroutine<2>
                   : procs() == 4 ? &ClosedByAGoroutine<4>
                                  : &ClosedByAGoroutine<16>;
  Run([&] {
    std::atomic<int> ended{0};
    WaitGroup all;
    for (int i = 0; i < 64; ++i) {
      all.Go([&] {
        Gosched();
        ended += get().Recv().has_value() ? 0 : 1;
      });
    }
    all.Wait();
    EXPECT_EQ(ended, 64);
  });
}

// The initialiser parks while others wait for it. Those hold their threads in
// the compiler's lock, each with its P: as long as one P is left, all goes on.

std::atomic<int> expected{0};
std::atomic<int> arrived{0};

template <int procs>
int ReceivedFromAGoroutine() {
  static const int received = [] {
    while (arrived < expected) Gosched();
    const auto c = MakeChan<int>();
    go([c] { c.Send(7); });
    return *c.Recv();
  }();
  return received;
}

TEST_P(StaticLocalTest, AnInitialiserMayBlockWhileOthersWaitForIt) {
  const auto get = procs() == 1   ? &ReceivedFromAGoroutine<1>
                   : procs() == 2 ? &ReceivedFromAGoroutine<2>
                   : procs() == 4 ? &ReceivedFromAGoroutine<4>
                                  : &ReceivedFromAGoroutine<16>;
  const int others = procs() - 1;
  constexpr int kThreads = 2;
  arrived = 0;
  expected = others + kThreads;
  std::atomic<int> sum{0};
  const auto reach = [&] {
    ++arrived;
    sum += get();
  };
  std::vector<std::thread> threads;
  Run([&] {
    WaitGroup all;
    all.Go([&] { sum += get(); });
    // Its turn comes first: it is in the initialiser from here on.
    Gosched();
    for (int i = 0; i < others; ++i) all.Go(reach);
    for (int i = 0; i < kThreads; ++i) threads.emplace_back(reach);
    all.Wait();
  });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sum, 7 * (others + kThreads + 1));
}

}  // namespace
}  // namespace gorge
