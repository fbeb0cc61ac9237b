// Channels with a buffer.

#include <atomic>
#include <cstddef>
#include <optional>

#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/core/runtime.h"
#include "gorge/tests/support/channels.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::AwaitWaiting;
using ::gorge::testing::Kind;
using ::gorge::testing::kKinds;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::gorge::testing::Team;
using ::gorge::testing::Waiting;

class BufferTest : public RuntimeTest {};
GORGE_INSTANTIATE(BufferTest);

TEST_P(BufferTest, SendsUpToTheCapacityDoNotBlock) {
  const Chan<int> c = MakeChan<int>(3);

  for (int i = 0; i < 3; ++i) c.Send(i);

  for (int i = 0; i < 3; ++i) EXPECT_EQ(c.Recv(), i);
}

TEST_P(BufferTest, LenCountsWhatIsBufferedAndCapDoesNotChange) {
  const Chan<int> c = MakeChan<int>(3);
  EXPECT_EQ(c.Len(), 0u);
  EXPECT_EQ(c.Cap(), 3u);

  c.Send(1);
  c.Send(2);
  EXPECT_EQ(c.Len(), 2u);
  EXPECT_EQ(c.Cap(), 3u);
  EXPECT_EQ(SendChan<int>(c).Len(), 2u);
  EXPECT_EQ(RecvChan<int>(c).Cap(), 3u);

  EXPECT_EQ(c.Recv(), 1);
  EXPECT_EQ(c.Len(), 1u);
  c.Close();
  EXPECT_EQ(c.Len(), 1u);
  EXPECT_EQ(c.Cap(), 3u);
}

TEST_P(BufferTest, LenAndCapAreZeroWithoutABufferThoughSendersWait) {
  Run([] {
    const Chan<int> c = MakeChan<int>();
    go([&] { c.Send(1); });
    AwaitWaiting(c, 1);

    EXPECT_EQ(c.Len(), 0u);
    EXPECT_EQ(c.Cap(), 0u);

    EXPECT_EQ(c.Recv(), 1);
    Await([] { return NumGoroutine() == 1; });
  });
}

TEST_P(BufferTest, AFullBufferBlocksTheSender) {
  Run([] {
    const Chan<int> c = MakeChan<int>(1);
    c.Send(1);
    std::atomic<bool> sent{false};
    Team team;
    team.Go(Kind::kGoroutine, [&] {
      c.Send(2);
      sent = true;
    });
    AwaitWaiting(c, 1);
    EXPECT_FALSE(sent);

    EXPECT_EQ(c.Recv(), 1);

    team.Wait();
    EXPECT_TRUE(sent);
    EXPECT_EQ(c.Recv(), 2);
  });
}

TEST_P(BufferTest, AReceiveFromAFullBufferLetsTheOldestSenderIn) {
  Run([] {
    const Chan<int> c = MakeChan<int>(2);
    c.Send(0);
    c.Send(1);
    Team team;
    for (int i = 2; i < 5; ++i) {
      team.Go(kKinds[i % 2], [&, i] { c.Send(i); });
      AwaitWaiting(c, i - 1);
    }

    EXPECT_EQ(c.Recv(), 0);
    EXPECT_EQ(c.Len(), 2u);
    EXPECT_EQ(Waiting(c), 2);

    // What was buffered comes before what its sender waits with.
    for (int i = 1; i < 5; ++i) EXPECT_EQ(c.Recv(), i);
    team.Wait();
    EXPECT_EQ(c.Len(), 0u);
  });
}

TEST_P(BufferTest, AWaitingReceiverIsServedPastTheBuffer) {
  Run([] {
    const Chan<int> c = MakeChan<int>(2);
    Team team;
    team.Go(Kind::kGoroutine, [&] { EXPECT_EQ(c.Recv(), 7); });
    AwaitWaiting(c, 1);

    c.Send(7);

    EXPECT_EQ(c.Len(), 0u);
    c.Send(8);
    team.Wait();
    EXPECT_EQ(c.Recv(), 8);
  });
}

TEST_P(BufferTest, TheRingKeepsItsOrderHoweverOftenItWraps) {
  for (int capacity = 1; capacity < 10; ++capacity) {
    const Chan<int> c = MakeChan<int>(capacity);
    int next_sent = 0;
    int next_received = 0;
    for (int round = 0; round < 100; ++round) {
      const int batch = 1 + round % capacity;
      for (int i = 0; i < batch; ++i) c.Send(next_sent++);
      EXPECT_EQ(c.Len(), static_cast<std::size_t>(batch));
      for (int i = 0; i < batch; ++i) ASSERT_EQ(c.Recv(), next_received++);
    }
  }
}

TEST_P(BufferTest, ElementsComeInTheOrderOfOneSender) {
  const int n = Scaled(2000);
  for (const int capacity : {1, 2, 10, 100}) {
    for (const Kind sender : kKinds) {
      for (const Kind receiver : kKinds) {
        const Chan<int> c = MakeChan<int>(capacity);
        Team team;
        team.Go(sender, [&] {
          for (int i = 0; i < n; ++i) c.Send(i);
        });
        team.Go(receiver, [&] {
          for (int i = 0; i < n; ++i) {
            ASSERT_EQ(c.Recv(), i) << sender << " to " << receiver;
          }
        });
      }
    }
  }
}

}  // namespace
}  // namespace gorge
