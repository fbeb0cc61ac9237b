// OnceFunc and OnceValue; a value that is a pair answers for Go's OnceValues.
// Answers sync/oncefunc_test.go; each case has the name of the test it answers.

#include <array>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "gorge/core/panic.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/once.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/allocations.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::allocated_blocks;
using ::gorge::testing::kKinds;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Team;

using Pair = std::pair<int, std::string>;

class OnceFuncTest : public RuntimeTest {};
GORGE_INSTANTIATE(OnceFuncTest);

TEST_P(OnceFuncTest, OnceFunc) {
  int calls = 0;
  const auto f = OnceFunc([&] { ++calls; });
  EXPECT_EQ(calls, 0);
  f();
  const int before = allocated_blocks;

  for (int i = 0; i < 10; ++i) f();

  EXPECT_EQ(allocated_blocks, before);
  EXPECT_EQ(calls, 1);
}

TEST_P(OnceFuncTest, OnceValue) {
  int calls = 0;
  const auto f = OnceValue([&] { return ++calls; });
  EXPECT_EQ(f(), 1);
  const int before = allocated_blocks;

  for (int i = 0; i < 10; ++i) EXPECT_EQ(f(), 1);

  EXPECT_EQ(allocated_blocks, before);
  EXPECT_EQ(calls, 1);
}

TEST_P(OnceFuncTest, OnceValues) {
  std::atomic<int> calls{0};
  const auto f = OnceValue([&] {
    const int call = ++calls;
    return Pair(call, std::to_string(call + 1));
  });
  Team team;
  for (int i = 0; i < 6; ++i) {
    team.Go(kKinds[i % 2], [f] {
      const auto& [first, second] = f();
      EXPECT_EQ(first, 1);
      EXPECT_EQ(second, "2");
    });
  }
  team.Wait();
  EXPECT_EQ(calls, 1);
}

// Each call of f() throws the very object that the function threw.
template <class F>
void ExpectTheSamePanic(const F& f, const int& calls) {
  const Panic* first = nullptr;
  for (int i = 0; i < 3; ++i) {
    try {
      f();
      ADD_FAILURE() << "it did not throw";
    } catch (const Panic& panic) {
      EXPECT_STREQ(panic.what(), "x");
      if (first == nullptr) first = &panic;
      EXPECT_EQ(&panic, first);
    }
  }
  EXPECT_EQ(calls, 1);
}

TEST_P(OnceFuncTest, OnceFuncPanic) {
  int calls = 0;
  ExpectTheSamePanic(OnceFunc([&] {
                       ++calls;
                       throw Panic("x");
                     }),
                     calls);
}

TEST_P(OnceFuncTest, OnceValuePanic) {
  int calls = 0;
  ExpectTheSamePanic(OnceValue([&]() -> int {
                       ++calls;
                       throw Panic("x");
                     }),
                     calls);
}

TEST_P(OnceFuncTest, OnceValuesPanic) {
  int calls = 0;
  ExpectTheSamePanic(OnceValue([&]() -> Pair {
                       ++calls;
                       throw Panic("x");
                     }),
                     calls);
}

// An exception that is nothing is an exception all the same.
TEST_P(OnceFuncTest, OnceFuncPanicNil) {
  int calls = 0;
  const auto f = OnceFunc([&] {
    ++calls;
    throw nullptr;
  });
  for (int i = 0; i < 3; ++i) EXPECT_THROW(f(), std::nullptr_t);
  EXPECT_EQ(calls, 1);
}

// Whatever the later calls do, they do not run it again.
TEST_P(OnceFuncTest, OnceFuncGoexit) {
  Run([] {
    std::atomic<int> calls{0};
    const auto f = OnceValue([&]() -> int {
      ++calls;
      Goexit();
    });
    for (int i = 0; i < 2; ++i) {
      WaitGroup one;
      one.Go([&] {
        try {
          f();
          ADD_FAILURE() << "it has no value";
        } catch (const Panic&) {
        }
      });
      one.Wait();
    }
    EXPECT_EQ(calls, 1);
  });
}

// What the function holds is destroyed when it has run, however it ended, while
// the handles live on.
template <class MakeOnce>
void ExpectToLetGo(const MakeOnce& make_once) {
  auto held = std::make_shared<int>(7);
  const std::weak_ptr<int> seen = held;
  const auto f = make_once(std::move(held));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(seen.expired(), i > 0);
    try {
      f();
    } catch (const Panic&) {
    }
  }
  EXPECT_TRUE(seen.expired());
}

TEST_P(OnceFuncTest, OnceXGC) {
  using Held = std::shared_ptr<int>;
  ExpectToLetGo([](Held held) {
    return OnceFunc([held = std::move(held)] { EXPECT_EQ(*held, 7); });
  });
  ExpectToLetGo([](Held held) {
    return OnceFunc([held = std::move(held)] { throw Panic("x"); });
  });
  ExpectToLetGo([](Held held) {
    return OnceValue([held = std::move(held)] { return *held; });
  });
  ExpectToLetGo([](Held held) {
    return OnceValue([held = std::move(held)] { return Pair(*held, "x"); });
  });
}

}  // namespace
}  // namespace gorge
