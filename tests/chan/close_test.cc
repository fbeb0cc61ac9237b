// Closing a channel, and what panics.

#include <atomic>
#include <optional>
#include <stdexcept>
#include <type_traits>

#include "gorge/chan/chan.h"
#include "gorge/core/panic.h"
#include "gorge/tests/support/channels.h"
#include "gorge/tests/support/counted.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::AwaitWaiting;
using ::gorge::testing::Counted;
using ::gorge::testing::kCloseOfClosed;
using ::gorge::testing::kCloseOfNil;
using ::gorge::testing::Kind;
using ::gorge::testing::kKinds;
using ::gorge::testing::kSendOnClosed;
using ::gorge::testing::PanicText;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Team;
using ::gorge::testing::Waiting;

class CloseTest : public RuntimeTest {};
GORGE_INSTANTIATE(CloseTest);

static_assert(std::is_base_of_v<std::logic_error, Panic>);

TEST_P(CloseTest, ReceiversGetWhatIsBufferedAndThenNothing) {
  const Chan<int> c = MakeChan<int>(2);
  c.Send(1);
  c.Send(2);

  c.Close();

  EXPECT_EQ(c.Recv(), 1);
  EXPECT_EQ(c.Recv(), 2);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(c.Recv(), std::nullopt);
}

TEST_P(CloseTest, WakesEveryBlockedReceiver) {
  for (const Kind receiver : kKinds) {
    for (const Kind closer : kKinds) {
      const Chan<int> c = MakeChan<int>();
      std::atomic<int> saw_closed{0};
      Team team;
      for (int i = 0; i < 5; ++i) {
        team.Go(receiver, [&] { saw_closed += !c.Recv().has_value(); });
      }
      AwaitWaiting(c, 5);

      team.Go(closer, [&] { c.Close(); });

      team.Wait();
      EXPECT_EQ(saw_closed, 5) << closer << " closes for " << receiver;
      EXPECT_EQ(Waiting(c), 0);
    }
  }
}

TEST_P(CloseTest, EveryBlockedSenderPanics) {
  for (const Kind sender : kKinds) {
    for (const Kind closer : kKinds) {
      const Chan<Counted> c = MakeChan<Counted>();
      std::atomic<int> panics{0};
      Team team;
      for (int i = 0; i < 5; ++i) {
        team.Go(sender, [&] {
          panics += PanicText([&] { c.Send(Counted(7)); }) == kSendOnClosed;
        });
      }
      AwaitWaiting(c, 5);

      team.Go(closer, [&] { c.Close(); });

      team.Wait();
      EXPECT_EQ(panics, 5) << closer << " closes for " << sender;
      EXPECT_EQ(c.Recv().has_value(), false);
      EXPECT_EQ(Waiting(c), 0);
    }
  }
}

TEST_P(CloseTest, WhatIsBufferedStaysAndWhatItsSenderWaitedWithDoesNot) {
  Run([] {
    const Chan<int> c = MakeChan<int>(1);
    c.Send(1);
    Team team;
    team.Go(Kind::kGoroutine,
            [&] { EXPECT_EQ(PanicText([&] { c.Send(2); }), kSendOnClosed); });
    AwaitWaiting(c, 1);

    c.Close();

    team.Wait();
    EXPECT_EQ(c.Recv(), 1);
    EXPECT_EQ(c.Recv(), std::nullopt);
  });
}

TEST_P(CloseTest, ASendAfterwardsPanics) {
  for (const int capacity : {0, 1}) {
    const Chan<int> c = MakeChan<int>(capacity);
    c.Close();

    EXPECT_EQ(PanicText([&] { c.Send(1); }), kSendOnClosed);
    EXPECT_EQ(PanicText([&] { SendChan<int>(c).Send(1); }), kSendOnClosed);
    EXPECT_EQ(c.Len(), 0u);
  }
}

TEST_P(CloseTest, ASecondClosePanics) {
  const Chan<int> c = MakeChan<int>(1);
  c.Close();

  EXPECT_EQ(PanicText([&] { c.Close(); }), kCloseOfClosed);
  EXPECT_EQ(PanicText([&] { SendChan<int>(c).Close(); }), kCloseOfClosed);
}

TEST_P(CloseTest, CloseOfNilPanics) {
  EXPECT_EQ(PanicText([] { Chan<int>().Close(); }), kCloseOfNil);
  EXPECT_EQ(PanicText([] { SendChan<int>().Close(); }), kCloseOfNil);
}

TEST_P(CloseTest, TheSendingEndCloses) {
  Run([] {
    const Chan<int> c = MakeChan<int>();
    Team team;
    team.Go(Kind::kGoroutine, [&] { EXPECT_EQ(c.Recv(), std::nullopt); });
    AwaitWaiting(c, 1);

    SendChan<int>(c).Close();
  });
}

TEST_P(CloseTest, OneOfManyClosersSucceeds) {
  const Chan<int> c = MakeChan<int>();
  std::atomic<int> closed{0};
  std::atomic<int> panicked{0};
  Team team;
  for (int i = 0; i < 8; ++i) {
    team.Go(kKinds[i % 2], [&] {
      ++(PanicText([&] { c.Close(); }) == kCloseOfClosed ? panicked : closed);
    });
  }
  team.Wait();
  EXPECT_EQ(closed, 1);
  EXPECT_EQ(panicked, 7);
}

TEST_P(CloseTest, WhoCaughtAPanicGoesOn) {
  Run([] {
    const Chan<int> closed = MakeChan<int>();
    const Chan<int> open = MakeChan<int>();
    Team team;
    team.Go(Kind::kGoroutine, [&] {
      try {
        closed.Send(1);
        ADD_FAILURE() << "sent on a closed channel";
      } catch (const std::logic_error& error) {
        EXPECT_STREQ(error.what(), kSendOnClosed);
        // Parks with the exception still being handled.
        EXPECT_EQ(open.Recv(), 7);
        EXPECT_STREQ(error.what(), kSendOnClosed);
      }
      open.Send(8);
    });
    AwaitWaiting(closed, 1);
    closed.Close();
    open.Send(7);
    EXPECT_EQ(open.Recv(), 8);
  });
}

}  // namespace
}  // namespace gorge
