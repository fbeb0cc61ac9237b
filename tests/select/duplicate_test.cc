// The same channel in several cases of one select.

#include <optional>

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
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::gorge::testing::Team;
using ::gorge::testing::Waiting;

class DuplicateTest : public RuntimeTest {};
GORGE_INSTANTIATE(DuplicateTest);

TEST_P(DuplicateTest, TwoReceivesTakeOneElement) {
  for (const Kind kind : kKinds) {
    const Chan<int> c = MakeChan<int>();
    Team team;
    team.Go(kind, [&] {
      int a = 0;
      int b = 0;
      const std::size_t chosen = Select(OnRecv(c, &a), OnRecv(c, &b));
      EXPECT_EQ(chosen == 0 ? a : b, 7);
      EXPECT_EQ(chosen == 0 ? b : a, 0);
    });
    AwaitWaiting(c, 2);

    c.Send(7);

    team.Wait();
    EXPECT_EQ(Waiting(c), 0);
    EXPECT_FALSE(c.TrySend(8));
  }
}

TEST_P(DuplicateTest, TwoSendsSendOneElement) {
  for (const Kind kind : kKinds) {
    const Chan<int> c = MakeChan<int>();
    Team team;
    team.Go(kind, [&] { Select(OnSend(c, 1), OnSend(c, 2), OnSend(c, 3)); });
    AwaitWaiting(c, 3);

    EXPECT_TRUE(c.Recv().has_value());

    team.Wait();
    EXPECT_EQ(Waiting(c), 0);
    EXPECT_FALSE(c.TryRecv().ready);
  }
}

TEST_P(DuplicateTest, OneSelectDoesNotSendToItself) {
  for (const Kind kind : kKinds) {
    const Chan<int> c = MakeChan<int>();
    EXPECT_EQ(Select(OnSend(c, 1), OnRecv(c), OnDefault()), 2u);
    EXPECT_EQ(SelectInOrder(OnRecv(c), OnSend(c, 1), OnDefault()), 2u);
    // Waiting in both queues, it does not meet itself either.
    Team team;
    team.Go(kind, [&] {
      int got = 0;
      EXPECT_EQ(Select(OnSend(c, 1), OnRecv(c, &got)), 1u);
      EXPECT_EQ(got, 7) << kind;
      EXPECT_EQ(Select(OnRecv(c), OnSend(c, 2)), 1u);
    });
    AwaitWaiting(c, 2);
    c.Send(7);
    AwaitWaiting(c, 2);
    EXPECT_EQ(c.Recv(), 2);
  }
}

TEST_P(DuplicateTest, TwoSuchSelectsMeet) {
  for (const Kind kind : kKinds) {
    const Chan<int> c = MakeChan<int>();
    Team team;
    int sent[2] = {};
    int received[2] = {};
    for (int i = 0; i < 2; ++i) {
      team.Go(i == 0 ? kind : Kind::kGoroutine, [&, i] {
        for (int k = 0; k < Scaled(500); ++k) {
          int got = -1;
          if (Select(OnSend(c, i), OnRecv(c, &got)) == 0) {
            ++sent[i];
          } else {
            ASSERT_EQ(got, 1 - i) << "received what it sent itself";
            ++received[i];
          }
        }
      });
    }
    team.Wait();
    EXPECT_EQ(sent[0], received[1]);
    EXPECT_EQ(sent[1], received[0]);
  }
}

TEST_P(DuplicateTest, ChannelsTakeTurnsInAnyOrderAndNumber) {
  const Chan<int> a = MakeChan<int>();
  const Chan<int> b = MakeChan<int>();
  for (int i = 0; i < 20; ++i) {
    Team team;
    team.Go(kKinds[i % 2], [&] {
      Select(OnRecv(a), OnRecv(b), OnRecv(a), OnSend(b, 1), OnRecv(b),
             OnSend(a, 2), OnRecv(a));
    });
    AwaitWaiting(a, 4);
    AwaitWaiting(b, 3);
    switch (i % 4) {
      case 0:
        a.Send(7);
        break;
      case 1:
        EXPECT_EQ(a.Recv(), 2);
        break;
      case 2:
        EXPECT_EQ(b.Recv(), 1);
        break;
      default:
        b.Send(7);
    }
    team.Wait();
    EXPECT_EQ(Waiting(a) + Waiting(b), 0);
  }
}

}  // namespace
}  // namespace gorge
