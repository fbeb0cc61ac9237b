// A mix of all forms of sends, receives and selects: each performs one real
// operation and gives the right result, whether it comes first and waits or
// finds what it needs. What runs beside it is always a partner that does the
// opposite.

#include <functional>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "gorge/chan/chan.h"
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

using ::gorge::testing::Kind;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::gorge::testing::Team;
using ::gorge::testing::Waiting;

class ChanFormsTest : public RuntimeTest {
 protected:
  using C = Chan<int>;
  using Receive = std::function<int(const C&)>;     // Returns what came.
  using Send = std::function<void(const C&, int)>;  // Sends that.

  std::vector<Send> Sends() const {
    return {
        [](const C& c, int v) { c.Send(v); },
        [](const C& c, int v) { SendChan<int>(c).Send(v); },
        [](const C& c, int v) {
          while (!c.TrySend(v)) Gosched();
        },
        [](const C& c, int v) { Select(OnSend(c, v)); },
        [](const C& c, int v) {
          bool sent = false;
          Select(OnSend(c, std::move(v), [&] { sent = true; }));
          EXPECT_TRUE(sent);
        },
        [](const C& c, int v) {
          while (Select(OnSend(c, v), OnDefault(Gosched)) == 1) {
          }
        },
        [this](const C& c, int v) {
          EXPECT_EQ(
              Select(OnRecv(idle_), OnSend(c, v), OnSend(idle_to_send_, -1)),
              1u);
        },
        [this](const C& c, int v) {
          EXPECT_EQ(Select(OnSend(nil_, -1), OnRecv(nil_), OnSend(c, v)), 2u);
        },
        [](const C& c, int v) { Select(OnSend(c, v), OnSend(c, v)); },
        [this](const C& c, int v) {
          while (Select(OnRecv(idle_), OnSend(c, v), OnDefault()) == 2) {
            Gosched();
          }
        },
        [this](const C& c, int v) {
          EXPECT_EQ(SelectInOrder(OnRecv(idle_), OnSend(c, v)), 1u);
        },
        [this](const C& c, int v) {
          Selector selector;
          selector.AddRecv(idle_);
          selector.AddRecv(nil_);
          selector.AddSend(c, [v] { return v; });
          EXPECT_EQ(selector.Run(), 2u);
        },
    };
  }

  std::vector<Receive> Receives() const {
    return {
        [](const C& c) { return *c.Recv(); },
        [](const C& c) { return *RecvChan<int>(c).Recv(); },
        [](const C& c) { return *c.begin(); },
        [](const C& c) {
          while (true) {
            if (const std::optional<int> v = c.TryRecv().value) return *v;
            Gosched();
          }
        },
        [](const C& c) {
          int got = -1;
          Select(OnRecv(c, &got));
          return got;
        },
        [](const C& c) {
          int got = -1;
          while (Select(OnRecv(c, &got), OnDefault()) == 1) Gosched();
          return got;
        },
        [this](const C& c) {
          int got = -1;
          bool ok = false;
          Select(OnRecv(idle_), OnRecv(c, &got, &ok));
          EXPECT_TRUE(ok);
          return got;
        },
        [this](const C& c) {
          int got = -1;
          Select(OnSend(idle_to_send_, -1), OnRecv(nil_),
                 OnRecv(c, [&](int v) { got = v; }));
          return got;
        },
        [](const C& c) {
          int got = -1;
          Select(OnRecv(c, [&](std::optional<int> v) { got = *v; }),
                 OnRecv(c, [&](int v) { got = v; }));
          return got;
        },
        [this](const C& c) {
          std::optional<int> got;
          while (Select(OnDefault(Gosched), OnRecv(c, &got), OnRecv(idle_)) ==
                 0) {
          }
          return *got;
        },
        [this](const C& c) {
          std::optional<int> got;
          SelectInOrder(OnRecv(idle_), OnRecv(c, &got),
                        OnSend(idle_to_send_, -1));
          return *got;
        },
        [this](const C& c) {
          int got = -1;
          Selector selector;
          selector.AddSend(idle_to_send_, [] { return -1; });
          selector.AddRecv(c, [&](int v) { got = v; });
          EXPECT_EQ(selector.Run(), 1u);
          return got;
        },
    };
  }

 private:
  // Two, since a send and a receive on one of them would meet.
  const C idle_ = MakeChan<int>();
  const C idle_to_send_ = MakeChan<int>();
  const C nil_{};
};
GORGE_INSTANTIATE(ChanFormsTest);

// The forms above that do not block but try again, by their index.
const std::set<std::size_t> kTryingSends = {2, 5, 9};
const std::set<std::size_t> kTryingReceives = {3, 5, 9};

TEST_P(ChanFormsTest, EachSendMeetsEachReceive) {
  const std::vector<Send> sends = Sends();
  const std::vector<Receive> receives = Receives();
  Run([&] {
    for (const int capacity : {0, 1, 2}) {
      const Chan<int> c = MakeChan<int>(capacity);
      for (std::size_t s = 0; s < sends.size(); ++s) {
        for (std::size_t r = 0; r < receives.size(); ++r) {
          // Without a buffer, two that only try never find each other waiting.
          if (capacity == 0 && kTryingSends.contains(s) &&
              kTryingReceives.contains(r)) {
            continue;
          }
          const int value = static_cast<int>(100 * s + r);
          Team team;
          team.Go(Kind::kGoroutine, [&] { sends[s](c, value); });
          EXPECT_EQ(receives[r](c), value) << "send " << s << ", receive " << r;
          team.Wait();
          EXPECT_EQ(c.Len(), 0u);
          EXPECT_EQ(Waiting(c), 0);
        }
      }
    }
  });
}

TEST_P(ChanFormsTest, AnyMixKeepsTheOrder) {
  const std::vector<Send> sends = Sends();
  const std::vector<Receive> receives = Receives();
  const int n = Scaled(2000);
  for (const int capacity : {0, 1, 5}) {
    const Chan<int> c = MakeChan<int>(capacity);
    Team team;
    team.Go(Kind::kGoroutine, [&] {
      std::minstd_rand random(1);
      for (int i = 0; i < n;) {
        const std::size_t s = random() % sends.size();
        // As above: without a buffer, one side of the two does not only try.
        if (capacity == 0 && kTryingSends.contains(s)) continue;
        sends[s](c, i++);
      }
    });
    team.Go(Kind::kGoroutine, [&] {
      std::minstd_rand random(2);
      for (int i = 0; i < n; ++i) {
        ASSERT_EQ(receives[random() % receives.size()](c), i);
      }
    });
  }
}

TEST_P(ChanFormsTest, AReceivedValueMayBeThrownAwayInEveryForm) {
  Run([] {
    for (const int capacity : {0, 1}) {
      const Chan<int> c = MakeChan<int>(capacity);
      const Chan<int> idle = MakeChan<int>();
      bool ok = false;
      const std::vector<std::function<void()>> forms = {
          [&] { c.Recv(); },
          [&] { Select(OnRecv(c)); },
          [&] { Select(OnRecv(c, [] {})); },
          [&] { Select(OnRecv(c), OnRecv(idle)); },
          [&] { Select(OnRecv(idle), OnRecv(c, [] {})); },
          [&] { SelectInOrder(OnRecv(idle), OnRecv(c)); },
          [&] {
            int ignored;
            Select(OnRecv(c, &ignored, &ok), OnRecv(idle));
            EXPECT_TRUE(ok);
          },
      };
      for (const auto& receive : forms) {
        Team team;
        team.Go(Kind::kGoroutine, receive);
        AwaitParked(1);
        c.Send(7);
        team.Wait();
        EXPECT_EQ(c.Len(), 0u);
      }
    }
  });
}

TEST_P(ChanFormsTest, LeavingASelectIsNotLeavingTheLoopAroundIt) {
  // A handler returns early; the loop goes on.
  const Chan<int> closed = MakeChan<int>();
  closed.Close();
  int rounds = 0;
  int after = 0;
  while (rounds < 3) {
    ++rounds;
    Select(OnRecv(closed, [&] {
      if (rounds > 0) return;
      ++after;
    }));
    Select(OnRecv(closed, [&] { return; }), OnRecv(closed, [&] { return; }));
    Select(OnRecv(closed, [&] { return; }), OnRecv(closed, [&] { return; }),
           OnDefault([&] { return; }));
  }
  EXPECT_EQ(rounds, 3);
  EXPECT_EQ(after, 0);
}

}  // namespace
}  // namespace gorge
