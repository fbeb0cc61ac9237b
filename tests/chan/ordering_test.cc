// What a channel orders. The data here are no atomics: where the order is not
// kept, the values are wrong now and then, and ThreadSanitizer says so at once.

#include <optional>
#include <variant>
#include <vector>

#include "gorge/chan/chan.h"
#include "gorge/core/runtime.h"
#include "gorge/select/select.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::Kind;
using ::gorge::testing::kKinds;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::gorge::testing::Team;

using Signal = std::monostate;

class OrderingTest : public RuntimeTest {
 protected:
  // Runs first(i) and second(i) for each i up to n, in two goroutines or
  // threads.
  template <class First, class Second>
  static void Repeat(const First& first, const Second& second,
                     int n = Scaled(1000)) {
    for (const Kind kind : kKinds) {
      Team team;
      team.Go(kind, [&] {
        for (int i = 1; i <= n; ++i) first(i);
      });
      team.Go(Kind::kGoroutine, [&] {
        for (int i = 1; i <= n; ++i) second(i);
      });
    }
  }
};
GORGE_INSTANTIATE(OrderingTest);

TEST_P(OrderingTest, WhatPrecedesASendHappensBeforeItsReceive) {
  for (const int capacity : {0, 1}) {
    const Chan<Signal> there = MakeChan<Signal>(capacity);
    const Chan<Signal> back = MakeChan<Signal>();
    int data = 0;
    Repeat(
        [&](int i) {
          data = i;
          there.Send({});
          back.Recv();
        },
        [&](int i) {
          there.Recv();
          EXPECT_EQ(data, i);
          back.Send({});
        });
  }
}

TEST_P(OrderingTest, WhatPrecedesATrySendHappensBeforeTheTryRecv) {
  for (const int capacity : {0, 1}) {
    const Chan<Signal> there = MakeChan<Signal>(capacity);
    const Chan<Signal> back = MakeChan<Signal>(1);
    int data = 0;
    Repeat(
        [&](int i) {
          data = i;
          if (capacity == 0) {
            there.Send({});
          } else {
            while (!there.TrySend({})) Gosched();
          }
          while (!back.TryRecv().ready) Gosched();
        },
        [&](int i) {
          while (!there.TryRecv().ready) Gosched();
          EXPECT_EQ(data, i);
          while (!back.TrySend({})) Gosched();
        },
        Scaled(30));  // Polling is slow on a busy machine.
  }
}

TEST_P(OrderingTest, WhatPrecedesAReceiveHappensBeforeTheReturnOfItsSend) {
  // Only without a buffer.
  const Chan<Signal> c = MakeChan<Signal>();
  const Chan<Signal> next = MakeChan<Signal>();
  int data = 0;
  Repeat(
      [&](int i) {
        data = i;
        c.Recv();
        next.Recv();
      },
      [&](int i) {
        c.Send({});
        EXPECT_EQ(data, i);
        next.Send({});
      });
}

TEST_P(OrderingTest, TheKthReceiveHappensBeforeTheReturnOfSendKPlusCapacity) {
  constexpr int kCapacity = 3;
  const Chan<Signal> c = MakeChan<Signal>(kCapacity);
  std::vector<int> data(Scaled(1000) + 1);
  Repeat(
      [&](int i) {
        data[i] = i;
        c.Recv();
      },
      [&](int i) {
        c.Send({});
        if (i > kCapacity) {
          EXPECT_EQ(data[i - kCapacity], i - kCapacity);
          data[i - kCapacity] = 0;
        }
      });
}

TEST_P(OrderingTest, WhatPrecedesACloseHappensBeforeAReceiveThatReturnsForIt) {
  for (const bool by_try : {false, true}) {
    const int n = by_try ? Scaled(30) : Scaled(1000);
    std::vector<Chan<Signal>> channels(n + 1);
    for (Chan<Signal>& c : channels) c = MakeChan<Signal>();
    int data = 0;
    const Chan<Signal> back = MakeChan<Signal>();
    Repeat(
        [&](int i) {
          data = i;
          channels[i].Close();
          back.Recv();
          channels[i] = MakeChan<Signal>();  // For the next repetition.
        },
        [&](int i) {
          if (by_try) {
            while (!channels[i].TryRecv().ready) Gosched();
          } else {
            channels[i].Recv();
          }
          EXPECT_EQ(data, i);
          back.Send({});
        },
        n);
  }
}

TEST_P(OrderingTest, SelectsOrderLikeTheOperationsTheyChoose) {
  const Chan<Signal> a = MakeChan<Signal>();
  const Chan<Signal> b = MakeChan<Signal>(1);
  const Chan<Signal> back = MakeChan<Signal>();
  const Chan<int> idle = MakeChan<int>();
  int data = 0;
  Repeat(
      [&](int i) {
        data = i;
        Select(OnSend(a, Signal()), OnSend(b, Signal()), OnRecv(idle));
        Select(OnRecv(back), OnRecv(idle));
        EXPECT_EQ(data, -i);
      },
      [&](int i) {
        Select(OnRecv(a), OnRecv(b), OnRecv(idle));
        EXPECT_EQ(data, i);
        data = -i;
        Select(OnSend(back, Signal()), OnRecv(idle));
      });
}

}  // namespace
}  // namespace gorge
