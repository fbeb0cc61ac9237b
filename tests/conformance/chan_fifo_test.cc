// Strict order along channels, and along chains of goroutines.

#include <vector>

#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::Kind;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::gorge::testing::Team;

class ChanFifoTest : public RuntimeTest {};
GORGE_INSTANTIATE(ChanFifoTest);

TEST_P(ChanFifoTest, ABufferIsAQueue) {
  const Chan<int> c = MakeChan<int>(10);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 10; ++i) c.Send(i);
    for (int i = 0; i < 10; ++i) EXPECT_EQ(c.Recv(), i);
  }
}

// Each link waits for its turn, receives one value, and gives the turn on.
TEST_P(ChanFifoTest, AChainOfGoroutinesReceivesInItsOwnOrder) {
  for (const int capacity : {0, 10}) {
    const Chan<int> c = MakeChan<int>(capacity);
    std::vector<Chan<int>> turns(11);
    for (Chan<int>& turn : turns) turn = MakeChan<int>();
    Team team;
    for (int i = 0; i < 10; ++i) {
      team.Go(Kind::kGoroutine, [&, i] {
        turns[i].Recv();
        EXPECT_EQ(c.Recv(), i);
        turns[i + 1].Send(1);
      });
    }
    team.Go(Kind::kGoroutine, [&] {
      for (int i = 0; i < 10; ++i) c.Send(i);
    });
    turns[0].Send(1);
    turns[10].Recv();
  }
}

// A value goes through ten thousand goroutines, each of which adds one.
TEST_P(ChanFifoTest, TenThousandGoroutinesHandAValueOn) {
  const int n = Scaled(10'000);
  const Chan<int> last = MakeChan<int>();
  Chan<int> right = last;
  for (int i = 0; i < n; ++i) {
    const Chan<int> left = MakeChan<int>();
    go([left, right] { right.Send(*left.Recv() + 1); });
    right = left;
  }
  right.Send(0);
  EXPECT_EQ(last.Recv(), n);
}

TEST_P(ChanFifoTest, ManyValuesGoThroughAChainInOrder) {
  const int n = Scaled(1000);
  const Chan<int> first = MakeChan<int>();
  Chan<int> out = first;
  for (int i = 0; i < 20; ++i) {
    const Chan<int> in = out;
    out = MakeChan<int>(i % 3);
    go([in, out] {
      for (const int v : in) out.Send(v);
      out.Close();
    });
  }
  go([first] {
    for (int i = 0; i < n; ++i) first.Send(i);
    first.Close();
  });
  int expected = 0;
  for (const int v : out) ASSERT_EQ(v, expected++);
  EXPECT_EQ(expected, n);
}

}  // namespace
}  // namespace gorge
