// Handlers: when they run, what they may do, what becomes of their exceptions.

#include <any>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "gorge/chan/chan.h"
#include "gorge/select/select.h"
#include "gorge/tests/support/channels.h"
#include "gorge/tests/support/counted.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::AwaitWaiting;
using ::gorge::testing::Counted;
using ::gorge::testing::Kind;
using ::gorge::testing::kKinds;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Team;
using ::gorge::testing::Waiting;

class HandlerTest : public RuntimeTest {};
GORGE_INSTANTIATE(HandlerTest);

[[noreturn]] void Throw() { throw std::runtime_error("thrown by a handler"); }

TEST_P(HandlerTest, WhatAReceiveHandlerThrowsReachesTheCaller) {
  for (const Kind kind : kKinds) {
    const Chan<Counted> c = MakeChan<Counted>(1);
    const Chan<int> idle = MakeChan<int>();
    Team team;
    team.Go(kind, [&] {
      // Once with the element there, once after waiting for it.
      for (int i = 0; i < 2; ++i) {
        EXPECT_THROW(Select(OnRecv(c, [](Counted) { Throw(); }), OnRecv(idle)),
                     std::runtime_error);
        EXPECT_THROW(Select(OnRecv(c, [](std::optional<Counted>) { Throw(); })),
                     std::runtime_error);
        EXPECT_THROW(Select(OnRecv(idle), OnRecv(c, [] { Throw(); })),
                     std::runtime_error);
      }
    });
    for (int i = 0; i < 6; ++i) c.Send(Counted(i));
    team.Wait();
    // Each has received its element all the same.
    EXPECT_EQ(c.Len(), 0u);
    EXPECT_EQ(Waiting(c), 0);
    EXPECT_EQ(Waiting(idle), 0);
  }
}

TEST_P(HandlerTest, WhatASendHandlerThrowsReachesTheCallerAfterTheSend) {
  const Chan<int> c = MakeChan<int>(1);
  EXPECT_THROW(Select(OnSend(c, 7, Throw)), std::runtime_error);
  EXPECT_EQ(c.Recv(), 7);
  EXPECT_THROW(Select(OnSend(c, 8, Throw), OnRecv(MakeChan<int>())),
               std::runtime_error);
  EXPECT_EQ(c.Recv(), 8);
}

TEST_P(HandlerTest, WhatADefaultHandlerThrowsReachesTheCaller) {
  EXPECT_THROW(Select(OnDefault(Throw)), std::runtime_error);
  EXPECT_THROW(SelectInOrder(OnRecv(MakeChan<int>()), OnDefault(Throw)),
               std::runtime_error);
}

TEST_P(HandlerTest, RunsWithEveryChannelUnlocked) {
  // On the channels of its own select, and in both ways of choosing.
  const Chan<int> a = MakeChan<int>(2);
  const Chan<int> b = MakeChan<int>(2);
  for (const bool in_order : {false, true}) {
    const auto use_both = [&] {
      for (const Chan<int>& c : {a, b}) {
        EXPECT_TRUE(c.TrySend(1));
        EXPECT_TRUE(c.TryRecv().ready);
        EXPECT_EQ(Select(OnSend(c, 2), OnDefault()), 0u);
        EXPECT_EQ(Select(OnRecv(a), OnRecv(b)), c == a ? 0u : 1u);
      }
    };
    a.Send(7);
    const auto run = [&](auto... cases) {
      return in_order ? SelectInOrder(std::move(cases)...)
                      : Select(std::move(cases)...);
    };
    EXPECT_EQ(run(OnRecv(a, use_both), OnRecv(b, use_both)), 0u);
    EXPECT_EQ(
        run(OnRecv(a, use_both), OnRecv(b, use_both), OnDefault(use_both)), 2u);
  }
  a.Send(7);
  EXPECT_EQ(Select(OnRecv(a, [&] { a.Close(); }), OnRecv(b)), 0u);
}

TEST_P(HandlerTest, MayBlock) {
  for (const Kind kind : kKinds) {
    const Chan<int> c = MakeChan<int>();
    const Chan<int> inner = MakeChan<int>();
    Team team;
    team.Go(kind, [&] {
      int got = 0;
      EXPECT_EQ(Select(OnRecv(c, [&] { got = *inner.Recv(); }),
                       OnRecv(MakeChan<int>())),
                0u);
      EXPECT_EQ(got, 8);
    });
    AwaitWaiting(c, 1);
    c.Send(7);
    AwaitWaiting(inner, 1);
    EXPECT_EQ(Waiting(c), 0);
    inner.Send(8);
  }
}

TEST_P(HandlerTest, SelectsNest) {
  const Chan<int> c = MakeChan<int>(10);
  for (int i = 0; i < 10; ++i) c.Send(i);
  std::string got;
  const auto record = [&](int v) { got += std::to_string(v); };
  Select(OnRecv(c,
                [&](int v) {
                  record(v);
                  Select(OnRecv(MakeChan<int>()), OnRecv(c, [&](int w) {
                           record(w);
                           SelectInOrder(OnRecv(c, record), OnRecv(c, record));
                           record(w);
                         }));
                  record(v);
                }),
         OnRecv(MakeChan<int>()));
  EXPECT_EQ(got, "01210");
}

TEST_P(HandlerTest, RunsInTheCallingGoroutine) {
  Run([] {
    const Chan<int> c = MakeChan<int>();
    Team team;
    for (int i = 0; i < 2; ++i) {
      team.Go(Kind::kGoroutine, [&] {
        // Its own variables, without any synchronisation.
        int mine = 0;
        for (int k = 0; k < 20; ++k) {
          Select(OnRecv(c, [&] { ++mine; }), OnRecv(MakeChan<int>()));
        }
        EXPECT_EQ(mine, 20);
      });
    }
    for (int i = 0; i < 40; ++i) c.Send(i);
  });
}

TEST_P(HandlerTest, TheSenderGoesOnBeforeTheReceiversHandlerIsDone) {
  const Chan<int> c = MakeChan<int>();
  const Chan<int> sent = MakeChan<int>();
  Team team;
  team.Go(Kind::kGoroutine, [&] {
    Select(OnRecv(c, [&] { EXPECT_EQ(sent.Recv(), 8); }),
           OnRecv(MakeChan<int>()));
  });
  c.Send(7);
  sent.Send(8);
}

TEST_P(HandlerTest, AGenericOneTakesTheOptional) {
  const Chan<bool> c = MakeChan<bool>(1);
  c.Send(false);
  c.Close();
  Select(OnRecv(c, [](auto v) { EXPECT_EQ(v, std::optional<bool>(false)); }));
  Select(OnRecv(c, [](auto&& v) { EXPECT_FALSE(v.has_value()); }));
}

// An any can be made of everything, of an optional<any> too.
TEST_P(HandlerTest, AnElementThatIsMadeOfAnythingIsTakenForWhatItIs) {
  const Chan<std::any> c = MakeChan<std::any>(2);
  c.Send(5);
  c.Send(6);
  c.Close();
  int calls = 0;
  const auto element = [&](std::any v) {
    ++calls;
    EXPECT_EQ(std::any_cast<int>(v), 5);
  };
  Select(OnRecv(c, element));
  Select(OnRecv(c, [&](std::optional<std::any> v) {
    EXPECT_EQ(std::any_cast<int>(*v), 6);
  }));
  Select(OnRecv(c, element));  // Closed: not called.
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace gorge
