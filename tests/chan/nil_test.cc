// The nil channel: what a default-constructed handle means.

#include <atomic>
#include <memory>
#include <thread>
#include <utility>

#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/core/internal/goroutine.h"
#include "gorge/tests/support/channels.h"
#include "gorge/tests/support/runtime_test.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::kCloseOfNil;
using ::gorge::testing::PanicText;
using ::gorge::testing::RuntimeTest;

class NilTest : public RuntimeTest {};
GORGE_INSTANTIATE(NilTest);

TEST_P(NilTest, SendBlocksForEver) {
  LeavesBlocked(2);
  go([] {
    Chan<int>().Send(1);
    ADD_FAILURE() << "sent to nil";
  });
  go([] {
    SendChan<int>().Send(1);
    ADD_FAILURE() << "sent to nil";
  });
  AwaitParked(2);
}

TEST_P(NilTest, RecvBlocksForEver) {
  LeavesBlocked(3);
  go([] {
    Chan<int>().Recv();
    ADD_FAILURE() << "received from nil";
  });
  go([] {
    RecvChan<int>().Recv();
    ADD_FAILURE() << "received from nil";
  });
  go([] {
    for (const int v : Chan<int>()) ADD_FAILURE() << "received " << v;
    ADD_FAILURE() << "nil looks closed";
  });
  AwaitParked(3);
}

TEST_P(NilTest, TrySendFailsAndLeavesTheValueAlone) {
  auto value = std::make_unique<int>(7);
  EXPECT_FALSE(Chan<std::unique_ptr<int>>().TrySend(std::move(value)));
  EXPECT_FALSE(SendChan<std::unique_ptr<int>>().TrySend(std::move(value)));
  EXPECT_NE(value, nullptr);

  const int lvalue = 7;
  EXPECT_FALSE(Chan<int>().TrySend(lvalue));
}

TEST_P(NilTest, TryRecvIsNotReady) {
  EXPECT_FALSE(Chan<int>().TryRecv().ready);
  EXPECT_FALSE(RecvChan<int>().TryRecv().ready);
  EXPECT_FALSE(Chan<int>().TryRecv().value.has_value());
}

TEST_P(NilTest, HasNoLengthAndNoCapacity) {
  EXPECT_EQ(Chan<int>().Len(), 0u);
  EXPECT_EQ(Chan<int>().Cap(), 0u);
  EXPECT_EQ(SendChan<int>().Len(), 0u);
  EXPECT_EQ(RecvChan<int>().Cap(), 0u);
}

TEST_P(NilTest, IsFalse) {
  EXPECT_FALSE(Chan<int>());
  EXPECT_FALSE(SendChan<int>());
  EXPECT_FALSE(RecvChan<int>());
  EXPECT_TRUE(MakeChan<int>());
}

TEST_P(NilTest, CloseOfEitherHandlePanics) {
  EXPECT_EQ(PanicText([] { Chan<int>().Close(); }), kCloseOfNil);
  EXPECT_EQ(PanicText([] { SendChan<int>().Close(); }), kCloseOfNil);
}

// The thread cannot be ended, so there is one for the whole program.
TEST(NilInAThreadTest, RecvBlocksForEver) {
  static std::atomic<const internal::G*> waiter{nullptr};
  if (waiter != nullptr) return;
  std::thread([] {
    waiter = internal::Self();
    Chan<int>().Recv();
    ADD_FAILURE() << "received from nil";
  }).detach();
  while (waiter == nullptr ||
         waiter.load()->state.load() != internal::State::kWaiting) {
    std::this_thread::yield();
  }
  EXPECT_EQ(waiter.load()->wait_reason, internal::WaitReason::kChanNil);
}

}  // namespace
}  // namespace gorge
