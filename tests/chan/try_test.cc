// TrySend and TryRecv: what they do instead of blocking.

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "gorge/chan/chan.h"
#include "gorge/tests/support/channels.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::AwaitWaiting;
using ::gorge::testing::Kind;
using ::gorge::testing::kKinds;
using ::gorge::testing::kSendOnClosed;
using ::gorge::testing::PanicText;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Team;

class TryTest : public RuntimeTest {};
GORGE_INSTANTIATE(TryTest);

// Counts how often it is copied.
struct Copied {
  explicit Copied(int* counter) : copies(counter) {}
  Copied(const Copied& other) : copies(other.copies) { ++*copies; }
  Copied(Copied&& other) noexcept : copies(other.copies) {}
  int* copies;
};

template <class T>
concept CanTrySendLvalue = requires(const Chan<T>& c, const T& value) {
  c.TrySend(value);
};
static_assert(CanTrySendLvalue<int>);
static_assert(!CanTrySendLvalue<std::unique_ptr<int>>);

TEST_P(TryTest, TrySendFailsWithoutAReceiverOrRoom) {
  EXPECT_FALSE(MakeChan<int>().TrySend(1));
  const Chan<int> full = MakeChan<int>(1);
  full.Send(1);
  EXPECT_FALSE(full.TrySend(2));
  EXPECT_EQ(full.Len(), 1u);
}

TEST_P(TryTest, TrySendSucceedsIfThereIsRoom) {
  const Chan<int> c = MakeChan<int>(2);

  EXPECT_TRUE(c.TrySend(1));
  EXPECT_TRUE(c.TrySend(2));

  EXPECT_EQ(c.Recv(), 1);
  EXPECT_EQ(c.Recv(), 2);
}

TEST_P(TryTest, TrySendSucceedsIfAReceiverWaits) {
  for (const Kind kind : kKinds) {
    for (const int capacity : {0, 1}) {
      const Chan<int> c = MakeChan<int>(capacity);
      std::optional<int> got;
      Team team;
      team.Go(kind, [&] { got = c.Recv(); });
      AwaitWaiting(c, 1);

      EXPECT_TRUE(c.TrySend(7));

      team.Wait();
      EXPECT_EQ(got, 7) << kind;
      EXPECT_EQ(c.Len(), 0u);
    }
  }
}

TEST_P(TryTest, TrySendLeavesTheValueAloneWhenItFails) {
  auto value = std::make_unique<int>(7);
  EXPECT_FALSE(MakeChan<std::unique_ptr<int>>().TrySend(std::move(value)));
  ASSERT_NE(value, nullptr);
  EXPECT_EQ(*value, 7);
}

TEST_P(TryTest, TrySendMovesTheValueWhenItSucceeds) {
  const auto c = MakeChan<std::unique_ptr<int>>(1);
  auto value = std::make_unique<int>(7);

  EXPECT_TRUE(c.TrySend(std::move(value)));

  EXPECT_EQ(value, nullptr);
  EXPECT_EQ(**c.Recv(), 7);
}

TEST_P(TryTest, TrySendCopiesAnLvalueOnlyWhenItSucceeds) {
  int copies = 0;
  const Copied value(&copies);
  const Chan<Copied> c = MakeChan<Copied>(1);

  EXPECT_TRUE(c.TrySend(value));
  EXPECT_EQ(copies, 1);
  EXPECT_FALSE(c.TrySend(value));
  EXPECT_FALSE(MakeChan<Copied>().TrySend(value));
  EXPECT_FALSE(Chan<Copied>().TrySend(value));
  EXPECT_EQ(copies, 1);
}

TEST_P(TryTest, AnLvalueThatIsSentStaysWhatItWas) {
  const Chan<std::string> c = MakeChan<std::string>(1);
  std::string value = "a text too long for the small buffer of a string";

  EXPECT_TRUE(c.TrySend(value));

  EXPECT_EQ(c.Recv(), value);
}

TEST_P(TryTest, TrySendOnAClosedChannelPanicsAndKeepsTheValue) {
  for (const int capacity : {0, 1}) {
    const auto c = MakeChan<std::shared_ptr<int>>(capacity);
    c.Close();
    auto value = std::make_shared<int>(7);

    EXPECT_EQ(PanicText([&] { (void)c.TrySend(std::move(value)); }),
              kSendOnClosed);
    ASSERT_NE(value, nullptr);
    EXPECT_EQ(PanicText([&] { (void)c.TrySend(value); }), kSendOnClosed);
    EXPECT_EQ(value.use_count(), 1);
  }
}

TEST_P(TryTest, TryRecvIsNotReadyOnAnEmptyChannel) {
  for (const int capacity : {0, 1}) {
    const Chan<int> c = MakeChan<int>(capacity);

    const Chan<int>::TryRecvResult result = c.TryRecv();

    EXPECT_FALSE(result.ready);
    EXPECT_EQ(result.value, std::nullopt);
  }
}

TEST_P(TryTest, TryRecvTakesWhatIsBuffered) {
  const Chan<int> c = MakeChan<int>(1);
  c.Send(7);

  const auto [ready, value] = c.TryRecv();

  EXPECT_TRUE(ready);
  EXPECT_EQ(value, 7);
  EXPECT_FALSE(c.TryRecv().ready);
}

TEST_P(TryTest, TryRecvTakesTheValueOfAWaitingSender) {
  for (const Kind kind : kKinds) {
    for (const int capacity : {0, 1}) {
      const Chan<int> c = MakeChan<int>(capacity);
      for (int i = 0; i < capacity; ++i) c.Send(i);
      Team team;
      team.Go(kind, [&] { c.Send(7); });
      AwaitWaiting(c, 1);

      for (int i = 0; i < capacity; ++i) EXPECT_EQ(c.TryRecv().value, i);
      const auto [ready, value] = c.TryRecv();

      EXPECT_TRUE(ready);
      EXPECT_EQ(value, 7) << kind;
    }
  }
}

TEST_P(TryTest, TryRecvIsReadyWithoutAValueOnceClosedAndDrained) {
  for (const int capacity : {0, 1, 3}) {
    const Chan<int> c = MakeChan<int>(capacity);
    for (int i = 0; i < capacity; ++i) c.Send(i);
    c.Close();

    for (int i = 0; i < capacity; ++i) EXPECT_EQ(c.TryRecv().value, i);

    for (int i = 0; i < 2; ++i) {
      const auto [ready, value] = c.TryRecv();
      EXPECT_TRUE(ready);
      EXPECT_EQ(value, std::nullopt);
    }
  }
}

TEST_P(TryTest, TheOneWayViewsTryToo) {
  const Chan<int> c = MakeChan<int>(1);
  const SendChan<int> in = c;
  const RecvChan<int> out = c;

  const int lvalue = 7;
  EXPECT_TRUE(in.TrySend(lvalue));
  EXPECT_FALSE(in.TrySend(8));
  EXPECT_EQ(out.TryRecv().value, 7);
  EXPECT_FALSE(out.TryRecv().ready);
}

TEST_P(TryTest, AnyThreadCanTry) {
  const Chan<int> c = MakeChan<int>(1);
  for (const Kind kind : kKinds) {
    Team team;
    team.Go(kind, [&] {
      EXPECT_FALSE(c.TryRecv().ready);
      EXPECT_TRUE(c.TrySend(7));
      EXPECT_FALSE(c.TrySend(8));
      EXPECT_EQ(c.TryRecv().value, 7);
    });
  }
}

}  // namespace
}  // namespace gorge
