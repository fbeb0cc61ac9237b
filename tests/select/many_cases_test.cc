// Selects of very many cases. Case B05: indexes that are cut off, time or stack
// that grows faster than the number of cases.

#include <cstddef>
#include <optional>
#include <vector>

#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/core/runtime.h"
#include "gorge/select/select.h"
#include "gorge/select/selector.h"
#include "gorge/tests/support/channels.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::AwaitWaiting;
using ::gorge::testing::kChecked;
using ::gorge::testing::Kind;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Team;
using ::gorge::testing::Waiting;

class ManyCasesTest : public RuntimeTest {
 protected:
  // Around the limits of 16 bits, and beyond.
  static std::vector<std::size_t> Sizes() {
    std::vector<std::size_t> sizes = {1, 65535, 65536, 65537};
    if (!kChecked) sizes.push_back(200'000);
    return sizes;
  }
};
GORGE_INSTANTIATE(ManyCasesTest);

TEST_P(ManyCasesTest, TheOneThatIsReadyIsFound) {
  const Chan<int> idle = MakeChan<int>();
  const Chan<int> closed = MakeChan<int>();
  closed.Close();
  for (const std::size_t n : Sizes()) {
    Selector selector;
    for (std::size_t i = 0; i < n; ++i) selector.AddRecv(idle);
    for (const std::size_t ready : {std::size_t{0}, n / 2, n - 1}) {
      selector.SetRecv(ready, closed);
      ASSERT_EQ(selector.Run(), ready);
      selector.SetRecv(ready, idle);
    }
    const std::size_t last = selector.AddDefault();
    ASSERT_EQ(last, n);
    ASSERT_EQ(selector.Run(), last);
  }
}

TEST_P(ManyCasesTest, OfOneChannelWaitAndLeave) {
  for (const std::size_t n : Sizes()) {
    const Chan<int> c = MakeChan<int>();
    const Chan<int> wake = MakeChan<int>();
    Team team;
    team.Go(Kind::kGoroutine, [&] {
      Selector selector;
      for (std::size_t i = 0; i + 1 < n; ++i) selector.AddRecv(c);
      const std::size_t last = selector.AddRecv(wake);
      EXPECT_EQ(selector.Run(), last);
      // Once more through any of the others.
      const std::size_t chosen = selector.Run();
      EXPECT_TRUE(n == 1 || chosen < last);
    });
    AwaitWaiting(wake, 1);
    EXPECT_EQ(Waiting(c), static_cast<int>(n) - 1);
    wake.Send(1);
    AwaitWaiting(wake, 1);
    (n == 1 ? wake : c).Send(1);
    team.Wait();
    EXPECT_EQ(Waiting(c), 0);
  }
}

TEST_P(ManyCasesTest, OfManyChannelsWaitAndLeave) {
  for (const std::size_t n : Sizes()) {
    std::vector<Chan<int>> channels(n);
    for (std::size_t i = 0; i < n; ++i) {
      // Every other one is nil; the last is not.
      if ((n - i) % 2 == 1) channels[i] = MakeChan<int>();
    }
    Team team;
    std::size_t chosen = 0;
    int got = 0;
    team.Go(Kind::kGoroutine, [&] {
      Selector selector;
      for (const Chan<int>& c : channels) {
        selector.AddRecv(c, [&](int v) { got = v; });
      }
      chosen = selector.Run();
    });
    AwaitWaiting(channels.back(), 1);
    const std::size_t used = n > 4 ? n - 3 : n - 1;
    channels[used].Send(7);
    team.Wait();
    EXPECT_EQ(chosen, used);
    EXPECT_EQ(got, 7);
    EXPECT_EQ(Waiting(channels.back()), 0);
  }
}

TEST_P(ManyCasesTest, OneSendAmongReceives) {
  for (const std::size_t n : Sizes()) {
    const Chan<int> c = MakeChan<int>();
    const Chan<int> out = MakeChan<int>();
    Team team;
    team.Go(Kind::kGoroutine, [&] {
      Selector selector;
      for (std::size_t i = 0; i + 1 < n; ++i) selector.AddRecv(c);
      const std::size_t send = selector.AddSend(out, [] { return 7; });
      EXPECT_EQ(selector.Run(), send);
    });
    AwaitWaiting(out, 1);
    EXPECT_EQ(out.Recv(), 7);
  }
}

TEST_P(ManyCasesTest, FitOnASmallStack) {
  const Chan<int> idle = MakeChan<int>();
  const Chan<int> done = MakeChan<int>();
  go(GoOptions{.stack_size = 64 * 1024}, [&] {
    Selector selector;
    for (int i = 0; i < 65536; ++i) selector.AddRecv(idle);
    selector.AddSend(done, [] { return 1; });
    selector.Run();
  });
  AwaitWaiting(done, 1);
  EXPECT_EQ(done.Recv(), 1);
  Await([] { return NumGoroutine() == 0; });
}

TEST_P(ManyCasesTest, WrittenOut) {
  const Chan<int> i = MakeChan<int>();
  const Chan<int> closed = MakeChan<int>();
  closed.Close();
  const std::size_t chosen =
      Select(OnRecv(i), OnRecv(i), OnRecv(i), OnRecv(i), OnRecv(i), OnRecv(i),
             OnRecv(i), OnRecv(i), OnRecv(i), OnRecv(i), OnRecv(i), OnRecv(i),
             OnRecv(i), OnRecv(i), OnRecv(i), OnRecv(i), OnRecv(i), OnRecv(i),
             OnSend(i, 1), OnRecv(i), OnRecv(i), OnRecv(i), OnRecv(i),
             OnRecv(i), OnRecv(i), OnRecv(i), OnRecv(i), OnRecv(i),
             OnRecv(closed), OnRecv(i), OnDefault(), OnRecv(i));
  EXPECT_EQ(chosen, 28u);
}

}  // namespace
}  // namespace gorge
