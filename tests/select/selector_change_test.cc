// Changing a Selector: cases replaced, disabled and cleared, by handlers too.

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "gorge/chan/chan.h"
#include "gorge/core/panic.h"
#include "gorge/select/selector.h"
#include "gorge/tests/support/channels.h"
#include "gorge/tests/support/counted.h"
#include "gorge/tests/support/runtime_test.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::Counted;
using ::gorge::testing::kSendOnClosed;
using ::gorge::testing::PanicText;
using ::gorge::testing::RuntimeTest;

class SelectorChangeTest : public RuntimeTest {
 protected:
  SelectorChangeTest() { closed_.Close(); }

  const Chan<int> closed_ = MakeChan<int>();
  Selector selector_;
};
GORGE_INSTANTIATE(SelectorChangeTest);

TEST_P(SelectorChangeTest, ADisabledCaseIsNeverChosen) {
  selector_.AddRecv(closed_);
  selector_.AddRecv(closed_);
  selector_.Disable(0);
  for (int i = 0; i < 30; ++i) EXPECT_EQ(selector_.Run(), 1u);
}

TEST_P(SelectorChangeTest, ADisabledCaseCanBeSetAgain) {
  selector_.AddRecv(closed_);
  selector_.AddDefault();
  selector_.Disable(0);
  EXPECT_EQ(selector_.Run(), 1u);
  selector_.Disable(0);
  selector_.SetRecv(0, RecvChan<int>(closed_));
  EXPECT_EQ(selector_.Run(), 0u);
}

TEST_P(SelectorChangeTest, DisablingDropsTheChannelTheHandlerAndTheValue) {
  const auto token = std::make_shared<int>();
  {
    const Chan<Counted> held = MakeChan<Counted>(1);
    held.Send(Counted(1));
    selector_.AddRecv(held, [token](Counted) {});
    selector_.AddSend(
        MakeChan<Counted>(), [] { return Counted(2); }, [token] {});
    selector_.AddRecv(closed_);
  }
  selector_.Disable(2);
  selector_.AddRecv(closed_);
  while (selector_.Run() != 3) {
  }
  selector_.Disable(0);
  EXPECT_EQ(Counted::live, 1);
  selector_.Disable(1);
  EXPECT_EQ(Counted::live, 0);
  EXPECT_EQ(token.use_count(), 1);
}

TEST_P(SelectorChangeTest, ACaseMayBecomeOneOfAnotherKindAndType) {
  const Chan<std::string> texts = MakeChan<std::string>(1);
  selector_.AddRecv(MakeChan<int>());
  selector_.SetSend(0, texts, [] { return std::string("text"); });
  EXPECT_EQ(selector_.Run(), 0u);
  std::string got;
  selector_.SetRecv(0, texts, [&](std::string v) { got = std::move(v); });
  EXPECT_EQ(selector_.Run(), 0u);
  EXPECT_EQ(got, "text");
  selector_.SetSend(
      0, SendChan<std::string>(texts), [] { return std::string("more"); },
      [&] { got = "sent"; });
  EXPECT_EQ(selector_.Run(), 0u);
  EXPECT_EQ(got, "sent");
}

TEST_P(SelectorChangeTest, ReplacingTheDefaultMakesItBlockingAgain) {
  selector_.AddRecv(MakeChan<int>());
  const std::size_t index = selector_.AddDefault();
  EXPECT_EQ(selector_.Run(), index);

  selector_.SetRecv(index, closed_);
  EXPECT_EQ(selector_.Run(), index);

  selector_.Disable(index);
  EXPECT_EQ(selector_.AddDefault(), index + 1);
  EXPECT_EQ(selector_.Run(), index + 1);
}

TEST_P(SelectorChangeTest, ClearRemovesEverything) {
  selector_.AddRecv(closed_);
  selector_.AddDefault([] { ADD_FAILURE() << "a default that was removed"; });
  selector_.Clear();
  EXPECT_EQ(selector_.AddDefault(), 0u);
  EXPECT_EQ(selector_.Run(), 0u);
  selector_.Clear();
  EXPECT_EQ(selector_.AddRecv(closed_), 0u);
  EXPECT_EQ(selector_.Run(), 0u);
}

TEST_P(SelectorChangeTest, AnIndexThatIsNotThereAPanics) {
  EXPECT_THROW(selector_.Disable(0), Panic);
  selector_.AddRecv(closed_);
  EXPECT_THROW(selector_.Disable(1), Panic);
  EXPECT_THROW(selector_.SetRecv(1, closed_), Panic);
  EXPECT_THROW(selector_.SetSend(7, closed_, [] { return 1; }), Panic);
  EXPECT_EQ(selector_.Run(), 0u);
  selector_.Clear();
  EXPECT_THROW(selector_.Disable(0), Panic);
}

TEST_P(SelectorChangeTest, AHandlersExceptionLeavesItUsable) {
  const Chan<Counted> c = MakeChan<Counted>(3);
  for (int i = 0; i < 3; ++i) c.Send(Counted(i));
  int got = -1;
  selector_.AddRecv(c, [&](std::optional<Counted> v) {
    got = v->value();
    throw std::runtime_error("thrown by a handler");
  });
  for (int i = 0; i < 3; ++i) {
    EXPECT_THROW(selector_.Run(), std::runtime_error);
    EXPECT_EQ(got, i);
    EXPECT_EQ(Counted::live, 2 - i);
  }
}

TEST_P(SelectorChangeTest, AnExceptionOfTheValueReachesTheCallerBeforeAnyCase) {
  const Chan<int> c = MakeChan<int>(1);
  bool fails = true;
  selector_.AddRecv(closed_, [&] { EXPECT_FALSE(fails); });
  selector_.AddSend(c, [&] {
    if (fails) throw std::runtime_error("no value");
    return 7;
  });
  EXPECT_THROW(selector_.Run(), std::runtime_error);
  EXPECT_EQ(c.Len(), 0u);
  fails = false;
  while (selector_.Run() != 1) {
  }
  EXPECT_EQ(c.Recv(), 7);
}

TEST_P(SelectorChangeTest, APanicLeavesItUsableAndTheValueUnsent) {
  const Chan<Counted> c = MakeChan<Counted>();
  c.Close();
  int asked = 0;
  selector_.AddSend(c, [&] { return Counted(++asked); });
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(PanicText([&] { selector_.Run(); }), kSendOnClosed);
    EXPECT_EQ(asked, 1);
    EXPECT_EQ(Counted::live, 1);
  }
  selector_.SetRecv(0, c);
  EXPECT_EQ(selector_.Run(), 0u);
}

// What a handler captured, to see whether it outlives a change of its case.
struct Captured {
  std::unique_ptr<int> value = std::make_unique<int>(7);
  Captured() = default;
  Captured(Captured&&) = default;
  ~Captured() {
    if (value != nullptr) *value = 0;
  }
};

TEST_P(SelectorChangeTest, AHandlerMayDisableItsOwnCase) {
  int seen = 0;
  selector_.AddRecv(closed_, [this, &seen, captured = Captured()] {
    selector_.Disable(0);
    seen = *captured.value;
  });
  selector_.AddDefault();
  EXPECT_EQ(selector_.Run(), 0u);
  EXPECT_EQ(seen, 7);
  EXPECT_EQ(selector_.Run(), 1u);
}

TEST_P(SelectorChangeTest, AHandlerMayReplaceItsOwnCase) {
  const Chan<int> c = MakeChan<int>(1);
  int seen = 0;
  selector_.AddSend(
      c, [] { return 1; },
      [&, captured = std::make_shared<Captured>()] {
        selector_.SetRecv(0, c, [&](int v) { seen += v; });
        seen = *captured->value;
      });
  EXPECT_EQ(selector_.Run(), 0u);
  EXPECT_EQ(seen, 7);
  EXPECT_EQ(selector_.Run(), 0u);
  EXPECT_EQ(seen, 8);
}

TEST_P(SelectorChangeTest, AHandlerMayClearAndAdd) {
  int seen = 0;
  const auto handler = [&, captured = std::make_shared<Captured>()] {
    selector_.Clear();
    for (int i = 0; i < 100; ++i) selector_.AddRecv(MakeChan<int>());
    selector_.AddDefault();
    seen = *captured->value;
  };
  selector_.AddRecv(closed_, handler);
  EXPECT_EQ(selector_.Run(), 0u);
  EXPECT_EQ(seen, 7);
  EXPECT_EQ(selector_.Run(), 100u);

  selector_.Clear();
  selector_.AddDefault(handler);
  seen = 0;
  EXPECT_EQ(selector_.Run(), 0u);
  EXPECT_EQ(seen, 7);
}

TEST_P(SelectorChangeTest, AHandlerMayRunTheSelector) {
  const Chan<int> c = MakeChan<int>(4);
  for (int i = 0; i < 4; ++i) c.Send(i);
  std::string got;
  selector_.AddRecv(c, [&](std::optional<int> v) {
    got += std::to_string(*v);
    if (c.Len() > 0) selector_.Run();
    got += std::to_string(*v);
  });
  selector_.AddRecv(MakeChan<int>());
  EXPECT_EQ(selector_.Run(), 0u);
  EXPECT_EQ(got, "01233210");
}

}  // namespace
}  // namespace gorge
