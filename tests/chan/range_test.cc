// Receiving with a range-based for.

#include <algorithm>
#include <iterator>
#include <memory>
#include <numeric>
#include <ranges>
#include <utility>
#include <vector>

#include "gorge/chan/chan.h"
#include "gorge/tests/support/channels.h"
#include "gorge/tests/support/counted.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::AwaitWaiting;
using ::gorge::testing::Counted;
using ::gorge::testing::Kind;
using ::gorge::testing::kKinds;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::gorge::testing::Team;

static_assert(std::ranges::input_range<Chan<int>>);
static_assert(std::ranges::input_range<const Chan<int>>);
static_assert(std::ranges::input_range<RecvChan<int>>);
static_assert(std::ranges::input_range<Chan<std::unique_ptr<int>>>);
static_assert(!std::ranges::forward_range<Chan<int>>);
static_assert(!std::ranges::range<SendChan<int>>);
static_assert(std::is_same_v<std::ranges::range_value_t<Chan<int>>, int>);

class RangeTest : public RuntimeTest {};
GORGE_INSTANTIATE(RangeTest);

// A closed channel that has the values 0 to n - 1 left.
Chan<int> Closed(int n) {
  Chan<int> c = MakeChan<int>(n);
  for (int i = 0; i < n; ++i) c.Send(i);
  c.Close();
  return c;
}

struct Owner {
  RecvChan<int> channel;
};

TEST_P(RangeTest, ReceivesInOrderUntilClosed) {
  for (const int capacity : {0, 1, 10}) {
    const Chan<int> c = MakeChan<int>(capacity);
    Team team;
    team.Go(Kind::kGoroutine, [&] {
      for (int i = 0; i < 100; ++i) c.Send(i);
      c.Close();
    });
    int expected = 0;

    for (const int v : c) EXPECT_EQ(v, expected++);

    EXPECT_EQ(expected, 100);
  }
}

TEST_P(RangeTest, EndsAtOnceOnAChannelThatIsClosedAndEmpty) {
  for (const int v : Closed(0)) ADD_FAILURE() << "received " << v;
}

TEST_P(RangeTest, WaitsForTheNextElementAndForTheClose) {
  for (const Kind kind : kKinds) {
    const Chan<int> c = MakeChan<int>();
    std::vector<int> got;
    Team team;
    team.Go(kind, [&] {
      for (const int v : RecvChan<int>(c)) got.push_back(v);
    });

    for (int i = 0; i < 3; ++i) {
      AwaitWaiting(c, 1);
      c.Send(i);
    }
    AwaitWaiting(c, 1);
    c.Close();

    team.Wait();
    EXPECT_EQ(got, (std::vector<int>{0, 1, 2})) << kind;
  }
}

TEST_P(RangeTest, ABreakLeavesTheRestInTheChannel) {
  const Chan<int> c = Closed(5);

  for (const int v : c) {
    if (v == 1) break;
  }

  EXPECT_EQ(c.Len(), 3u);
  EXPECT_EQ(c.Recv(), 2);
}

TEST_P(RangeTest, AnElementMayBeMovedOutOfTheLoop) {
  const auto c = MakeChan<std::unique_ptr<int>>(3);
  for (int i = 0; i < 3; ++i) c.Send(std::make_unique<int>(i));
  c.Close();
  std::vector<std::unique_ptr<int>> kept;

  for (std::unique_ptr<int>& p : c) kept.push_back(std::move(p));

  ASSERT_EQ(kept.size(), 3u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(*kept[i], i);
}

TEST_P(RangeTest, AnElementIsGoneBeforeTheNextIsWaitedFor) {
  Run([] {
    const Chan<Counted> c = MakeChan<Counted>();
    Team team;
    team.Go(Kind::kGoroutine, [&] {
      for (const Counted& element : c) EXPECT_EQ(element.value(), 7);
    });
    for (int i = 0; i < 3; ++i) {
      c.Send(Counted(7));
      AwaitWaiting(c, 1);
      EXPECT_EQ(Counted::live, 0);
    }
    c.Close();
  });
}

TEST_P(RangeTest, ElementsNeedNotBeAssignable) {
  struct Fixed {
    const int value;
  };
  const Chan<Fixed> c = MakeChan<Fixed>(2);
  c.Send({1});
  c.Send({2});
  c.Close();
  int sum = 0;

  for (const Fixed& element : c) sum += element.value;

  EXPECT_EQ(sum, 3);
}

TEST_P(RangeTest, TheLoopKeepsItsChannel) {
  int sum = 0;
  for (const int v : Closed(4)) sum += v;
  // The owner ends with the initialiser of the loop.
  auto it = Owner{Closed(4)}.channel.begin();
  for (; it != std::default_sentinel; ++it) sum += *it;
  EXPECT_EQ(sum, 12);
}

TEST_P(RangeTest, AlgorithmsTakeIt) {
  int sum = 0;
  std::ranges::for_each(Closed(10), [&](int v) { sum += v; });
  EXPECT_EQ(sum, 45);

  const Chan<int> c = Closed(10);
  EXPECT_EQ(*std::ranges::find(c, 6), 6);
  EXPECT_EQ(c.Recv(), 7);
}

TEST_P(RangeTest, AnIteratorReachesIntoItsElement) {
  const auto c = MakeChan<std::pair<int, int>>(2);
  c.Send({1, 2});
  c.Send({3, 4});
  c.Close();

  auto it = c.begin();

  EXPECT_EQ(it->second, 2);
  EXPECT_EQ((*it).first, 1);
  it++;
  EXPECT_EQ(it->first, 3);
  ++it;
  EXPECT_TRUE(it == c.end());
}

TEST_P(RangeTest, SeveralLoopsShareTheElements) {
  const int n = Scaled(2000);
  const Chan<int> c = MakeChan<int>(4);
  std::vector<long> sums(6);
  Team team;
  for (int i = 0; i < 6; ++i) {
    team.Go(kKinds[i % 2], [&, i] {
      for (const int v : c) sums[i] += v;
    });
  }

  for (int i = 1; i <= n; ++i) c.Send(i);
  c.Close();

  team.Wait();
  EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), 0L), n * (n + 1L) / 2);
}

}  // namespace
}  // namespace gorge
