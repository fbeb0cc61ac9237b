// Everything one can do to a closed channel, however it came to be closed.

#include <functional>
#include <optional>
#include <vector>

#include "gorge/chan/chan.h"
#include "gorge/select/select.h"
#include "gorge/select/selector.h"
#include "gorge/tests/support/channels.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::AwaitWaiting;
using ::gorge::testing::kCloseOfClosed;
using ::gorge::testing::kCloseOfNil;
using ::gorge::testing::Kind;
using ::gorge::testing::kSendOnClosed;
using ::gorge::testing::PanicText;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Team;

class ChanClosedTest : public RuntimeTest {};
GORGE_INSTANTIATE(ChanClosedTest);

// A receive: what came, and whether it was the close.
using Receive = std::function<std::optional<int>(const Chan<int>&)>;

const Receive kReceives[] = {
    [](const Chan<int>& c) { return c.Recv(); },
    [](const Chan<int>& c) { return RecvChan<int>(c).Recv(); },
    [](const Chan<int>& c) {
      auto result = c.TryRecv();
      EXPECT_TRUE(result.ready);
      return result.value;
    },
    [](const Chan<int>& c) {
      std::optional<int> v = -1;
      EXPECT_EQ(Select(OnRecv(c, &v)), 0u);
      return v;
    },
    [](const Chan<int>& c) {
      std::optional<int> v = -1;
      EXPECT_EQ(Select(OnRecv(c, &v), OnDefault()), 0u);
      return v;
    },
    [](const Chan<int>& c) {
      std::optional<int> v = -1;
      EXPECT_EQ(Select(OnSend(MakeChan<int>(), 1), OnRecv(c, &v)), 1u);
      return v;
    },
    [](const Chan<int>& c) {
      std::optional<int> v = -1;
      EXPECT_EQ(SelectInOrder(OnRecv(Chan<int>()), OnRecv(c, &v), OnDefault()),
                1u);
      return v;
    },
    [](const Chan<int>& c) {
      int v = -1;
      bool ok = true;
      EXPECT_EQ(Select(OnRecv(c, &v, &ok), OnRecv(MakeChan<int>())), 0u);
      if (!ok) {
        EXPECT_EQ(v, 0);
      }
      return ok ? std::optional(v) : std::nullopt;
    },
    [](const Chan<int>& c) {
      std::optional<int> v = -1;
      Selector selector;
      selector.AddRecv(c, [&](std::optional<int> w) { v = w; });
      selector.AddDefault();
      EXPECT_EQ(selector.Run(), 0u);
      return v;
    },
};

const std::function<void(const Chan<int>&)> kSends[] = {
    [](const Chan<int>& c) { c.Send(2); },
    [](const Chan<int>& c) { SendChan<int>(c).Send(2); },
    [](const Chan<int>& c) { (void)c.TrySend(2); },
    [](const Chan<int>& c) { Select(OnSend(c, 2)); },
    [](const Chan<int>& c) { Select(OnSend(c, 2), OnDefault()); },
    [](const Chan<int>& c) { Select(OnSend(c, 2), OnRecv(MakeChan<int>())); },
    [](const Chan<int>& c) {
      SelectInOrder(OnRecv(MakeChan<int>()), OnSend(c, 2), OnDefault());
    },
    [](const Chan<int>& c) {
      Selector selector;
      selector.AddSend(c, [] { return 2; });
      selector.AddDefault();
      selector.Run();
    },
};

void CheckClosed(const Chan<int>& c) {
  for (const Receive& first : kReceives) {
    for (const Receive& second : kReceives) {
      ASSERT_EQ(first(c), std::nullopt);
      ASSERT_EQ(second(c), std::nullopt);
    }
  }
  for (const auto& send : kSends) {
    EXPECT_EQ(PanicText([&] { send(c); }), kSendOnClosed);
  }
  EXPECT_EQ(PanicText([&] { c.Close(); }), kCloseOfClosed);
  for (const int v : c) ADD_FAILURE() << "received " << v;
}

TEST_P(ChanClosedTest, AtOnce) {
  for (const int capacity : {0, 2}) {
    const Chan<int> c = MakeChan<int>(capacity);
    c.Close();
    CheckClosed(c);
  }
}

TEST_P(ChanClosedTest, WithElementsThatComeFirst) {
  for (const Receive& receive : kReceives) {
    const Chan<int> c = MakeChan<int>(2);
    c.Send(1);
    c.Close();
    EXPECT_EQ(receive(c), 1);
    CheckClosed(c);
  }
}

TEST_P(ChanClosedTest, WhileAReceiverWaits) {
  Run([] {
    for (const int capacity : {0, 2}) {
      const Chan<int> c = MakeChan<int>(capacity);
      Team team;
      for (std::size_t i = 0; i < std::size(kReceives); ++i) {
        if (i == 2 || i == 4 || i == 6 || i == 8) continue;  // Do not wait.
        team.Go(Kind::kGoroutine,
                [&, i] { EXPECT_EQ(kReceives[i](c), std::nullopt); });
      }
      AwaitWaiting(c, 5);
      c.Close();
      team.Wait();
      CheckClosed(c);
    }
  });
}

TEST_P(ChanClosedTest, NilCannotBeClosed) {
  EXPECT_EQ(PanicText([] { Chan<int>().Close(); }), kCloseOfNil);
}

}  // namespace
}  // namespace gorge
