// Which operation blocks, succeeds or panics on which channel: the whole table,
// in every form of the operation, with and without a default.

#include <atomic>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/core/runtime.h"
#include "gorge/select/select.h"
#include "gorge/select/selector.h"
#include "gorge/tests/support/census.h"
#include "gorge/tests/support/channels.h"
#include "gorge/tests/support/runtime_test.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::kNoPanic;
using ::gorge::testing::kSendOnClosed;
using ::gorge::testing::PanicText;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::TakeCensus;

enum class Outcome { kBlocks, kReturns, kPanics };

std::ostream& operator<<(std::ostream& out, Outcome outcome) {
  constexpr const char* kNames[] = {"blocks", "returns", "panics"};
  return out << kNames[static_cast<int>(outcome)];
}

class ChanTableTest : public RuntimeTest {
 protected:
  // What f() does in a goroutine of its own. Nobody else is there, so if it
  // blocks it does so for ever.
  Outcome Try(const std::function<void()>& f) {
    const auto outcome = std::make_shared<std::atomic<int>>(-1);
    go([outcome, f] {
      const std::string text = PanicText(f);
      EXPECT_TRUE(text == kNoPanic || text == kSendOnClosed) << text;
      *outcome = static_cast<int>(text == kNoPanic ? Outcome::kReturns
                                                   : Outcome::kPanics);
    });
    Await([&] { return *outcome >= 0 || TakeCensus().waiting > blocked_; });
    if (*outcome < 0) {
      LeavesBlocked(++blocked_);
      return Outcome::kBlocks;
    }
    Await([&] { return NumGoroutine() == blocked_; });
    return static_cast<Outcome>(outcome->load());
  }

 private:
  int blocked_ = 0;
};
GORGE_INSTANTIATE(ChanTableTest);

using Channel = Chan<int>;

Channel With(int elements, int capacity, bool closed) {
  const Channel c = MakeChan<int>(capacity);
  for (int i = 0; i < elements; ++i) c.Send(i);
  if (closed) c.Close();
  return c;
}

struct Row {
  const char* channel;
  std::function<Channel()> make;
  Outcome send;
  Outcome receive;
};

const std::vector<Row>& Table() {
  constexpr Outcome kB = Outcome::kBlocks;
  constexpr Outcome kR = Outcome::kReturns;
  constexpr Outcome kP = Outcome::kPanics;
  static const std::vector<Row> table = {
      {"nil", [] { return Channel(); }, kB, kB},
      {"without a buffer", [] { return With(0, 0, false); }, kB, kB},
      {"empty", [] { return With(0, 2, false); }, kR, kB},
      {"half full", [] { return With(1, 2, false); }, kR, kR},
      {"full", [] { return With(2, 2, false); }, kB, kR},
      {"closed without a buffer", [] { return With(0, 0, true); }, kP, kR},
      {"closed and drained", [] { return With(0, 2, true); }, kP, kR},
      {"closed with an element", [] { return With(1, 2, true); }, kP, kR},
      {"closed and full", [] { return With(2, 2, true); }, kP, kR},
  };
  return table;
}

// A form of the operation, and whether it takes a default rather than block.
struct Form {
  const char* name;
  bool has_default;
  std::function<bool(const Channel& c)> run;  // False: the default was taken.
};

// Channels of which nobody uses the other end. Two, since those who are left
// blocked sending and receiving would meet.
const Channel& Idle() {
  static const Channel idle = MakeChan<int>();
  return idle;
}
const Channel& IdleToSend() {
  static const Channel idle = MakeChan<int>();
  return idle;
}

bool RunSelector(Selector& selector, bool has_default) {
  selector.AddRecv(Idle());
  if (has_default) selector.AddDefault();
  return selector.Run() == 0;
}

const std::vector<Form>& Sends() {
  static const std::vector<Form> forms = {
      {"Send", false, [](auto& c) { return c.Send(1), true; }},
      {"TrySend", true, [](auto& c) { return c.TrySend(1); }},
      {"select", false, [](auto& c) { return Select(OnSend(c, 1)) == 0; }},
      {"select with default", true,
       [](auto& c) { return Select(OnSend(c, 1), OnDefault()) == 0; }},
      {"select of several", false,
       [](auto& c) {
         return Select(OnRecv(Channel()), OnRecv(Idle()), OnSend(c, 1)) == 2;
       }},
      {"select of several with default", true,
       [](auto& c) {
         return Select(OnDefault(), OnSend(c, 1), OnRecv(Idle())) == 1;
       }},
      {"select in order", false,
       [](auto& c) {
         return SelectInOrder(OnRecv(Idle()), OnSend(c, 1)) == 1;
       }},
      {"select in order with default", true,
       [](auto& c) {
         return SelectInOrder(OnDefault(), OnRecv(Idle()), OnSend(c, 1)) == 2;
       }},
      {"selector", false,
       [](auto& c) {
         Selector selector;
         selector.AddSend(c, [] { return 1; });
         return RunSelector(selector, false);
       }},
      {"selector with default", true,
       [](auto& c) {
         Selector selector;
         selector.AddSend(c, [] { return 1; });
         return RunSelector(selector, true);
       }},
  };
  return forms;
}

const std::vector<Form>& Receives() {
  static const std::vector<Form> forms = {
      {"Recv", false, [](auto& c) { return c.Recv(), true; }},
      {"range", false, [](auto& c) { return c.begin(), true; }},
      {"TryRecv", true, [](auto& c) { return c.TryRecv().ready; }},
      {"select", false, [](auto& c) { return Select(OnRecv(c)) == 0; }},
      {"select with default", true,
       [](auto& c) { return Select(OnRecv(c), OnDefault()) == 0; }},
      {"select of several", false,
       [](auto& c) {
         return Select(OnRecv(Channel()), OnSend(IdleToSend(), 1), OnRecv(c)) ==
                2;
       }},
      {"select of several with default", true,
       [](auto& c) {
         return Select(OnDefault(), OnRecv(c), OnSend(IdleToSend(), 1)) == 1;
       }},
      {"select in order", false,
       [](auto& c) { return SelectInOrder(OnRecv(Idle()), OnRecv(c)) == 1; }},
      {"select in order with default", true,
       [](auto& c) {
         return SelectInOrder(OnDefault(), OnRecv(Idle()), OnRecv(c)) == 2;
       }},
      {"selector", false,
       [](auto& c) {
         Selector selector;
         selector.AddRecv(c);
         return RunSelector(selector, false);
       }},
      {"selector with default", true,
       [](auto& c) {
         Selector selector;
         selector.AddRecv(c);
         return RunSelector(selector, true);
       }},
  };
  return forms;
}

TEST_P(ChanTableTest, HoldsForEveryFormOfSendAndReceive) {
  const auto check = [this](const Row& row, const Form& form, Outcome plain) {
    // Where the plain operation blocks, a default is taken.
    const bool takes_default = form.has_default && plain == Outcome::kBlocks;
    const Outcome expected = takes_default ? Outcome::kReturns : plain;
    const Channel c = row.make();
    const auto performed = std::make_shared<std::atomic<bool>>(false);
    const auto what = std::string(form.name) + ", channel " + row.channel;
    EXPECT_EQ(Try([=] { *performed = form.run(c); }), expected) << what;
    EXPECT_EQ(*performed, !takes_default && expected == Outcome::kReturns)
        << what;
  };
  for (const Row& row : Table()) {
    for (const Form& form : Sends()) check(row, form, row.send);
    for (const Form& form : Receives()) check(row, form, row.receive);
  }
}

TEST_P(ChanTableTest, ASelectWithoutCasesBlocks) {
  EXPECT_EQ(Try([] { Select(); }), Outcome::kBlocks);
  EXPECT_EQ(Try([] { SelectInOrder(); }), Outcome::kBlocks);
  EXPECT_EQ(Try([] { Selector().Run(); }), Outcome::kBlocks);
  EXPECT_EQ(Try([] { Select(OnDefault()); }), Outcome::kReturns);
}

TEST_P(ChanTableTest, ASelectGoesOnThoughAnotherOfItsChannelsIsNilOrBlocked) {
  const Channel ready = With(1, 2, false);
  EXPECT_EQ(Try([=] {
              EXPECT_EQ(Select(OnRecv(Channel()), OnSend(Channel(), 1),
                               OnRecv(Idle()), OnSend(IdleToSend(), 1),
                               OnRecv(ready)),
                        4u);
            }),
            Outcome::kReturns);
}

}  // namespace
}  // namespace gorge
