#include "gorge/context/value.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gorge/context/context.h"
#include "gorge/tests/support/counted.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::Counted;
using ::gorge::testing::kKinds;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Team;

constexpr Key<std::string> kName("name");
constexpr Key<std::string> kOtherName("name");
constexpr Key<int> kNumber("number");
constexpr Key<Counted> kCounted("counted");

class ValueTest : public RuntimeTest {};
GORGE_INSTANTIATE(ValueTest);

TEST_P(ValueTest, IsFoundByItsKeyAlone) {
  const Context ctx = WithValue(Background(), kName, "gopher");
  ASSERT_NE(ctx.Value(kName), nullptr);
  EXPECT_EQ(*ctx.Value(kName), "gopher");
  // Same type and same name: another key.
  EXPECT_EQ(ctx.Value(kOtherName), nullptr);
  EXPECT_EQ(ctx.Value(kNumber), nullptr);
  EXPECT_EQ(Background().Value(kName), nullptr);
  EXPECT_STREQ(kName.name(), "name");
}

TEST_P(ValueTest, IsFoundFromBelowThroughAllKindsOfContext) {
  const Context root = WithValue(Background(), kNumber, 1);
  auto [one, cancel_one] = WithCancel(root);
  auto [two, cancel_two] = WithTimeout(one, absl::Hours(1));
  const Context three = WithoutCancel(WithValue(two, kName, "x"));
  EXPECT_EQ(*three.Value(kNumber), 1);
  EXPECT_EQ(*three.Value(kName), "x");
  EXPECT_EQ(two.Value(kName), nullptr);
  cancel_one();
  EXPECT_EQ(*two.Value(kNumber), 1);
}

TEST_P(ValueTest, HidesTheOneAboveIt) {
  const Context outer = WithValue(Background(), kNumber, 1);
  const Context inner = WithValue(outer, kNumber, 2);
  EXPECT_EQ(*inner.Value(kNumber), 2);
  EXPECT_EQ(*outer.Value(kNumber), 1);
}

TEST_P(ValueTest, IsTheSameObjectForAllWhoAsk) {
  const Context ctx = WithValue(Background(), kName, "gopher");
  const std::string* value = ctx.Value(kName);
  Team team;
  for (int i = 0; i < 4; ++i) {
    team.Go(kKinds[i % 2], [value, ctx] {
      EXPECT_EQ(ctx.Value(kName), value);
      EXPECT_EQ(WithValue(ctx, kNumber, 1).Value(kName), value);
    });
  }
}

TEST_P(ValueTest, IsMovedInAndDestroyedWithTheLastContext) {
  {
    Context below;
    {
      const Context ctx = WithValue(Background(), kCounted, Counted(5));
      below = WithCancel(ctx).ctx;
    }
    EXPECT_EQ(Counted::live, 1);
    EXPECT_EQ(below.Value(kCounted)->value(), 5);
  }
  EXPECT_EQ(Counted::live, 0);
}

struct alignas(128) Aligned {
  int value;
};

TEST_P(ValueTest, MayBeOfAnyType) {
  static constexpr Key<std::unique_ptr<int>> kUnique("unique");
  static constexpr Key<Aligned> kAligned("aligned");
  static constexpr Key<const int> kConst("const");
  static constexpr Key<std::monostate> kEmpty("empty");
  static constexpr Key<const char*> kText("text");
  Context ctx = WithValue(Background(), kUnique, std::make_unique<int>(1));
  ctx = WithValue(ctx, kAligned, Aligned{2});
  ctx = WithValue(ctx, kConst, 3);
  ctx = WithValue(ctx, kEmpty, {});
  ctx = WithValue(ctx, kText, "text");
  EXPECT_EQ(**ctx.Value(kUnique), 1);
  EXPECT_EQ(ctx.Value(kAligned)->value, 2);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(ctx.Value(kAligned)) % 128, 0u);
  EXPECT_EQ(*ctx.Value(kConst), 3);
  EXPECT_NE(ctx.Value(kEmpty), nullptr);
  EXPECT_STREQ(*ctx.Value(kText), "text");
}

TEST_P(ValueTest, MayBeAContext) {
  static constexpr Key<Context> kContext("context");
  const Context inner = WithValue(Background(), kCounted, Counted(1));
  const Context outer = WithValue(Background(), kContext, inner);
  EXPECT_EQ(*outer.Value(kContext), inner);
  EXPECT_EQ(outer.Value(kContext)->Value(kCounted)->value(), 1);
}

struct ThrowsWhenMoved {
  ThrowsWhenMoved() = default;
  explicit ThrowsWhenMoved(int allowed) : moves(allowed) {}
  ThrowsWhenMoved(ThrowsWhenMoved&& other) : moves(other.moves - 1) {
    if (moves < 0) throw 7;
  }
  int moves = 0;
};

TEST_P(ValueTest, ThatThrowsWhenItIsMovedLeavesNothingBehind) {
  static constexpr Key<ThrowsWhenMoved> kThrows("throws");
  Context ctx = WithValue(Background(), kCounted, Counted(1));
  EXPECT_THROW(static_cast<void>(WithValue(ctx, kThrows, ThrowsWhenMoved())),
               int);
  EXPECT_NE(WithValue(ctx, kThrows, ThrowsWhenMoved(3)).Value(kThrows),
            nullptr);
  ctx = Context();
  EXPECT_EQ(Counted::live, 0);
}

}  // namespace
}  // namespace gorge
