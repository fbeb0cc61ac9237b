// Histories of a Semaphore, by goroutines and threads at once, are checked for
// linearizability.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gorge/context/context.h"
#include "gorge/core/runtime.h"
#include "gorge/tests/support/history.h"
#include "gorge/tests/support/linearizable.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gorge/xsync/semaphore.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::Call;
using ::gorge::testing::Caller;
using ::gorge::testing::IsLinearizable;
using ::gorge::testing::RecordCalls;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;

constexpr int kPermits = 3;

enum class Method { kAcquire, kTryAcquire, kRelease };

struct Op {
  Method method;
  int count = 1;
  bool yes = true;
  // Of a kTryAcquire that failed: others may have been waiting.
  bool may_be_refused = false;
};

using History = std::vector<Call<Op>>;

std::optional<int> After(int free, const Op& op) {
  if (op.method == Method::kRelease) return free + op.count;
  if (op.yes) {
    return free >= op.count ? std::optional<int>(free - op.count)
                            : std::nullopt;
  }
  // An Acquire fails because of its context.
  const bool possible =
      op.method == Method::kAcquire || free < op.count || op.may_be_refused;
  return possible ? std::optional<int>(free) : std::nullopt;
}

bool IsPossible(History history) {
  for (Call<Op>& tried : history) {
    if (tried.op.method != Method::kTryAcquire || tried.op.yes) continue;
    for (const Call<Op>& other : history) {
      tried.op.may_be_refused |= other.op.method == Method::kAcquire &&
                                 other.begin < tried.end &&
                                 tried.begin < other.end;
    }
  }
  return IsLinearizable(history, kPermits, After);
}

std::string Print(const History& history) {
  std::string text;
  for (const auto& [op, begin, end] : history) {
    text += std::to_string(begin) + ".." + std::to_string(end) + ": method " +
            std::to_string(static_cast<int>(op.method)) + " of " +
            std::to_string(op.count) + (op.yes ? " yes\n" : " no\n");
  }
  return text;
}

class SemaphoreHistoryTest : public RuntimeTest {};
GORGE_INSTANTIATE(SemaphoreHistoryTest);

// One caller in four has a context that another ends at some moment.
TEST_P(SemaphoreHistoryTest, AreLinearizable) {
  for (int round = 0; round < Scaled(150) + 10; ++round) {
    Semaphore permits(kPermits);
    const auto [ctx, cancel] = WithCancel(Background());
    const History history = RecordCalls<Op>(
        4, round, [&, &ctx = ctx, &cancel = cancel](Caller<Op>& caller) {
          for (int i = 0; i < 6; ++i) {
            const int count = 1 + static_cast<int>(caller.random().Below(3));
            const bool tries = caller.random().Below(2) == 0;
            const Context& mine =
                caller.random().Below(4) == 0 ? ctx : Background();
            const Op got = caller.Make(
                {.method = tries ? Method::kTryAcquire : Method::kAcquire,
                 .count = count},
                [&](Op& op) {
                  op.yes = tries ? permits.TryAcquire(count)
                                 : permits.Acquire(mine, count).ok();
                });
            if (caller.random().Below(10) == 0) cancel();
            if (!got.yes) continue;
            if (caller.random().Below(3) == 0) Gosched();
            caller.Make({.method = Method::kRelease, .count = count},
                        [&](Op&) { permits.Release(count); });
          }
        });
    ASSERT_TRUE(IsPossible(history)) << Print(history);
    // Whoever gave up has given back.
    ASSERT_TRUE(permits.TryAcquire(kPermits)) << Print(history);
  }
}

// The model's own test.
TEST(SemaphoreModelTest, RejectsMoreThanThereAreAndAFailureWithoutCause) {
  const Op two{.method = Method::kAcquire, .count = 2};
  const Op end_two{.method = Method::kRelease, .count = 2};
  const Op fails{.method = Method::kTryAcquire, .count = 2, .yes = false};
  EXPECT_FALSE(IsPossible({{two, 1, 2}, {two, 3, 4}, {end_two, 5, 6}}));
  EXPECT_TRUE(IsPossible({{two, 1, 2}, {two, 3, 6}, {end_two, 4, 5}}));
  EXPECT_FALSE(IsPossible({{fails, 1, 2}}));
  EXPECT_FALSE(IsPossible({{two, 1, 2}, {end_two, 3, 4}, {fails, 5, 6}}));
  EXPECT_TRUE(IsPossible({{two, 1, 2}, {fails, 3, 4}, {end_two, 5, 6}}));
}

}  // namespace
}  // namespace gorge
