#include "gorge/core/go.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gorge/chan/chan.h"
#include "gorge/core/panic.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/counted.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::Counted;
using ::gorge::testing::kSlowdown;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;

class GoTest : public RuntimeTest {};

GORGE_INSTANTIATE(GoTest);

Chan<int> results;

void SendTwice(int value) { results.Send(2 * value); }
int SendAndReturn(int value) {
  results.Send(value);
  return value;  // Dropped.
}

TEST_P(GoTest, RunsAFunctionWithArguments) {
  Run([] {
    results = MakeChan<int>();

    go(SendTwice, 21);
    EXPECT_EQ(results.Recv(), 42);
    go(&SendTwice, 4);
    EXPECT_EQ(results.Recv(), 8);
    go(SendAndReturn, 5);
    EXPECT_EQ(results.Recv(), 5);
  });
}

struct Adder {
  int base;
  Chan<int> out;
  void Add(int value) const { out.Send(base + value); }
  void operator()(int a, int b) const { out.Send(base + a + b); }
};

TEST_P(GoTest, RunsWhateverIsCallable) {
  Run([] {
    const Adder adder{100, MakeChan<int>()};

    go(&Adder::Add, &adder, 1);
    EXPECT_EQ(adder.out.Recv(), 101);
    go(adder, 1, 2);
    EXPECT_EQ(adder.out.Recv(), 103);
    go(std::function<void(int)>([&](int i) { adder.Add(i); }), 5);
    EXPECT_EQ(adder.out.Recv(), 105);
    go([&](auto i) { adder.Add(i); }, 6);
    EXPECT_EQ(adder.out.Recv(), 106);
    go([out = adder.out, calls = 0]() mutable { out.Send(++calls); });
    EXPECT_EQ(adder.out.Recv(), 1);
    go(std::bind_front(&Adder::Add, &adder), 7);
    EXPECT_EQ(adder.out.Recv(), 107);
  });
}

struct Greeter {
  std::string greeting;
  Chan<std::string> out;
  void operator()(const std::string& name) const {
    out.Send(greeting + " " + name);
  }
};

TEST_P(GoTest, CallableAndArgumentsAreCopied) {
  Run([] {
    Greeter greeter{"hello", MakeChan<std::string>()};
    std::string name = "world";

    go(greeter, name);
    greeter.greeting = "changed";
    name = "changed";

    EXPECT_EQ(greeter.out.Recv(), "hello world");
  });
}

TEST_P(GoTest, ReferencesArePassedWithStdRef) {
  Run([] {
    WaitGroup done;
    done.Add(1);
    int value = 1;

    go(
        [&done](int& v) {
          v = 2;
          done.Done();
        },
        std::ref(value));
    done.Wait();

    EXPECT_EQ(value, 2);
  });
}

TEST_P(GoTest, MoveOnlyCallablesAndArgumentsWork) {
  Run([] {
    const auto out = MakeChan<int>();

    go([p = std::make_unique<int>(3),
        out](std::unique_ptr<int> q) { out.Send(*p + *q); },
       std::make_unique<int>(4));

    EXPECT_EQ(out.Recv(), 7);
  });
}

TEST_P(GoTest, ACallableThatRunsOnlyOnceAsAnRvalueWorks) {
  Run([] {
    struct Once {
      Chan<int> out;
      void operator()() && { out.Send(1); }
    };
    const auto out = MakeChan<int>();

    go(Once{out});

    EXPECT_EQ(out.Recv(), 1);
  });
}

TEST_P(GoTest, ArraysAndStringLiteralsDecay) {
  Run([] {
    const auto out = MakeChan<std::string>();

    go([out](const char* text) { out.Send(text); }, "literal");

    EXPECT_EQ(out.Recv(), "literal");
  });
}

TEST_P(GoTest, TheClosureIsDestroyedWhenTheFunctionHasReturned) {
  Run([] {
    const auto out = MakeChan<int>();
    go([counted = Counted(1), out] { out.Send(Counted::live); });

    EXPECT_GE(out.Recv(), 1);

    Await([] { return Counted::live == 0; });
  });
}

// Too large for the goroutine's stack: goes to the heap.
TEST_P(GoTest, AClosureOfAnySizeWorks) {
  Run([] {
    const auto out = MakeChan<int>();
    const auto start = [&]<std::size_t kSize>() {
      std::array<char, kSize> bytes{};
      bytes.back() = 7;
      go([bytes, out, counted = Counted(1)] { out.Send(bytes.back()); });
    };

    start.operator()<1>();
    start.operator()<internal::kLargestClosure - 64>();
    start.operator()<internal::kLargestClosure>();
    start.operator()<64 * 1024>();

    for (int i = 0; i < 4; ++i) EXPECT_EQ(out.Recv(), 7);
    Await([] { return Counted::live == 0; });
  });
}

TEST_P(GoTest, AnOverAlignedClosureIsAligned) {
  struct alignas(256) Wide {
    char bytes[256];
  };
  Run([] {
    const auto out = MakeChan<std::uintptr_t>();
    for (int i = 0; i < 20; ++i) {
      go([wide = Wide{}, out] {
        out.Send(reinterpret_cast<std::uintptr_t>(&wide) % 256);
      });

      EXPECT_EQ(out.Recv(), 0u);
    }
  });
}

struct ThrowsOnCopy {
  explicit ThrowsOnCopy(int) {}
  ThrowsOnCopy(const ThrowsOnCopy&) { throw std::runtime_error("no copy"); }
  void operator()() const {}
};

TEST_P(GoTest, IfCopyingThrowsNothingIsStarted) {
  Run([] {
    const ThrowsOnCopy f(1);
    const int before = NumGoroutine();
    for (int i = 0; i < 300; ++i) {
      EXPECT_THROW(go(f), std::runtime_error);
      EXPECT_THROW(go([](const ThrowsOnCopy&) {}, f), std::runtime_error);
      EXPECT_THROW(go([](auto&&...) {}, std::array<char, 4096>{}, f),
                   std::runtime_error)
          << "a large closure";
    }

    EXPECT_EQ(NumGoroutine(), before);
    const auto out = MakeChan<int>();
    go([out] { out.Send(1); });
    EXPECT_EQ(out.Recv(), 1) << "and go() goes on working";
  });
}

template <class F>
void ExpectNil(F f) {
  try {
    go(f);
  } catch (const Panic& e) {
    EXPECT_STREQ(e.what(), "go of nil func value");
    return;
  }
  ADD_FAILURE() << "nothing was thrown";
}

TEST_P(GoTest, ANullFunctionIsAPanic) {
  Run([] {
    ExpectNil(static_cast<void (*)()>(nullptr));
    ExpectNil(std::function<void()>());
    void (Adder::*member)(int) const = nullptr;
    const Adder adder{};
    EXPECT_THROW(go(member, &adder, 1), Panic);
    EXPECT_THROW(go(GoOptions{.name = "nil"}, std::function<void()>()), Panic);
    EXPECT_EQ(NumGoroutine(), 1);
  });
}

TEST_P(GoTest, APlainThreadStartsGoroutines) {
  std::atomic<int> count{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < Scaled(1'000); ++k) go([&] { ++count; });
    });
  }
  for (std::thread& thread : threads) thread.join();

  Await([&] { return count == 4 * Scaled(1'000); });
}

TEST_P(GoTest, GoroutinesStartGoroutines) {
  Run([] {
    WaitGroup all;
    std::atomic<int> leaves{0};
    std::function<void(int)> grow = [&](int depth) {
      if (depth == 0) {
        ++leaves;
      } else {
        for (int i = 0; i < 3; ++i) all.Go([&grow, depth] { grow(depth - 1); });
      }
    };

    all.Go([&] { grow(6); });
    all.Wait();

    EXPECT_EQ(leaves, 729);
  });
}

// Checked by ThreadSanitizer too.
TEST_P(GoTest, WhatPrecedesGoHappensBeforeTheGoroutine) {
  Run([] {
    for (int i = 0; i < Scaled(5'000); ++i) {
      auto value = std::make_unique<int>(0);
      const auto out = MakeChan<int>();
      *value = i;

      go([&v = *value, out] { out.Send(v); });

      EXPECT_EQ(out.Recv(), i);
    }
  });
}

TEST_P(GoTest, ManyStartedAtOnceAllRunOnce) {
  Run([] {
    // LeakSanitizer looks through every stack there ever was.
    constexpr int kGoroutines = kSlowdown > 1 ? 1'000 : 50'000;
    std::vector<std::atomic<int>> runs(static_cast<std::size_t>(kGoroutines));
    WaitGroup all;
    all.Add(kGoroutines);

    for (auto& run : runs) {
      go([&] {
        ++run;
        all.Done();
      });
    }
    all.Wait();

    for (const auto& run : runs) EXPECT_EQ(run, 1);
  });
}

}  // namespace
}  // namespace gorge
