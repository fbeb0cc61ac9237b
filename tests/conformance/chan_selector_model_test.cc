// Random selects over random channels, checked against what a model says: which
// cases are ready, what the chosen one gives, and what it changes.

#include <deque>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "gorge/chan/chan.h"
#include "gorge/select/selector.h"
#include "gorge/tests/support/census.h"
#include "gorge/tests/support/channels.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::AwaitWaiting;
using ::gorge::testing::Kind;
using ::gorge::testing::kNoPanic;
using ::gorge::testing::kSendOnClosed;
using ::gorge::testing::PanicText;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::gorge::testing::Team;

// A channel and what must be in it.
struct Modelled {
  Chan<int> channel;
  std::deque<int> elements;
  bool closed = false;

  bool CanReceive() const { return closed || !elements.empty(); }
  bool CanSend() const { return closed || elements.size() < channel.Cap(); }
};

struct ModelCase {
  Modelled* channel = nullptr;  // Null: the default.
  bool is_send = false;
  int value = 0;

  bool IsReady() const {
    return channel != nullptr && channel->channel &&
           (is_send ? channel->CanSend() : channel->CanReceive());
  }
};

class ChanSelectorModelTest : public RuntimeTest {
 protected:
  std::size_t Below(std::size_t n) { return random_() % n; }

  Modelled MakeModelled() {
    Modelled m;
    if (Below(6) == 0) return m;  // nil
    m.channel = MakeChan<int>(Below(4));
    const std::size_t filled = Below(m.channel.Cap() + 1);
    for (std::size_t i = 0; i < filled; ++i) {
      m.elements.push_back(next_value_++);
      m.channel.Send(m.elements.back());
    }
    if (Below(4) == 0) {
      m.closed = true;
      m.channel.Close();
    }
    return m;
  }

  void CheckOneSelect();

 private:
  std::minstd_rand random_{1};
  int next_value_ = 1;
};
GORGE_INSTANTIATE(ChanSelectorModelTest);

void ChanSelectorModelTest::CheckOneSelect() {
  std::vector<Modelled> channels(1 + Below(5));
  for (Modelled& m : channels) m = MakeModelled();
  std::vector<ModelCase> cases(1 + Below(8));
  Selector selector;
  std::optional<int> received;
  bool has_default = false;
  std::set<std::size_t> ready;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    ModelCase& c = cases[i];
    if (!has_default && Below(6) == 0) {
      has_default = true;
      selector.AddDefault();
      continue;
    }
    c = {&channels[Below(channels.size())], Below(2) == 0, next_value_++};
    if (c.is_send) {
      selector.AddSend(c.channel->channel, [&c] { return c.value; });
    } else {
      selector.AddRecv(c.channel->channel,
                       [&](std::optional<int> v) { received = v; });
    }
    if (c.IsReady()) ready.insert(i);
  }
  if (ready.empty() && !has_default) return;  // For the next test.

  std::size_t chosen = 0;
  const std::string panic = PanicText([&] { chosen = selector.Run(); });

  if (panic != kNoPanic) {
    EXPECT_EQ(panic, kSendOnClosed);
    bool sends_on_closed = false;
    for (const std::size_t i : ready) {
      sends_on_closed |= cases[i].is_send && cases[i].channel->closed;
    }
    EXPECT_TRUE(sends_on_closed);
    return;
  }
  const ModelCase& c = cases.at(chosen);
  if (ready.empty()) {
    EXPECT_EQ(c.channel, nullptr) << "a case that is not the default";
    return;
  }
  ASSERT_TRUE(ready.contains(chosen)) << chosen;
  if (c.is_send) {
    EXPECT_FALSE(c.channel->closed);
    c.channel->elements.push_back(c.value);
  } else if (c.channel->elements.empty()) {
    EXPECT_EQ(received, std::nullopt);
  } else {
    EXPECT_EQ(received, c.channel->elements.front());
    c.channel->elements.pop_front();
  }
  for (const Modelled& m : channels) {
    if (!m.channel) continue;
    ASSERT_EQ(m.channel.Len(), m.elements.size());
    for (const int v : m.elements) ASSERT_EQ(m.channel.TryRecv().value, v);
  }
}

TEST_P(ChanSelectorModelTest, TheChosenCaseIsReadyAndDoesWhatItShould) {
  for (int i = 0; i < Scaled(10'000) && !HasFailure(); ++i) CheckOneSelect();
}

// A select with no case ready, and a partner that comes for one of them.
TEST_P(ChanSelectorModelTest, ABlockedSelectIsWokenForTheCaseThatBecameReady) {
  std::minstd_rand random(2);
  for (int i = 0; i < Scaled(500) && !HasFailure(); ++i) {
    const std::size_t n = 1 + random() % 8;
    std::vector<Chan<int>> channels(n);
    std::vector<bool> is_send(n);
    for (std::size_t k = 0; k < n; ++k) {
      channels[k] = MakeChan<int>();
      is_send[k] = random() % 2 == 0;
    }
    const std::size_t partner = random() % n;
    const bool closes = random() % 4 == 0;
    Team team;
    team.Go(Kind::kGoroutine, [&] {
      Selector selector;
      std::optional<int> received;
      for (std::size_t k = 0; k < n; ++k) {
        if (is_send[k]) {
          selector.AddSend(channels[k], [k] { return static_cast<int>(k); });
        } else {
          selector.AddRecv(channels[k],
                           [&](std::optional<int> v) { received = v; });
        }
      }
      const std::string panic =
          PanicText([&] { EXPECT_EQ(selector.Run(), partner); });
      EXPECT_EQ(panic, closes && is_send[partner] ? kSendOnClosed : kNoPanic);
      EXPECT_EQ(received.has_value(), !closes && !is_send[partner]);
    });
    for (const Chan<int>& c : channels) AwaitWaiting(c, 1);
    if (closes) {
      channels[partner].Close();
    } else if (is_send[partner]) {
      EXPECT_EQ(channels[partner].Recv(), static_cast<int>(partner));
    } else {
      channels[partner].Send(7);
    }
  }
}

}  // namespace
}  // namespace gorge
