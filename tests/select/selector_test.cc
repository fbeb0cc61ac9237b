// Selector: a select whose cases are added at run time.

#include "gorge/select/selector.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/tests/support/channels.h"
#include "gorge/tests/support/counted.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::AwaitWaiting;
using ::gorge::testing::Counted;
using ::gorge::testing::Kind;
using ::gorge::testing::kKinds;
using ::gorge::testing::kSendOnClosed;
using ::gorge::testing::PanicText;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::gorge::testing::Team;
using ::gorge::testing::Waiting;

class SelectorTest : public RuntimeTest {};
GORGE_INSTANTIATE(SelectorTest);

TEST_P(SelectorTest, CasesAreKnownByTheOrderInWhichTheyWereAdded) {
  Selector selector;
  const Chan<int> c = MakeChan<int>(1);
  EXPECT_EQ(selector.AddRecv(c), 0u);
  EXPECT_EQ(selector.AddRecv(RecvChan<int>(c)), 1u);
  EXPECT_EQ(selector.AddSend(c, [] { return 1; }), 2u);
  EXPECT_EQ(selector.AddDefault(), 3u);
  EXPECT_EQ(selector.AddSend(SendChan<int>(c), [] { return 2; }), 4u);
}

TEST_P(SelectorTest, RunPerformsTheReadyCaseAndReturnsItsIndex) {
  const Chan<int> in = MakeChan<int>(1);
  const Chan<std::string> out = MakeChan<std::string>(1);
  Selector selector;
  std::string log;
  selector.AddRecv(MakeChan<int>(), [&] { log += "idle "; });
  selector.AddRecv(in, [&](int v) { log += std::to_string(v) + ' '; });
  selector.AddSend(
      out, [] { return std::string("text"); }, [&] { log += "sent "; });

  EXPECT_EQ(selector.Run(), 2u);
  EXPECT_EQ(out.Len(), 1u);
  in.Send(7);
  EXPECT_EQ(selector.Run(), 1u);
  EXPECT_EQ(out.Recv(), "text");
  EXPECT_EQ(selector.Run(), 2u);
  EXPECT_EQ(log, "sent 7 sent ");
}

TEST_P(SelectorTest, ReceiveHandlersAreThoseOfSelect) {
  const Chan<int> c = MakeChan<int>(4);
  for (int i = 1; i <= 4; ++i) c.Send(i);
  c.Close();
  std::optional<int> by_optional;
  int by_value = 0;
  int by_nothing = 0;
  Selector selector;
  const std::size_t index =
      selector.AddRecv(c, [&](std::optional<int> v) { by_optional = v; });

  selector.Run();
  EXPECT_EQ(by_optional, 1);
  selector.SetRecv(index, c, [&](int v) { by_value = v; });
  selector.Run();
  EXPECT_EQ(by_value, 2);
  selector.SetRecv(index, c, [&] { ++by_nothing; });
  selector.Run();
  EXPECT_EQ(by_nothing, 1);
  selector.SetRecv(index, c);
  selector.Run();

  EXPECT_EQ(c.Len(), 0u);
  selector.SetRecv(index, c, [&](std::optional<int> v) { by_optional = v; });
  selector.Run();
  EXPECT_EQ(by_optional, std::nullopt);
  selector.SetRecv(index, c, [&](int v) { by_value = v; });
  EXPECT_EQ(selector.Run(), index);
  EXPECT_EQ(by_value, 2);
}

TEST_P(SelectorTest, BlocksUntilACaseIsReady) {
  for (const Kind kind : kKinds) {
    const Chan<int> a = MakeChan<int>();
    const Chan<int> b = MakeChan<int>();
    Team team;
    team.Go(kind, [&] {
      Selector selector;
      int got = 0;
      selector.AddRecv(a, [&](int v) { got = v; });
      selector.AddSend(b, [] { return 8; });
      EXPECT_EQ(selector.Run(), 0u);
      EXPECT_EQ(got, 7) << kind;
      EXPECT_EQ(selector.Run(), 1u);
      EXPECT_EQ(PanicText([&] { selector.Run(); }), kSendOnClosed);
    });
    AwaitWaiting(a, 1);
    AwaitWaiting(b, 1);
    a.Send(7);
    EXPECT_EQ(b.Recv(), 8);
    AwaitWaiting(b, 1);
    b.Close();
    team.Wait();
    EXPECT_EQ(Waiting(a), 0);
  }
}

TEST_P(SelectorTest, BlocksForEverWithoutACaseThatCanBeReady) {
  LeavesBlocked(3);
  go([] {
    Selector().Run();
    ADD_FAILURE() << "an empty selector returned";
  });
  go([] {
    Selector selector;
    selector.AddRecv(Chan<int>());
    selector.AddSend(Chan<int>(), [] { return 1; });
    selector.Run();
    ADD_FAILURE() << "a selector of nil returned";
  });
  go([] {
    Selector selector;
    const Chan<int> closed = MakeChan<int>();
    closed.Close();
    selector.Disable(selector.AddRecv(closed));
    selector.Run();
    ADD_FAILURE() << "a selector without a live case returned";
  });
  AwaitParked(3);
}

TEST_P(SelectorTest, TheDefaultIsTakenIfNothingIsReady) {
  const Chan<int> c = MakeChan<int>(1);
  Selector selector;
  int defaults = 0;
  selector.AddRecv(c);
  const std::size_t index = selector.AddDefault([&] { ++defaults; });
  selector.AddRecv(Chan<int>());

  EXPECT_EQ(selector.Run(), index);
  EXPECT_EQ(defaults, 1);
  c.Send(1);
  EXPECT_EQ(selector.Run(), 0u);
  EXPECT_EQ(defaults, 1);
  EXPECT_EQ(selector.Run(), index);
}

TEST_P(SelectorTest, TheDefaultMayBeTheOnlyCaseAndNeedsNoHandler) {
  Selector selector;
  EXPECT_EQ(selector.AddDefault(), 0u);
  EXPECT_EQ(selector.Run(), 0u);
}

TEST_P(SelectorTest, ASecondDefaultPanics) {
  Selector selector;
  selector.AddDefault();
  EXPECT_THROW(selector.AddDefault(), Panic);
  // It has changed nothing.
  EXPECT_EQ(selector.Run(), 0u);
  EXPECT_EQ(selector.AddRecv(Chan<int>()), 1u);
}

TEST_P(SelectorTest, AValueIsAskedForOnceForEachSend) {
  const Chan<int> out = MakeChan<int>(1);
  const Chan<int> in = MakeChan<int>(1);
  int asked = 0;
  Selector selector;
  selector.AddSend(out, [&] { return ++asked; });
  selector.AddRecv(in);
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(selector.Run(), 0u);
  EXPECT_EQ(asked, 1);

  // The buffer is full. The value asked for is kept until it has been sent.
  for (int i = 0; i < 3; ++i) {
    in.Send(i);
    EXPECT_EQ(selector.Run(), 1u);
    EXPECT_EQ(asked, 2);
  }
  EXPECT_EQ(out.Recv(), 1);
  EXPECT_EQ(selector.Run(), 0u);
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(out.Recv(), 2);
}

TEST_P(SelectorTest, NoValueIsAskedForToSendToNil) {
  Selector selector;
  selector.AddSend(Chan<int>(), [] {
    ADD_FAILURE() << "a value for nobody";
    return 0;
  });
  selector.AddDefault();
  EXPECT_EQ(selector.Run(), 1u);
}

TEST_P(SelectorTest, ValuesAndElementsNeedOnlyMove) {
  const auto c = MakeChan<Counted>(1);
  Selector selector;
  int next = 0;
  int got = -1;
  selector.AddSend(c, [&] { return Counted(next++); });
  selector.AddRecv(c, [&](Counted v) { got = v.value(); });
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(selector.Run(), 0u);
    EXPECT_EQ(selector.Run(), 1u);
    EXPECT_EQ(got, i);
  }
  // Of the values, one waits for its turn.
  EXPECT_EQ(Counted::live, 1);
  selector.Clear();
  EXPECT_EQ(Counted::live, 0);
}

TEST_P(SelectorTest, MovesWithItsCases) {
  const Chan<int> c = MakeChan<int>(2);
  c.Send(7);
  int got = 0;
  Selector selector;
  selector.AddRecv(MakeChan<int>());
  selector.AddRecv(c, [&](int v) { got = v; });

  Selector moved = std::move(selector);
  EXPECT_EQ(moved.Run(), 1u);
  EXPECT_EQ(got, 7);

  c.Send(8);
  selector = std::move(moved);
  EXPECT_EQ(selector.Run(), 1u);
  EXPECT_EQ(got, 8);
}

TEST_P(SelectorTest, MergesManyFeeds) {
  constexpr int kFeeds = 20;
  const int n = Scaled(500);
  std::vector<Chan<int>> feeds(kFeeds);
  for (Chan<int>& feed : feeds) feed = MakeChan<int>(feeds.size() % 3);
  Team team;
  for (int i = 0; i < kFeeds; ++i) {
    team.Go(i < 4 ? kKinds[i % 2] : Kind::kGoroutine, [&, i] {
      for (int k = 0; k < n; ++k) feeds[i].Send(k);
      feeds[i].Close();
    });
  }
  team.Go(Kind::kGoroutine, [&] {
    Selector selector;
    std::vector<int> seen(kFeeds);
    int open = kFeeds;
    std::vector<bool> closed(kFeeds);
    for (int i = 0; i < kFeeds; ++i) {
      selector.AddRecv(feeds[i], [&, i](std::optional<int> v) {
        if (v.has_value()) {
          EXPECT_EQ(*v, seen[i]++);
        } else {
          closed[i] = true;
          --open;
        }
      });
    }
    while (open > 0) {
      const std::size_t index = selector.Run();
      if (closed[index]) selector.Disable(index);
    }
    for (const int count : seen) EXPECT_EQ(count, n);
  });
}

TEST_P(SelectorTest, OneThatWasMovedFromHasNoCases) {
  const Chan<int> c = MakeChan<int>(1);
  Selector first;
  first.AddRecv(c);
  first.AddDefault();

  Selector second = std::move(first);

  EXPECT_EQ(second.Run(), 1u);
  int got = 0;
  EXPECT_EQ(first.AddRecv(c, [&](int v) { got = v; }), 0u);
  c.Send(7);
  EXPECT_EQ(first.Run(), 0u);
  EXPECT_EQ(got, 7);
  EXPECT_EQ(first.AddDefault(), 1u);
  EXPECT_EQ(first.Run(), 1u);
  second = std::move(first);
  EXPECT_EQ(second.Run(), 1u);
}

}  // namespace
}  // namespace gorge
