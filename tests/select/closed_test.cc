// Closed channels in a select.

#include <optional>
#include <set>
#include <string>

#include "gorge/chan/chan.h"
#include "gorge/select/select.h"
#include "gorge/tests/support/channels.h"
#include "gorge/tests/support/runtime_test.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::kNoPanic;
using ::gorge::testing::kSendOnClosed;
using ::gorge::testing::PanicText;
using ::gorge::testing::RuntimeTest;

class ClosedTest : public RuntimeTest {
 protected:
  ClosedTest() { closed_.Close(); }

  const Chan<int> closed_ = MakeChan<int>();
  const Chan<int> idle_ = MakeChan<int>();
};
GORGE_INSTANTIATE(ClosedTest);

TEST_P(ClosedTest, AReceiveIsReady) {
  std::optional<int> got = 1;
  EXPECT_EQ(Select(OnRecv(idle_), OnRecv(closed_, &got)), 1u);
  EXPECT_EQ(got, std::nullopt);
}

TEST_P(ClosedTest, WhatIsBufferedComesFirst) {
  const Chan<int> c = MakeChan<int>(2);
  c.Send(1);
  c.Send(2);
  c.Close();
  for (const std::optional<int> expected :
       {std::optional(1), std::optional(2), std::optional<int>()}) {
    std::optional<int> got;
    EXPECT_EQ(Select(OnRecv(c, &got), OnRecv(idle_)), 0u);
    EXPECT_EQ(got, expected);
  }
}

TEST_P(ClosedTest, ASendIsReadyAndPanicsIfChosen) {
  EXPECT_EQ(PanicText([&] { Select(OnSend(closed_, 1), OnRecv(idle_)); }),
            kSendOnClosed);
  EXPECT_EQ(PanicText([&] { Select(OnRecv(idle_), OnSend(closed_, 1)); }),
            kSendOnClosed);
  EXPECT_EQ(PanicText([&] { Select(OnSend(closed_, 1), OnDefault()); }),
            kSendOnClosed);
  EXPECT_EQ(
      PanicText([&] { SelectInOrder(OnRecv(idle_), OnSend(closed_, 1)); }),
      kSendOnClosed);
}

TEST_P(ClosedTest, ASendThatIsNotChosenDoesNotPanic) {
  const Chan<int> ready = MakeChan<int>();
  ready.Close();
  std::set<std::string> outcomes;
  for (int i = 0; i < 100; ++i) {
    outcomes.insert(
        PanicText([&] { Select(OnSend(closed_, 1), OnRecv(ready)); }));
  }
  EXPECT_EQ(outcomes, (std::set<std::string>{kNoPanic, kSendOnClosed}));

  EXPECT_EQ(
      PanicText([&] { SelectInOrder(OnRecv(ready), OnSend(closed_, 1)); }),
      kNoPanic);
}

TEST_P(ClosedTest, NoHandlerRunsForASendThatPanics) {
  const auto fail = [] { ADD_FAILURE() << "the handler of a panic ran"; };
  EXPECT_EQ(PanicText([&] { Select(OnSend(closed_, 1, fail)); }),
            kSendOnClosed);
  EXPECT_EQ(PanicText([&] {
              Select(OnSend(closed_, 1, fail), OnRecv(idle_, fail),
                     OnDefault(fail));
            }),
            kSendOnClosed);
}

TEST_P(ClosedTest, TheSelectIsUsableAfterAPanic) {
  for (int i = 0; i < 20; ++i) {
    PanicText([&] { Select(OnSend(closed_, 1), OnRecv(idle_)); });
    EXPECT_EQ(Select(OnRecv(closed_), OnRecv(idle_)), 0u);
  }
}

}  // namespace
}  // namespace gorge
