// Histories of one key of a Map, by goroutines and threads at once, are checked
// for linearizability against a model that is an int or nothing.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gorge/sync/map.h"
#include "gorge/tests/support/history.h"
#include "gorge/tests/support/linearizable.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::Call;
using ::gorge::testing::Caller;
using ::gorge::testing::IsLinearizable;
using ::gorge::testing::RecordCalls;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;

constexpr int kAbsent = -1;  // Instead of a value: the key is not there.

enum class Method {
  kLoad,
  kStore,
  kLoadOrStore,
  kLoadAndDelete,
  kDelete,
  kSwap,
  kCompareAndSwap,
  kCompareAndDelete,
  kRange,
  kClear,
};
constexpr int kMethods = 10;

struct Op {
  Method method;
  int value = 0;         // Stored.
  int expected = 0;      // Compared with.
  int result = kAbsent;  // The value returned.
  bool yes = false;      // The bool returned.
};

std::optional<int> After(int before, const Op& op) {
  const auto if_possible = [](bool possible, int after) {
    return possible ? std::optional<int>(after) : std::nullopt;
  };
  const bool equal = before == op.expected;
  const int stored = before != kAbsent ? before : op.value;
  switch (op.method) {
    case Method::kLoad:
    case Method::kRange:
      return if_possible(op.result == before, before);
    case Method::kStore:
      return op.value;
    case Method::kLoadOrStore:
      return if_possible(op.yes == (before != kAbsent) && op.result == stored,
                         stored);
    case Method::kLoadAndDelete:
      return if_possible(op.result == before, kAbsent);
    case Method::kDelete:
    case Method::kClear:
      return kAbsent;
    case Method::kSwap:
      return if_possible(op.result == before, op.value);
    case Method::kCompareAndSwap:
      return if_possible(op.yes == equal, equal ? op.value : before);
    case Method::kCompareAndDelete:
      return if_possible(op.yes == equal, equal ? kAbsent : before);
  }
  return std::nullopt;
}

using History = std::vector<Call<Op>>;

bool IsPossible(const History& history) {
  return IsLinearizable(history, kAbsent, After);
}

std::string Print(const History& history) {
  std::string text;
  for (const auto& [op, begin, end] : history) {
    text += std::to_string(begin) + ".." + std::to_string(end) + ": method " +
            std::to_string(static_cast<int>(op.method)) + " value " +
            std::to_string(op.value) + " expected " +
            std::to_string(op.expected) + " result " +
            std::to_string(op.result) + (op.yes ? " yes\n" : " no\n");
  }
  return text;
}

constexpr int kKey = 7;

void Do(Map<int, int>& map, Op& op) {
  switch (op.method) {
    case Method::kLoad:
      op.result = map.Load(kKey).value_or(kAbsent);
      break;
    case Method::kStore:
      map.Store(kKey, op.value);
      break;
    case Method::kLoadOrStore: {
      const auto [actual, loaded] = map.LoadOrStore(kKey, op.value);
      op.result = actual;
      op.yes = loaded;
      break;
    }
    case Method::kLoadAndDelete:
      op.result = map.LoadAndDelete(kKey).value_or(kAbsent);
      break;
    case Method::kDelete:
      map.Delete(kKey);
      break;
    case Method::kSwap:
      op.result = map.Swap(kKey, op.value).value_or(kAbsent);
      break;
    case Method::kCompareAndSwap:
      op.yes = map.CompareAndSwap(kKey, op.expected, op.value);
      break;
    case Method::kCompareAndDelete:
      op.yes = map.CompareAndDelete(kKey, op.expected);
      break;
    case Method::kRange:
      map.Range([&](int, int value) { op.result = value; });
      break;
    case Method::kClear:
      map.Clear();
      break;
  }
}

class MapHistoryTest : public RuntimeTest {
 protected:
  static History Record(Map<int, int>& map, std::uint64_t seed) {
    return RecordCalls<Op>(4, seed, [&](Caller<Op>& caller) {
      for (int i = 0; i < 6; ++i) {
        caller.Make(
            {.method = static_cast<Method>(caller.random().Below(kMethods)),
             .value = static_cast<int>(caller.random().Below(3)),
             .expected = static_cast<int>(caller.random().Below(3))},
            [&](Op& op) { Do(map, op); });
      }
    });
  }
};
GORGE_INSTANTIATE(MapHistoryTest);

TEST_P(MapHistoryTest, OfOneKeyAreLinearizable) {
  for (int round = 0; round < Scaled(400) + 10; ++round) {
    Map<int, int> map;
    if (round % 2 == 0) {
      // So many reads that the shard is biased towards them.
      map.Delete(kKey);
      for (int i = 0; i < 5000; ++i) (void)map.Load(kKey);
    }
    const History history = Record(map, round);
    ASSERT_TRUE(IsPossible(history)) << Print(history);
  }
}

// The checker's own test: a value is seen by one Load, and not by a later one.
TEST(LinearizableTest, RejectsAValueThatWasSeenAndIsGone) {
  const Op store{.method = Method::kStore, .value = 1};
  const Op sees{.method = Method::kLoad, .result = 1};
  const Op misses{.method = Method::kLoad};
  EXPECT_TRUE(IsPossible({{store, 1, 6}, {misses, 2, 3}, {sees, 4, 5}}));
  EXPECT_FALSE(IsPossible({{store, 1, 6}, {sees, 2, 3}, {misses, 4, 5}}));
  EXPECT_TRUE(IsPossible({{store, 1, 6}, {sees, 2, 4}, {misses, 3, 5}}));
  EXPECT_FALSE(IsPossible({{store, 1, 2}, {misses, 3, 4}}));
}

TEST(LinearizableTest, RejectsTwoWhoTookTheSame) {
  const Op store{.method = Method::kStore, .value = 1};
  const Op take{.method = Method::kLoadAndDelete, .result = 1};
  EXPECT_TRUE(IsPossible({{store, 1, 2}, {take, 3, 6}}));
  EXPECT_FALSE(IsPossible({{store, 1, 2}, {take, 3, 6}, {take, 4, 5}}));
}

TEST(LinearizableTest, RejectsACompareAndSwapOfAnotherValue) {
  const Op store{.method = Method::kStore, .value = 1};
  const Op swap{.method = Method::kCompareAndSwap,
                .value = 2,
                .expected = 0,
                .yes = true};
  EXPECT_FALSE(IsPossible({{store, 1, 2}, {swap, 3, 4}}));
}

}  // namespace
}  // namespace gorge
