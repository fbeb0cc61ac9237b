// Histories of one timer, by goroutines and threads at once, are checked for
// linearizability: of each arming at most one of three things comes, its value,
// a Stop that says true, or a Reset that says true; a value that was due is
// there, and one that was stopped never is.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "gorge/core/runtime.h"
#include "gorge/tests/support/history.h"
#include "gorge/tests/support/linearizable.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gorge/time/timer.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::Call;
using ::gorge::testing::Caller;
using ::gorge::testing::IsLinearizable;
using ::gorge::testing::RecordCalls;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;

enum class State {
  kStopped,  // Or its value was received.
  kDue,
  kSoon,  // Due at a moment that nobody knows.
  kLater,
};

enum class Method { kReset, kStop, kTryRecv };

struct Op {
  Method method;
  State armed = State::kStopped;  // By kReset.
  bool yes = true;
};

using History = std::vector<Call<Op>>;

std::optional<State> After(State before, const Op& op) {
  const bool armed = before != State::kStopped;
  bool possible = op.yes == armed;
  State after = op.method == Method::kReset ? op.armed : State::kStopped;
  if (op.method == Method::kTryRecv) {
    possible = before == State::kSoon || op.yes == (before == State::kDue);
    if (!op.yes) after = before;
  }
  return possible ? std::optional<State>(after) : std::nullopt;
}

bool IsPossible(const History& history) {
  return IsLinearizable(history, State::kStopped, After);
}

std::string Print(const History& history) {
  std::string text;
  for (const auto& [op, begin, end] : history) {
    text += std::to_string(begin) + ".." + std::to_string(end) + ": method " +
            std::to_string(static_cast<int>(op.method)) + " to " +
            std::to_string(static_cast<int>(op.armed)) +
            (op.yes ? " yes\n" : " no\n");
  }
  return text;
}

absl::Duration LengthOf(State armed) {
  if (armed == State::kDue) return absl::ZeroDuration();
  return armed == State::kSoon ? absl::Microseconds(20) : absl::Hours(1);
}

void Act(Caller<Op>& caller, const Timer& timer) {
  switch (caller.random().Below(3)) {
    case 0: {
      constexpr State kLengths[] = {State::kDue, State::kSoon, State::kLater};
      const State armed = kLengths[caller.random().Below(3)];
      caller.Make({.method = Method::kReset, .armed = armed},
                  [&](Op& op) { op.yes = timer.Reset(LengthOf(armed)); });
      break;
    }
    case 1:
      caller.Make({.method = Method::kStop},
                  [&](Op& op) { op.yes = timer.Stop(); });
      break;
    default:
      caller.Make({.method = Method::kTryRecv},
                  [&](Op& op) { op.yes = timer.C().TryRecv().ready; });
  }
  if (caller.random().Below(4) == 0) Gosched();
}

class TimerHistoryTest : public RuntimeTest {};
GORGE_INSTANTIATE(TimerHistoryTest);

TEST_P(TimerHistoryTest, AreLinearizable) {
  for (int round = 0; round < Scaled(150) + 10; ++round) {
    const Timer timer(absl::Hours(1));
    ASSERT_TRUE(timer.Stop());
    const History history = RecordCalls<Op>(4, round, [&](Caller<Op>& caller) {
      for (int i = 0; i < 10; ++i) Act(caller, timer);
    });
    ASSERT_TRUE(IsPossible(history)) << Print(history);
    static_cast<void>(timer.Stop());
    ASSERT_FALSE(timer.C().TryRecv().ready) << Print(history);
  }
}

// The model's own tests.

TEST(TimerModelTest, RejectsTwoThingsOfOneArming) {
  const Op reset{.method = Method::kReset, .armed = State::kSoon, .yes = false};
  const Op stops{.method = Method::kStop};
  const Op gets{.method = Method::kTryRecv};
  EXPECT_TRUE(IsPossible({{reset, 1, 2}, {stops, 3, 4}}));
  EXPECT_TRUE(IsPossible({{reset, 1, 2}, {gets, 3, 4}}));
  EXPECT_FALSE(IsPossible({{reset, 1, 2}, {stops, 3, 6}, {gets, 4, 5}}));
  EXPECT_FALSE(IsPossible({{reset, 1, 2}, {stops, 3, 6}, {stops, 4, 5}}));
  EXPECT_FALSE(IsPossible({{reset, 1, 2}, {gets, 3, 6}, {gets, 4, 5}}));
}

TEST(TimerModelTest, RejectsAValueThatIsStaleOrMissing) {
  const Op reset{.method = Method::kReset, .armed = State::kDue, .yes = false};
  const Op stops{.method = Method::kStop};
  const Op gets{.method = Method::kTryRecv};
  const Op misses{.method = Method::kTryRecv, .yes = false};
  EXPECT_FALSE(IsPossible({{reset, 1, 2}, {stops, 3, 4}, {gets, 5, 6}}));
  EXPECT_FALSE(IsPossible({{reset, 1, 2}, {misses, 3, 4}}));
  EXPECT_FALSE(IsPossible({{gets, 1, 2}}));
}

}  // namespace
}  // namespace gorge
