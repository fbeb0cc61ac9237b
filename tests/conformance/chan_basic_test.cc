// A channel of each capacity from 0 to 199 through its whole life: what blocks,
// what fails, what a close leaves.

#include <atomic>
#include <optional>
#include <vector>

#include "gorge/chan/chan.h"
#include "gorge/select/select.h"
#include "gorge/tests/support/channels.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::AwaitWaiting;
using ::gorge::testing::Kind;
using ::gorge::testing::kKinds;
using ::gorge::testing::kSlowdown;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Team;

class ChanBasicTest : public RuntimeTest {
 protected:
  // Calls f(capacity) in a goroutine for many capacities.
  template <class F>
  static void ForCapacities(const F& f) {
    const int step = kSlowdown > 4 ? 37 : 1;
    Run([&] {
      for (int capacity = 0; capacity < 200; capacity += step) f(capacity);
    });
  }

  static Chan<int> Full(int capacity) {
    Chan<int> c = MakeChan<int>(capacity);
    for (int i = 0; i < capacity; ++i) c.Send(i);
    return c;
  }
};
GORGE_INSTANTIATE(ChanBasicTest);

TEST_P(ChanBasicTest, EveryReceiveFromAnEmptyChannelBlocks) {
  ForCapacities([](int capacity) {
    const Chan<int> c = MakeChan<int>(capacity);
    std::atomic<int> received{0};
    Team team;
    team.Go(Kind::kGoroutine, [&] { received += c.Recv().has_value(); });
    team.Go(Kind::kGoroutine,
            [&] { Select(OnRecv(c, [&](int) { ++received; })); });
    AwaitWaiting(c, 2);
    EXPECT_FALSE(c.TryRecv().ready);
    EXPECT_EQ(Select(OnRecv(c), OnDefault()), 1u);
    EXPECT_EQ(received, 0);
    c.Send(0);
    c.Send(0);
    team.Wait();
    EXPECT_EQ(received, 2);
  });
}

TEST_P(ChanBasicTest, EverySendToAFullChannelBlocks) {
  ForCapacities([](int capacity) {
    const Chan<int> c = Full(capacity);
    Team team;
    team.Go(Kind::kGoroutine, [&] { c.Send(capacity); });
    AwaitWaiting(c, 1);
    EXPECT_FALSE(c.TrySend(-1));
    EXPECT_EQ(Select(OnSend(c, -1), OnDefault()), 1u);
    EXPECT_EQ(c.Len(), static_cast<std::size_t>(capacity));
    for (int i = 0; i <= capacity; ++i) ASSERT_EQ(c.Recv(), i);
  });
}

TEST_P(ChanBasicTest, AClosedChannelGivesItsElementsAndThenNothing) {
  ForCapacities([](int capacity) {
    const Chan<int> c = Full(capacity);
    c.Close();
    for (int i = 0; i < capacity; ++i) ASSERT_EQ(c.Recv(), i);
    ASSERT_EQ(c.Recv(), std::nullopt);
    const auto [ready, value] = c.TryRecv();
    ASSERT_TRUE(ready);
    ASSERT_EQ(value, std::nullopt);
    int out = 1;
    bool ok = true;
    Select(OnRecv(c, &out, &ok));
    ASSERT_EQ(out, 0);
    ASSERT_FALSE(ok);
  });
}

TEST_P(ChanBasicTest, ACloseWakesABlockedReceiver) {
  ForCapacities([](int capacity) {
    const Chan<int> c = MakeChan<int>(capacity);
    Team team;
    team.Go(Kind::kGoroutine, [&] { EXPECT_EQ(c.Recv(), std::nullopt); });
    AwaitWaiting(c, 1);
    c.Close();
  });
}

TEST_P(ChanBasicTest, AHundredElementsArriveInOrder) {
  ForCapacities([](int capacity) {
    const Chan<int> c = MakeChan<int>(capacity);
    // Once with the sender as the new goroutine, once with the receiver.
    Team team;
    team.Go(Kind::kGoroutine, [&] {
      for (int i = 0; i < 100; ++i) c.Send(i);
    });
    for (int i = 0; i < 100; ++i) ASSERT_EQ(c.Recv(), i);
    team.Go(Kind::kGoroutine, [&] {
      for (int i = 0; i < 100; ++i) ASSERT_EQ(c.Recv(), i);
    });
    for (int i = 0; i < 100; ++i) c.Send(i);
  });
}

TEST_P(ChanBasicTest, FourSendersAndFourReceiversLoseAndDoubleNothing) {
  ForCapacities([](int capacity) {
    constexpr int kValues = 50;
    const Chan<int> c = MakeChan<int>(capacity);
    std::vector<std::atomic<int>> seen(kValues);
    Team senders;
    Team receivers;
    for (int i = 0; i < 4; ++i) {
      senders.Go(Kind::kGoroutine, [&] {
        for (int v = 0; v < kValues; ++v) c.Send(v);
      });
      receivers.Go(Kind::kGoroutine, [&] {
        for (int k = 0; k < kValues; ++k) ++seen[*c.Recv()];
      });
    }
    senders.Wait();
    receivers.Wait();
    for (const std::atomic<int>& count : seen) ASSERT_EQ(count, 4);
    ASSERT_EQ(c.Len(), 0u);
  });
}

TEST_P(ChanBasicTest, LenAndCapTellWhatWasSent) {
  ForCapacities([](int capacity) {
    const Chan<int> c = MakeChan<int>(capacity);
    ASSERT_EQ(c.Cap(), static_cast<std::size_t>(capacity));
    for (int i = 0; i < capacity; ++i) {
      ASSERT_EQ(c.Len(), static_cast<std::size_t>(i));
      c.Send(i);
    }
    ASSERT_EQ(c.Len(), c.Cap());
  });
}

}  // namespace
}  // namespace gorge
