// Case B15: an element is lost, or arrives twice, when the one who sends or
// receives it gives up at that very moment. Here both sides select between the
// channel and a signal to stop, and are started anew after each stop.

#include <atomic>
#include <memory>
#include <optional>
#include <utility>
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

using Id = std::unique_ptr<int>;

class LostElementTest : public RuntimeTest {
 protected:
  static constexpr int kActors = 3;  // On each side.

  static constexpr int kIds = 1 << 20;

  struct Books {
    std::vector<std::atomic<int>> sent = std::vector<std::atomic<int>>(kIds);
    std::vector<std::atomic<int>> received =
        std::vector<std::atomic<int>>(kIds);
    std::atomic<int> next{0};

    // Each of the senders may still take one.
    bool Full() const { return next >= kIds - kActors; }
  };

  static void SendUntil(const Chan<std::monostate>& stop, const Chan<Id>& c,
                        Books& books) {
    while (!books.Full()) {
      const int id = books.next++;
      Id element = std::make_unique<int>(id);
      const std::size_t chosen =
          Select(OnSend(c, std::move(element)), OnRecv(stop));
      if (chosen == 0) {
        EXPECT_EQ(element, nullptr);
        ++books.sent[id];
        continue;
      }
      // Not sent: it is still here, whole.
      ASSERT_NE(element, nullptr);
      EXPECT_EQ(*element, id);
      return;
    }
  }

  static void ReceiveUntil(const Chan<std::monostate>& stop, const Chan<Id>& c,
                           Books& books) {
    while (true) {
      Id element;
      if (Select(OnRecv(stop), OnRecv(c, &element)) == 0) {
        EXPECT_EQ(element, nullptr);
        return;
      }
      ASSERT_NE(element, nullptr);
      ++books.received[*element];
    }
  }
};
GORGE_INSTANTIATE(LostElementTest);

TEST_P(LostElementTest, WhatWasSentIsReceivedOrLeftAndNothingElse) {
  for (const int capacity : {0, 1, 8}) {
    Books books;
    const Chan<Id> c = MakeChan<Id>(capacity);
    for (int round = 0; round < Scaled(100); ++round) {
      const auto stop_senders = MakeChan<std::monostate>();
      const auto stop_receivers = MakeChan<std::monostate>();
      Team team;
      for (int i = 0; i < kActors; ++i) {
        const Kind kind = i == 0 ? kKinds[round % 2] : Kind::kGoroutine;
        team.Go(kind, [&] { SendUntil(stop_senders, c, books); });
        team.Go(kind, [&] { ReceiveUntil(stop_receivers, c, books); });
      }
      // At some moment of their work, in either order.
      const int until = books.next + round % 50;
      Await([&] { return books.next > until || books.Full(); });
      (round % 4 < 2 ? stop_senders : stop_receivers).Close();
      if (round % 2 == 0) Gosched();
      (round % 4 < 2 ? stop_receivers : stop_senders).Close();
    }
    while (std::optional<Id> left = c.TryRecv().value) {
      ++books.received[**left];
    }
    for (int id = 0; id < books.next; ++id) {
      ASSERT_LE(books.sent[id], 1);
      ASSERT_EQ(books.sent[id], books.received[id]) << id;
    }
  }
}

// The same with operations that do not block: refused, the element stays.
TEST_P(LostElementTest, ATrySendThatIsRefusedKeepsItsElement) {
  const int n = Scaled(5000);
  for (const int capacity : {0, 1, 8}) {
    const Chan<Id> c = MakeChan<Id>(capacity);
    std::vector<std::atomic<int>> received(n);
    Team senders;
    Team receivers;
    for (int i = 0; i < 2; ++i) {
      senders.Go(kKinds[i], [&, i] {
        for (int id = i; id < n; id += 2) {
          Id element = std::make_unique<int>(id);
          while (!c.TrySend(std::move(element))) {
            ASSERT_NE(element, nullptr);
            Gosched();
          }
          ASSERT_EQ(element, nullptr);
        }
      });
      receivers.Go(kKinds[i], [&] {
        for (const Id& id : c) ++received[*id];
      });
    }
    senders.Wait();
    c.Close();
    receivers.Wait();
    for (const std::atomic<int>& count : received) ASSERT_EQ(count, 1);
  }
}

}  // namespace
}  // namespace gorge
