// Case B16: a close that races with sends leaves senders hanging, a length
// underflows, or a receiver is told "closed" though elements are still due.

#include <array>
#include <atomic>
#include <optional>

#include "gorge/chan/chan.h"
#include "gorge/core/runtime.h"
#include "gorge/select/select.h"
#include "gorge/tests/support/channels.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::kCloseOfClosed;
using ::gorge::testing::Kind;
using ::gorge::testing::kKinds;
using ::gorge::testing::kNoPanic;
using ::gorge::testing::kSendOnClosed;
using ::gorge::testing::PanicText;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::gorge::testing::Team;
using ::gorge::testing::Waiting;

class CloseRaceTest : public RuntimeTest {};
GORGE_INSTANTIATE(CloseRaceTest);

struct Counts {
  std::atomic<int> sent{0};
  std::atomic<int> received{0};
  std::atomic<int> closed{0};
};

// Sends in one of several ways until told that the channel is closed.
void SendUntilClosed(const Chan<int>& c, int way, Counts& counts) {
  const std::string text = PanicText([&] {
    while (true) {
      switch (way % 3) {
        case 0:
          c.Send(1);
          break;
        case 1:
          Select(OnSend(c, 1), OnRecv(Chan<int>()));
          break;
        default:
          while (!c.TrySend(1)) Gosched();
      }
      ++counts.sent;
    }
  });
  EXPECT_EQ(text, kSendOnClosed);
}

// Receives in one of several ways until told that the channel is closed. From
// then on nothing may come.
void ReceiveUntilClosed(const Chan<int>& c, int way, Counts& counts) {
  while (true) {
    std::optional<int> v;
    switch (way % 3) {
      case 0:
        v = c.Recv();
        break;
      case 1:
        Select(OnRecv(Chan<int>()), OnRecv(c, &v));
        break;
      default:
        while (true) {
          const auto [ready, value] = c.TryRecv();
          v = value;
          if (ready) break;
          Gosched();
        }
    }
    if (!v.has_value()) break;
    ++counts.received;
  }
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(c.Recv(), std::nullopt) << "an element after the close";
    EXPECT_TRUE(c.TryRecv().ready);
  }
}

void OneRound(int capacity, Kind kind) {
  const Chan<int> c = MakeChan<int>(capacity);
  Counts counts;
  Team team;
  for (int i = 0; i < 6; ++i) {
    const Kind own = i < 2 ? kind : Kind::kGoroutine;
    team.Go(own, [&, i] { SendUntilClosed(c, i, counts); });
    team.Go(own, [&, i] { ReceiveUntilClosed(c, i, counts); });
  }
  // Measures it all the time.
  team.Go(Kind::kGoroutine, [&] {
    while (counts.closed == 0) {
      EXPECT_LE(c.Len(), c.Cap());
      Gosched();
    }
  });
  for (int i = 0; i < 4; ++i) {
    team.Go(Kind::kGoroutine, [&] {
      while (counts.sent < 20) Gosched();
      const std::string text = PanicText([&] { c.Close(); });
      EXPECT_TRUE(text == kNoPanic || text == kCloseOfClosed) << text;
      counts.closed += text == kNoPanic;
    });
  }
  team.Wait();
  EXPECT_EQ(counts.closed, 1);
  EXPECT_EQ(counts.sent, counts.received);
  EXPECT_EQ(c.Len(), 0u);
  EXPECT_EQ(Waiting(c), 0);
}

TEST_P(CloseRaceTest, EverySenderAndReceiverEndsAndNothingIsLost) {
  for (const int capacity : {0, 1, 64}) {
    for (const Kind kind : kKinds) {
      for (int i = 0; i < Scaled(60); ++i) OneRound(capacity, kind);
    }
  }
}

// What a sender has sent before the close is received before its end is seen.
TEST_P(CloseRaceTest, AReceiverIsNotToldClosedWhileElementsAreDue) {
  for (const int capacity : {0, 1, 64}) {
    for (const Kind kind : kKinds) {
      for (int round = 0; round < Scaled(300); ++round) {
        const Chan<int> c = MakeChan<int>(capacity);
        Team team;
        team.Go(kind, [&] {
          for (int i = 0; i < 5; ++i) c.Send(i);
          c.Close();
        });
        for (int expected = 0;;) {
          const auto [ready, value] = c.TryRecv();
          if (!ready) {
            Gosched();
            continue;
          }
          if (!value.has_value()) {
            ASSERT_EQ(expected, 5);
            break;
          }
          ASSERT_EQ(*value, expected++);
        }
      }
    }
  }
}

}  // namespace
}  // namespace gorge
