// Case B08: something blocked is woken on one of several paths only. Here each
// thing that can block on a channel meets each thing that can release it, in
// goroutines and in plain threads.

#include <functional>
#include <string>
#include <vector>

#include "gorge/chan/chan.h"
#include "gorge/select/select.h"
#include "gorge/select/selector.h"
#include "gorge/tests/support/channels.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::AwaitWaiting;
using ::gorge::testing::Kind;
using ::gorge::testing::kKinds;
using ::gorge::testing::kNoPanic;
using ::gorge::testing::kSendOnClosed;
using ::gorge::testing::PanicText;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Team;
using ::gorge::testing::Waiting;

class WakeupMatrixTest : public RuntimeTest {};
GORGE_INSTANTIATE(WakeupMatrixTest);

using C = Chan<int>;

// An operation that moves one element. A receive returns it, or -1 for a close.
struct Operation {
  const char* name;
  bool blocks;
  std::function<int(const C& c)> run;
};

int Value(const std::optional<int>& v) { return v.value_or(-1); }

const std::vector<Operation>& Receives() {
  static const C idle = MakeChan<int>();
  static const std::vector<Operation> operations = {
      {"Recv", true, [](const C& c) { return Value(c.Recv()); }},
      {"range", true,
       [](const C& c) {
         for (const int v : c) return v;
         return -1;
       }},
      {"select", true,
       [](const C& c) {
         std::optional<int> v;
         Select(OnRecv(idle), OnRecv(c, &v));
         return Value(v);
       }},
      {"select of one", true,
       [](const C& c) {
         std::optional<int> v;
         Select(OnRecv(c, &v));
         return Value(v);
       }},
      {"select in order", true,
       [](const C& c) {
         std::optional<int> v;
         SelectInOrder(OnRecv(c, &v), OnSend(idle, 1));
         return Value(v);
       }},
      {"selector", true,
       [](const C& c) {
         int got = -1;
         Selector selector;
         selector.AddRecv(idle);
         selector.AddRecv(c, [&](int v) { got = v; });
         selector.Run();
         return got;
       }},
      {"TryRecv", false, [](const C& c) { return Value(c.TryRecv().value); }},
      {"select with default", false,
       [](const C& c) {
         std::optional<int> v;
         EXPECT_EQ(Select(OnRecv(idle), OnRecv(c, &v), OnDefault()), 1u);
         return Value(v);
       }},
      {"select of one with default", false,
       [](const C& c) {
         std::optional<int> v;
         EXPECT_EQ(Select(OnDefault(), OnRecv(c, &v)), 1u);
         return Value(v);
       }},
  };
  return operations;
}

const std::vector<Operation>& Sends() {
  static const C idle = MakeChan<int>();
  static const std::vector<Operation> operations = {
      {"Send", true, [](const C& c) { return c.Send(7), 0; }},
      {"select", true,
       [](const C& c) { return Select(OnRecv(idle), OnSend(c, 7)), 0; }},
      {"select of one", true,
       [](const C& c) { return Select(OnSend(c, 7)), 0; }},
      {"select in order", true,
       [](const C& c) { return SelectInOrder(OnSend(c, 7), OnRecv(idle)), 0; }},
      {"selector", true,
       [](const C& c) {
         Selector selector;
         selector.AddRecv(idle);
         selector.AddSend(c, [] { return 7; });
         return selector.Run(), 0;
       }},
      {"TrySend", false,
       [](const C& c) {
         EXPECT_TRUE(c.TrySend(7));
         return 0;
       }},
      {"select with default", false,
       [](const C& c) {
         EXPECT_EQ(Select(OnRecv(idle), OnSend(c, 7), OnDefault()), 1u);
         return 0;
       }},
      {"select of one with default", false,
       [](const C& c) {
         EXPECT_EQ(Select(OnDefault(), OnSend(c, 7)), 1u);
         return 0;
       }},
  };
  return operations;
}

TEST_P(WakeupMatrixTest, EverySendReleasesEveryBlockedReceive) {
  for (const int capacity : {0, 1}) {
    for (const Operation& blocked : Receives()) {
      if (!blocked.blocks) continue;
      for (const Operation& releaser : Sends()) {
        for (const Kind kind : kKinds) {
          for (const Kind other : kKinds) {
            const C c = MakeChan<int>(capacity);
            Team team;
            int got = 0;
            team.Go(kind, [&] { got = blocked.run(c); });
            AwaitWaiting(c, 1);
            team.Go(other, [&] { releaser.run(c); });
            team.Wait();
            EXPECT_EQ(got, 7) << releaser.name << " by a " << other << " for "
                              << blocked.name << " in a " << kind;
            EXPECT_EQ(Waiting(c), 0);
          }
        }
      }
    }
  }
}

TEST_P(WakeupMatrixTest, EveryReceiveReleasesEveryBlockedSend) {
  for (const int capacity : {0, 1}) {
    for (const Operation& blocked : Sends()) {
      if (!blocked.blocks) continue;
      for (const Operation& releaser : Receives()) {
        for (const Kind kind : kKinds) {
          for (const Kind other : kKinds) {
            const C c = MakeChan<int>(capacity);
            for (int i = 0; i < capacity; ++i) c.Send(6);
            Team team;
            team.Go(kind, [&] { blocked.run(c); });
            AwaitWaiting(c, 1);
            int got = 0;
            team.Go(other, [&] { got = releaser.run(c); });
            team.Wait();
            EXPECT_EQ(got, capacity == 0 ? 7 : 6)
                << releaser.name << " by a " << other << " for " << blocked.name
                << " in a " << kind;
            EXPECT_EQ(c.Len(), static_cast<std::size_t>(capacity));
            EXPECT_EQ(Waiting(c), 0);
          }
        }
      }
    }
  }
}

TEST_P(WakeupMatrixTest, ACloseReleasesEverythingThatIsBlocked) {
  for (const int capacity : {0, 1}) {
    for (const bool sends : {false, true}) {
      for (const Operation& blocked : sends ? Sends() : Receives()) {
        if (!blocked.blocks) continue;
        for (const Kind kind : kKinds) {
          for (const Kind other : kKinds) {
            const C c = MakeChan<int>(capacity);
            for (int i = 0; sends && i < capacity; ++i) c.Send(6);
            std::string outcome;
            int got = 0;
            Team team;
            team.Go(kind, [&] {
              outcome = PanicText([&] { got = blocked.run(c); });
            });
            AwaitWaiting(c, 1);
            team.Go(other, [&] { c.Close(); });
            team.Wait();
            EXPECT_EQ(outcome, sends ? kSendOnClosed : kNoPanic)
                << blocked.name << " in a " << kind << ", closed by a "
                << other;
            EXPECT_EQ(got, sends ? 0 : -1);
            EXPECT_EQ(Waiting(c), 0);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace gorge
