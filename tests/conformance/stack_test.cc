// Deep use of stacks: recursion, callbacks, exceptions from far below; and many
// stacks that are used and used again.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/core/internal/sanitizer.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::kSlowdown;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;

class StackTest : public RuntimeTest {};

GORGE_INSTANTIATE(StackTest);

constexpr std::size_t kMiB = std::size_t{1} << 20;

// Frames of about this many bytes in all builds.
constexpr int kFrame = 256;

// Uses `depth` frames, checks that they keep what was put there, and calls f at
// the bottom.
__attribute__((noinline)) int Descend(int depth,
                                      const std::function<void()>& f) {
  std::array<volatile int, kFrame / sizeof(int)> frame;
  frame[0] = depth;
  frame[frame.size() - 1] = ~depth;
  if (depth == 0) {
    f();
  } else {
    Descend(depth - 1, f);
  }
  if (frame[0] != depth || frame[frame.size() - 1] != ~depth) std::abort();
  return depth;
}

// Numbers as lists: their sum and product are recursions as deep as they are
// large.
struct Number {
  std::unique_ptr<Number> less_one;
};
using Peano = std::unique_ptr<Number>;

Peano Successor(Peano n) {
  auto more = std::make_unique<Number>();
  more->less_one = std::move(n);
  return more;
}
Peano Copy(const Peano& n) {
  return n == nullptr ? nullptr : Successor(Copy(n->less_one));
}
Peano Add(const Peano& a, const Peano& b) {
  return b == nullptr ? Copy(a) : Successor(Add(a, b->less_one));
}
Peano Multiply(const Peano& a, const Peano& b) {
  return b == nullptr ? nullptr : Add(Multiply(a, b->less_one), a);
}
Peano Make(int n) { return n == 0 ? nullptr : Successor(Make(n - 1)); }
int Count(const Peano& n) { return n == nullptr ? 0 : 1 + Count(n->less_one); }

TEST_P(StackTest, NumbersThatCountOnTheStackAddUp) {
  Run([] {
    const auto out = MakeChan<int>();
    go({.stack_size = 64 * kMiB}, [out] {
      Peano factorial = Make(1);
      const int largest = kSlowdown > 1 ? 5 : 8;
      for (int i = 2; i <= largest; ++i)
        factorial = Multiply(factorial, Make(i));
      out.Send(Count(factorial));
    });
    EXPECT_EQ(out.Recv(), kSlowdown > 1 ? 120 : 40'320);
  });
}

TEST_P(StackTest, GoroutinesStartAndBlockAtEveryDepth) {
  Run([] {
    const auto out = MakeChan<int>();
    for (int depth = 0; depth <= 200; depth += 10) {
      Descend(depth, [&] {
        go([out, depth] {
          Descend(depth, [] { Gosched(); });
          out.Send(depth);
        });
        EXPECT_EQ(out.Recv(), depth);
      });
    }
  });
}

TEST_P(StackTest, DestructorsRunAtEveryDepth) {
  Run([] {
    std::atomic<int> destroyed{0};
    WaitGroup all;
    for (int i = 0; i < 8; ++i) {
      all.Go([&] {
        std::function<void(int)> dive = [&](int depth) {
          const std::shared_ptr<void> guard(nullptr, [&](void*) {
            Descend(20, [] {});
            ++destroyed;
          });
          if (depth > 0) dive(depth - 1);
        };
        dive(100);
      });
    }
    all.Wait();
    EXPECT_EQ(destroyed, 8 * 101);
  });
}

// Frames of a library that knows nothing of us lie in between.
TEST_P(StackTest, ACallbackOfAForeignFunctionMayBlockAndUseTheStack) {
  Run([] {
    static Chan<int> ping;
    static Chan<int> pong;
    ping = MakeChan<int>();
    pong = MakeChan<int>();
    WaitGroup partner;
    partner.Go([] {
      for (const int i : ping) pong.Send(i);
    });
    std::vector<int> numbers = {5, 3, 9, 1, 7, 2, 8};
    std::qsort(numbers.data(), numbers.size(), sizeof(int),
               [](const void* a, const void* b) {
                 Descend(100, [] {
                   ping.Send(1);
                   pong.Recv();
                 });
                 return *static_cast<const int*>(a) -
                        *static_cast<const int*>(b);
               });
    std::once_flag once;
    std::call_once(once, [] {
      ping.Send(1);
      pong.Recv();
    });
    ping.Close();
    partner.Wait();
    EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
  });
}

TEST_P(StackTest, ManyGoroutinesOfSeveralDepthsKeepTheirStacks) {
  Run([] {
    for (int round = 0; round < Scaled(20) + 1; ++round) {
      WaitGroup all;
      for (int i = 0; i < 100; ++i) {
        all.Go([i] {
          for (int depth = i % 16; depth < 300; depth += 97) {
            Descend(depth, [] { Gosched(); });
          }
        });
      }
      all.Wait();
    }
  });
}

// What a frame holds stays valid while deep calls come and go below it, and
// while its destructors run, be it for an exception or for Goexit.
TEST_P(StackTest, ArgumentsOfDestructorsSurviveDeepUse) {
  Run([] {
    std::atomic<int> sum{0};
    struct Adds {
      std::atomic<int>& sum;
      const int* value;
      ~Adds() {
        Descend(100, [] { Gosched(); });
        sum += *value;
      }
    };
    const auto use = [&](const std::function<void()>& leave) {
      const int value = 7;
      const Adds adds{sum, &value};
      Descend(200, [] {});
      leave();
    };
    WaitGroup all;
    all.Go([&] { use([] {}); });
    all.Go([&] { use([] { Goexit(); }); });
    all.Go([&] {
      try {
        use([] { throw std::runtime_error("leave"); });
      } catch (const std::runtime_error&) {
      }
    });
    all.Wait();
    EXPECT_EQ(sum, 21);
  });
}

TEST_P(StackTest, AnExceptionComesFromFarBelow) {
  Run([] {
    WaitGroup all;
    for (int i = 0; i < 4; ++i) {
      all.Go([] {
        EXPECT_THROW(Descend(300, [] { throw std::runtime_error("from far"); }),
                     std::runtime_error);
      });
    }
    all.Wait();
  });
}

TEST_P(StackTest, ExceptionsNestAtDepth) {
  Run([] {
    const std::function<void(int)> nest = [&nest](int depth) {
      try {
        Descend(10, [] { throw std::runtime_error("down here"); });
      } catch (const std::runtime_error&) {
        if (depth > 0) nest(depth - 1);
      }
    };
    WaitGroup all;
    for (int i = 0; i < 4; ++i) all.Go([&] { nest(20); });
    all.Wait();
  });
}

TEST_P(StackTest, StacksThatWereUsedDeeplyAreUsedAgain) {
  Run([] {
    for (int round = 0; round < 3; ++round) {
      const auto release = MakeChan<int>();
      WaitGroup all;
      for (int i = 0; i < (kSlowdown > 1 ? 50 : 500); ++i) {
        all.Go([release] {
          Descend(GORGE_ASAN ? 100 : 400, [] {});
          release.Recv();
        });
      }
      release.Close();
      all.Wait();
      FreeOSMemory();
    }
  });
}

}  // namespace
}  // namespace gorge
