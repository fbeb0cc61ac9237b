// Four channels between senders and receivers of every sort: plain operations,
// selects over all in different orders, selects over channels that become nil.

#include <array>
#include <numeric>

#include "gorge/chan/chan.h"
#include "gorge/select/select.h"
#include "gorge/tests/support/channels.h"
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
using ::gorge::testing::Waiting;

class ChanSelectStressTest : public RuntimeTest {};
GORGE_INSTANTIATE(ChanSelectStressTest);

using Channels = std::array<Chan<int>, 4>;

TEST_P(ChanSelectStressTest, EveryCountIsMet) {
  const int n = Scaled(4000);
  const Channels c = {MakeChan<int>(), MakeChan<int>(), MakeChan<int>(2),
                      MakeChan<int>(3)};
  Team team;
  for (int k = 0; k < 4; ++k) {
    team.Go(k == 3 ? Kind::kThread : Kind::kGoroutine, [&, k] {
      for (int i = 0; i < n; ++i) c[k].Send(0);
    });
    team.Go(k == 2 ? Kind::kThread : Kind::kGoroutine, [&, k] {
      for (int i = 0; i < n; ++i) c[k].Recv();
    });
  }
  // Sends n to each; a channel that has had its share becomes nil.
  team.Go(Kind::kGoroutine, [&] {
    Channels left = c;
    std::array<int, 4> sent{};
    for (int i = 0; i < 4 * n; ++i) {
      const std::size_t chosen = Select(OnSend(left[3], 0), OnSend(left[2], 0),
                                        OnSend(left[0], 0), OnSend(left[1], 0));
      constexpr std::array<std::size_t, 4> kOrder = {3, 2, 0, 1};
      const std::size_t k = kOrder[chosen];
      if (++sent[k] == n) left[k] = {};
    }
  });
  // Receives n from each, in another order.
  team.Go(Kind::kGoroutine, [&] {
    Channels left = c;
    std::array<int, 4> received{};
    const auto count = [&](std::size_t k) {
      return [&, k] {
        if (++received[k] == n) left[k] = {};
      };
    };
    for (int i = 0; i < 4 * n; ++i) {
      Select(OnRecv(left[0], count(0)), OnRecv(left[1], count(1)),
             OnRecv(left[2], count(2)), OnRecv(left[3], count(3)));
    }
  });
  team.Wait();
  for (const Chan<int>& channel : c) {
    EXPECT_EQ(channel.Len(), 0u);
    EXPECT_EQ(Waiting(channel), 0);
  }
}

// One counter, sent on two channels of which each becomes nil after a while.
TEST_P(ChanSelectStressTest, ChannelsThatBecomeNilAreNotSentTo) {
  Run([] {
    const Chan<int> c1 = MakeChan<int>();
    const Chan<int> c2 = MakeChan<int>();
    Team team;
    team.Go(Kind::kGoroutine, [&] {
      Chan<int> a = c1;
      Chan<int> b = c2;
      int counter = 0;
      while (a || b) {
        Select(OnSend(a, counter), OnSend(b, counter));
        ++counter;
        if (counter == 50) a = {};
        if (counter == 100) b = {};
      }
    });
    int sum = 0;
    for (int i = 0; i < 100; ++i) {
      int got = -1;
      const std::size_t chosen = Select(OnRecv(c1, &got), OnRecv(c2, &got));
      if (i >= 50) {
        EXPECT_EQ(chosen, 1u);
      }
      EXPECT_EQ(got, i);
      sum += got;
    }
    EXPECT_EQ(sum, 100 * 99 / 2);
  });
}

}  // namespace
}  // namespace gorge
