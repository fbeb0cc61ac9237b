// The forms of a case that sends, and of the default.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "gorge/chan/chan.h"
#include "gorge/select/select.h"
#include "gorge/tests/support/channels.h"
#include "gorge/tests/support/runtime_test.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::kSendOnClosed;
using ::gorge::testing::PanicText;
using ::gorge::testing::RuntimeTest;

class SendFormsTest : public RuntimeTest {};
GORGE_INSTANTIATE(SendFormsTest);

const std::string kText = "a text too long for the small buffer of a string";

TEST_P(SendFormsTest, AnLvalueIsCopied) {
  const auto c = MakeChan<std::string>(1);
  const std::string value = kText;
  std::string changeable = kText;

  Select(OnSend(c, value));
  EXPECT_EQ(c.Recv(), kText);
  Select(OnSend(c, changeable));
  EXPECT_EQ(c.Recv(), kText);
  EXPECT_EQ(value, kText);
  EXPECT_EQ(changeable, kText);
}

TEST_P(SendFormsTest, AnRvalueIsMovedIfTheCaseIsChosen) {
  const auto c = MakeChan<std::unique_ptr<int>>(1);
  auto value = std::make_unique<int>(7);

  Select(OnSend(c, std::move(value)));

  EXPECT_EQ(value, nullptr);
  EXPECT_EQ(**c.Recv(), 7);
}

TEST_P(SendFormsTest, AnRvalueIsLeftAloneIfAnotherCaseIsChosen) {
  const auto full = MakeChan<std::unique_ptr<int>>();
  const Chan<int> ready = MakeChan<int>(1);
  auto value = std::make_unique<int>(7);

  EXPECT_EQ(Select(OnSend(full, std::move(value)), OnDefault()), 1u);
  ASSERT_NE(value, nullptr);
  EXPECT_EQ(Select(OnSend(full, std::move(value)), OnSend(ready, 1)), 1u);
  ASSERT_NE(value, nullptr);
  EXPECT_EQ(SelectInOrder(OnSend(full, std::move(value)), OnRecv(ready)), 1u);
  ASSERT_NE(value, nullptr);
  const Chan<std::unique_ptr<int>> nil;
  EXPECT_EQ(Select(OnSend(nil, std::move(value)), OnDefault()), 1u);
  ASSERT_NE(value, nullptr);
  EXPECT_EQ(*value, 7);
}

TEST_P(SendFormsTest, AnRvalueIsLeftAloneIfTheSendPanics) {
  const auto closed = MakeChan<std::unique_ptr<int>>(1);
  closed.Close();
  const Chan<int> idle = MakeChan<int>();
  auto value = std::make_unique<int>(7);
  EXPECT_EQ(PanicText([&] { Select(OnSend(closed, std::move(value))); }),
            kSendOnClosed);
  EXPECT_EQ(PanicText([&] {
              Select(OnSend(closed, std::move(value)), OnRecv(idle));
            }),
            kSendOnClosed);
  EXPECT_NE(value, nullptr);
}

TEST_P(SendFormsTest, OneValueMayStandInSeveralCases) {
  const auto a = MakeChan<std::unique_ptr<int>>(1);
  const auto b = MakeChan<std::unique_ptr<int>>(1);
  for (int i = 0; i < 20; ++i) {
    auto value = std::make_unique<int>(i);

    const std::size_t chosen = Select(OnSend(a, std::move(value)),  //
                                      OnSend(b, std::move(value)));

    EXPECT_EQ(value, nullptr);
    EXPECT_EQ(**(chosen == 0 ? a : b).Recv(), i);
    EXPECT_FALSE((chosen == 0 ? b : a).TryRecv().ready);
  }
}

TEST_P(SendFormsTest, WhatConvertsToTheElementCanBeSent) {
  const auto numbers = MakeChan<double>(1);
  Select(OnSend(numbers, 7));
  EXPECT_EQ(numbers.Recv(), 7.0);

  const auto texts = MakeChan<std::string>(1);
  Select(OnSend(texts, "text"));
  EXPECT_EQ(texts.Recv(), "text");

  const auto owners = MakeChan<std::shared_ptr<const int>>(1);
  const auto owner = std::make_shared<int>(7);
  Select(OnSend(owners, owner));
  EXPECT_EQ(**owners.Recv(), 7);
  EXPECT_EQ(owner.use_count(), 1);
}

TEST_P(SendFormsTest, AHandlerRunsAfterTheSend) {
  const Chan<int> c = MakeChan<int>(1);
  std::optional<int> got;
  Select(OnSend(c, 7, [&] { got = c.Recv(); }));
  EXPECT_EQ(got, 7);
}

int calls_of_function = 0;
void Count() { ++calls_of_function; }

TEST_P(SendFormsTest, AHandlerMayBeAFunctionOrAnObject) {
  const Chan<int> c = MakeChan<int>(4);
  calls_of_function = 0;
  const std::function<void()> function = Count;
  Select(OnSend(c, 1, Count));
  Select(OnSend(c, 2, &Count));
  Select(OnSend(c, 3, function));
  Select(OnSend(c, 4, [p = std::make_unique<int>()]() mutable {
    p.reset();
    Count();
    return 1;
  }));
  EXPECT_EQ(calls_of_function, 4);
}

TEST_P(SendFormsTest, TheHandlerOfACaseNotChosenDoesNotRun) {
  const Chan<int> full = MakeChan<int>();
  const auto fail = [] { ADD_FAILURE() << "a case that was not chosen ran"; };
  bool ran = false;
  EXPECT_EQ(Select(OnSend(full, 1, fail), OnRecv(full, fail),
                   OnDefault([&] { ran = true; })),
            2u);
  EXPECT_TRUE(ran);
  const Chan<int> room = MakeChan<int>(1);
  EXPECT_EQ(Select(OnSend(room, 1), OnRecv(full, fail), OnDefault(fail)), 0u);
}

TEST_P(SendFormsTest, ASendingEndWillDo) {
  const Chan<int> c = MakeChan<int>(1);
  const SendChan<int> in = c;
  Select(OnSend(in, 7));
  EXPECT_EQ(c.Recv(), 7);
  Select(OnSend(SendChan<int>(c), 8, [] {}));
  EXPECT_EQ(c.Recv(), 8);
}

TEST_P(SendFormsTest, ADefaultIsChosenIfNothingElseIsReady) {
  const Chan<int> idle = MakeChan<int>();
  const Chan<int> nil;
  bool ran = false;
  EXPECT_EQ(Select(OnDefault()), 0u);
  EXPECT_EQ(Select(OnDefault([&] { ran = true; })), 0u);
  EXPECT_TRUE(ran);
  EXPECT_EQ(Select(OnRecv(idle), OnDefault()), 1u);
  EXPECT_EQ(Select(OnRecv(nil), OnDefault()), 1u);
  EXPECT_EQ(Select(OnSend(nil, 1), OnDefault(Count)), 1u);
  EXPECT_EQ(Select(OnRecv(idle), OnSend(idle, 1), OnDefault()), 2u);
}

TEST_P(SendFormsTest, ADefaultIsNotChosenIfAnythingElseIsReady) {
  const Chan<int> closed = MakeChan<int>();
  closed.Close();
  const Chan<int> idle = MakeChan<int>();
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(Select(OnDefault(), OnRecv(closed)), 1u);
    EXPECT_EQ(Select(OnRecv(idle), OnDefault(), OnRecv(closed)), 2u);
  }
}

TEST_P(SendFormsTest, ThePositionCountsEveryCaseOfTheList) {
  const Chan<int> idle = MakeChan<int>();
  const Chan<int> nil;
  const Chan<int> closed = MakeChan<int>();
  closed.Close();
  EXPECT_EQ(Select(OnRecv(closed), OnRecv(idle), OnRecv(nil)), 0u);
  EXPECT_EQ(Select(OnRecv(idle), OnRecv(closed), OnRecv(nil)), 1u);
  EXPECT_EQ(Select(OnRecv(nil), OnDefault(), OnSend(idle, 1), OnRecv(closed)),
            3u);
  EXPECT_EQ(Select(OnRecv(nil), OnDefault(), OnSend(idle, 1)), 1u);
  EXPECT_EQ(SelectInOrder(OnRecv(nil), OnDefault(), OnRecv(closed)), 2u);
  EXPECT_EQ(SelectInOrder(OnDefault(), OnRecv(idle), OnRecv(nil)), 0u);
}

}  // namespace
}  // namespace gorge
