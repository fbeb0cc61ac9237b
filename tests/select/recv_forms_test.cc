// The forms of a case that receives.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "gorge/chan/chan.h"
#include "gorge/select/select.h"
#include "gorge/tests/support/runtime_test.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::RuntimeTest;

class RecvFormsTest : public RuntimeTest {
 protected:
  // A channel with the value 7 in it, and a closed one.
  static Chan<int> Seven() {
    Chan<int> c = MakeChan<int>(1);
    c.Send(7);
    return c;
  }
  static Chan<int> Closed() {
    Chan<int> c = MakeChan<int>();
    c.Close();
    return c;
  }
};
GORGE_INSTANTIATE(RecvFormsTest);

TEST_P(RecvFormsTest, AHandlerOfAnOptionalGetsTheValueOrNothing) {
  std::optional<int> got = 1;
  Select(OnRecv(Seven(), [&](std::optional<int> v) { got = v; }));
  EXPECT_EQ(got, 7);
  Select(OnRecv(Closed(), [&](std::optional<int> v) { got = v; }));
  EXPECT_EQ(got, std::nullopt);
}

TEST_P(RecvFormsTest, AHandlerOfAValueRunsForAValueOnly) {
  int calls = 0;
  int got = 0;
  const auto handler = [&](int v) {
    ++calls;
    got = v;
  };
  EXPECT_EQ(Select(OnRecv(Seven(), handler)), 0u);
  EXPECT_EQ(got, 7);
  EXPECT_EQ(Select(OnRecv(Closed(), handler)), 0u);
  EXPECT_EQ(calls, 1);
}

TEST_P(RecvFormsTest, AHandlerOfNothingRunsForEither) {
  int calls = 0;
  Select(OnRecv(Seven(), [&] { ++calls; }));
  Select(OnRecv(Closed(), [&] { ++calls; }));
  EXPECT_EQ(calls, 2);
}

TEST_P(RecvFormsTest, AHandlerThatTakesAnythingGetsTheOptional) {
  Select(OnRecv(Seven(), [](auto v) {
    static_assert(std::is_same_v<decltype(v), std::optional<int>>);
    EXPECT_EQ(v, 7);
  }));
  Select(OnRecv(Closed(), [](auto&& v) {
    static_assert(std::is_same_v<decltype(v), std::optional<int>&&>);
    EXPECT_EQ(v, std::nullopt);
  }));
}

TEST_P(RecvFormsTest, AHandlerMayTakeReferences) {
  int got = 0;
  Select(OnRecv(Seven(), [&](const int& v) { got += v; }));
  Select(OnRecv(Seven(), [&](int&& v) { got += v; }));
  Select(OnRecv(Seven(), [&](const std::optional<int>& v) { got += *v; }));
  Select(OnRecv(Seven(), [&](std::optional<int>&& v) { got += *v; }));
  EXPECT_EQ(got, 28);
}

TEST_P(RecvFormsTest, AHandlerMayTakeWhatTheElementConvertsTo) {
  double got = 0;
  Select(OnRecv(Seven(), [&](double v) { got = v; }));
  EXPECT_EQ(got, 7.0);
}

int seen_by_function = 0;
void TakeOptional(std::optional<int> v) { seen_by_function = v.value_or(-1); }
void TakeValue(int v) { seen_by_function = v; }
void TakeNothing() { seen_by_function = -2; }

TEST_P(RecvFormsTest, AHandlerMayBeAFunction) {
  Select(OnRecv(Seven(), TakeOptional));
  EXPECT_EQ(seen_by_function, 7);
  Select(OnRecv(Closed(), &TakeOptional));
  EXPECT_EQ(seen_by_function, -1);
  Select(OnRecv(Seven(), TakeValue));
  EXPECT_EQ(seen_by_function, 7);
  Select(OnRecv(RecvChan<int>(Closed()), &TakeNothing));
  EXPECT_EQ(seen_by_function, -2);
}

TEST_P(RecvFormsTest, AHandlerMayBeAnObject) {
  std::optional<int> got;
  const std::function<void(std::optional<int>)> function =
      [&](std::optional<int> v) { got = v; };
  Select(OnRecv(Seven(), function));
  EXPECT_EQ(got, 7);

  // One that can be moved only, changes itself, and returns something.
  Select(OnRecv(Seven(), [sum = std::make_unique<int>(1), &got](int v) mutable {
    *sum += v;
    got = *sum;
    return std::string("dropped");
  }));
  EXPECT_EQ(got, 8);
}

TEST_P(RecvFormsTest, ATargetGetsTheValueAndForACloseItsDefault) {
  int out = 1;
  Select(OnRecv(Seven(), &out));
  EXPECT_EQ(out, 7);
  Select(OnRecv(Closed(), &out));
  EXPECT_EQ(out, 0);
}

TEST_P(RecvFormsTest, AnOptionalTargetGetsTheValueAndForACloseNothing) {
  std::optional<int> out = 1;
  Select(OnRecv(Seven(), &out));
  EXPECT_EQ(out, 7);
  Select(OnRecv(Closed(), &out));
  EXPECT_EQ(out, std::nullopt);
}

TEST_P(RecvFormsTest, OkTellsAValueFromAClose) {
  int out = 1;
  std::optional<int> maybe;
  bool ok = false;
  Select(OnRecv(Seven(), &out, &ok));
  EXPECT_EQ(out, 7);
  EXPECT_TRUE(ok);
  Select(OnRecv(Closed(), &out, &ok));
  EXPECT_EQ(out, 0);
  EXPECT_FALSE(ok);
  Select(OnRecv(Seven(), &maybe, &ok));
  EXPECT_EQ(maybe, 7);
  EXPECT_TRUE(ok);
}

TEST_P(RecvFormsTest, ATargetOfACaseNotChosenIsLeftAlone) {
  const Chan<int> idle = MakeChan<int>();
  int value = 1;
  std::optional<int> maybe = 2;
  bool ok = true;
  EXPECT_EQ(
      Select(OnRecv(idle, &value, &ok), OnRecv(idle, &maybe), OnRecv(Seven())),
      2u);
  EXPECT_EQ(value, 1);
  EXPECT_EQ(maybe, 2);
  EXPECT_TRUE(ok);
}

TEST_P(RecvFormsTest, WithoutAHandlerTheElementIsDropped) {
  const Chan<int> c = Seven();
  EXPECT_EQ(Select(OnRecv(c)), 0u);
  EXPECT_EQ(c.Len(), 0u);
  EXPECT_EQ(Select(OnRecv(Closed())), 0u);
}

TEST_P(RecvFormsTest, AReceivingEndWillDo) {
  const RecvChan<int> c = Seven();
  int got = 0;
  bool ok = false;
  Select(OnRecv(c, [&](int v) { got = v; }));
  EXPECT_EQ(got, 7);
  Select(OnRecv(RecvChan<int>(Seven()), &got, &ok));
  EXPECT_TRUE(ok);
  Select(OnRecv(RecvChan<int>(Closed())));
}

TEST_P(RecvFormsTest, ElementsNeedOnlyMove) {
  struct Fixed {
    explicit Fixed(int v) : p(std::make_unique<int>(v)) {}
    Fixed(Fixed&&) noexcept = default;
    Fixed& operator=(Fixed&&) = delete;
    std::unique_ptr<int> p;
  };
  const Chan<Fixed> c = MakeChan<Fixed>(3);
  for (int i = 1; i <= 3; ++i) c.Send(Fixed(i));
  std::unique_ptr<int> by_value;
  std::unique_ptr<int> by_optional;
  std::optional<Fixed> out(Fixed(0));

  Select(OnRecv(c, [&](Fixed v) { by_value = std::move(v.p); }));
  Select(OnRecv(
      c, [&](std::optional<Fixed> v) { by_optional = std::move(v->p); }));
  Select(OnRecv(c, &out));

  EXPECT_EQ(*by_value, 1);
  EXPECT_EQ(*by_optional, 2);
  EXPECT_EQ(*out->p, 3);
}

TEST_P(RecvFormsTest, AnElementMayItselfBeOptional) {
  using Maybe = std::optional<int>;
  const Chan<Maybe> c = MakeChan<Maybe>(4);
  for (const Maybe v : {Maybe(7), Maybe(), Maybe(8), Maybe()}) c.Send(v);
  c.Close();
  std::optional<Maybe> got;
  Select(OnRecv(c, [&](std::optional<Maybe> v) { got = v; }));
  EXPECT_EQ(got, Maybe(7));
  Select(OnRecv(c, &got));
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(*got, std::nullopt);
  Maybe flat;
  Select(OnRecv(c, &flat));
  EXPECT_EQ(flat, 8);
  bool ok = false;
  Select(OnRecv(c, &flat, &ok));
  EXPECT_TRUE(ok);
  EXPECT_EQ(flat, std::nullopt);
  Select(OnRecv(c, &flat, &ok));
  EXPECT_FALSE(ok);
}

}  // namespace
}  // namespace gorge
