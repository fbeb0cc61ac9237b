#include "gorge/sync/once.h"

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>

#include "gorge/core/go.h"
#include "gorge/core/panic.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::kKinds;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Team;

[[maybe_unused]] constinit Once global_once;

class OnceTest : public RuntimeTest {};
GORGE_INSTANTIATE(OnceTest);

TEST_P(OnceTest, OfManyOneDoesItAndAllWaitForIt) {
  Once once;
  int done = 0;
  std::atomic<int> calls{0};
  Team team;
  for (int i = 0; i < 20; ++i) {
    team.Go(kKinds[i % 2], [&] {
      once.Do([&] {
        ++calls;
        for (int k = 0; k < 10; ++k) Gosched();
        done = 7;
      });
      EXPECT_EQ(done, 7);
    });
  }
  team.Wait();
  EXPECT_EQ(calls, 1);
}

TEST_P(OnceTest, WhatThrowsCountsAsDone) {
  Once once;
  EXPECT_THROW(once.Do([] { throw std::runtime_error("once"); }),
               std::runtime_error);
  once.Do([] { ADD_FAILURE() << "done again"; });
}

TEST_P(OnceTest, WhatCallsGoexitCountsAsDone) {
  Run([] {
    Once once;
    WaitGroup first;
    first.Go([&] { once.Do([] { Goexit(); }); });
    first.Wait();
    once.Do([] { ADD_FAILURE() << "done again"; });
  });
}

TEST_P(OnceTest, AFuncRunsOnceThroughAllItsCopies) {
  int calls = 0;
  const auto f = OnceFunc([&] { ++calls; });
  const auto copy = f;
  f();
  copy();
  f();
  EXPECT_EQ(calls, 1);
}

TEST_P(OnceTest, AFuncThatThrowsThrowsTheSameEachTime) {
  int calls = 0;
  const auto f = OnceFunc([&] {
    ++calls;
    throw std::runtime_error("the same");
  });
  for (int i = 0; i < 3; ++i) {
    try {
      f();
      ADD_FAILURE() << "it did not throw";
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "the same");
    }
  }
  EXPECT_EQ(calls, 1);
}

TEST_P(OnceTest, AValueIsMadeOnceForAll) {
  std::atomic<int> calls{0};
  const auto f = OnceValue([&] {
    ++calls;
    Gosched();
    return std::make_unique<std::string>("value");
  });
  Team team;
  for (int i = 0; i < 10; ++i) {
    team.Go(kKinds[i % 2], [f] { EXPECT_EQ(*f(), "value"); });
  }
  team.Wait();
  EXPECT_EQ(calls, 1);
}

TEST_P(OnceTest, TheFunctionIsDestroyedWhenItIsDone) {
  auto held = std::make_shared<int>(5);
  const std::weak_ptr<int> seen = held;
  const auto f = OnceValue([held = std::move(held)] { return *held; });
  EXPECT_FALSE(seen.expired());
  EXPECT_EQ(f(), 5);
  EXPECT_TRUE(seen.expired());
  EXPECT_EQ(f(), 5);
}

TEST_P(OnceTest, AFuncThatCallsGoexitIsAPanicForTheOthers) {
  Run([] {
    const auto f = OnceFunc([] { Goexit(); });
    WaitGroup first;
    first.Go([&] { f(); });
    first.Wait();
    EXPECT_THROW(f(), Panic);
  });
}

}  // namespace
}  // namespace gorge
