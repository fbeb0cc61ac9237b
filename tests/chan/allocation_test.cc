// What is allocated: one block for a channel, nothing for its use.
//
// Has nothing to say where a sanitizer brings an operator new of its own.

#include <cstddef>
#include <optional>
#include <variant>

#include "gorge/chan/chan.h"
#include "gorge/core/internal/sanitizer.h"
#include "gorge/select/select.h"
#include "gorge/select/selector.h"
#include "gorge/tests/support/allocations.h"
#include "gorge/tests/support/channels.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

#if !GORGE_ASAN && !GORGE_TSAN

namespace gorge {
namespace {

using ::gorge::testing::Allocations;
using ::gorge::testing::AllocationsOf;
using ::gorge::testing::AwaitWaiting;
using ::gorge::testing::Kind;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Team;

class AllocationTest : public RuntimeTest {};
GORGE_INSTANTIATE(AllocationTest);

TEST_P(AllocationTest, AChannelIsOneBlockForItsHeaderAndItsBuffer) {
  Chan<long> c;
  const Allocations none = AllocationsOf([&] { c = MakeChan<long>(); });
  EXPECT_EQ(none.blocks, 1);
  EXPECT_LE(none.bytes, 256u);

  const Allocations some = AllocationsOf([&] { c = MakeChan<long>(1000); });
  EXPECT_EQ(some.blocks, 1);
  EXPECT_EQ(some.bytes - none.bytes, 1000 * sizeof(long));
}

TEST_P(AllocationTest, AnEmptyTypeAddsNothing) {
  struct Empty {};
  Chan<Empty> c;
  const Allocations none = AllocationsOf([&] { c = MakeChan<Empty>(); });
  const Allocations many =
      AllocationsOf([&] { c = MakeChan<Empty>(std::ptrdiff_t{1} << 40); });
  EXPECT_EQ(many.blocks, 1);
  EXPECT_EQ(many.bytes, none.bytes);
}

TEST_P(AllocationTest, AnOverAlignedTypeIsOneBlockToo) {
  struct alignas(4096) Page {
    char bytes[4096];
  };
  Chan<Page> c;
  EXPECT_EQ(AllocationsOf([&] { c = MakeChan<Page>(4); }).blocks, 1);
}

TEST_P(AllocationTest, HandlesAllocateNothing) {
  const Chan<int> c = MakeChan<int>();
  const Allocations counts = AllocationsOf([&] {
    const Chan<int> copy = c;  // NOLINT(performance-unnecessary-copy-*)
    const SendChan<int> in = copy;
    const RecvChan<int> out = copy;
    EXPECT_TRUE(in == copy);
    EXPECT_TRUE(out == copy);
  });
  EXPECT_EQ(counts.blocks, 0);
}

TEST_P(AllocationTest, OperationsThatNeedNotWaitAllocateNothing) {
  const Chan<int> c = MakeChan<int>(1);
  const Chan<int> other = MakeChan<int>();
  const Allocations counts = AllocationsOf([&] {
    for (int i = 0; i < 10; ++i) {
      c.Send(i);
      EXPECT_FALSE(c.TrySend(i));
      EXPECT_EQ(c.Recv(), i);
      EXPECT_FALSE(c.TryRecv().ready);
      EXPECT_EQ(Select(OnSend(c, i), OnRecv(other)), 0u);
      EXPECT_EQ(Select(OnRecv(c), OnRecv(other)), 0u);
      EXPECT_EQ(Select(OnRecv(c), OnRecv(other), OnDefault()), 2u);
    }
  });
  EXPECT_EQ(counts.blocks, 0);
}

TEST_P(AllocationTest, WaitingAllocatesNothing) {
  Run([this] {
    const Chan<int> c = MakeChan<int>();
    const Chan<int> d = MakeChan<int>();
    Team team;
    team.Go(Kind::kGoroutine, [&] {
      for (const int v : c) {
        EXPECT_EQ(v, 7);
        Select(OnRecv(c), OnRecv(d));
      }
    });
    // A machine allocates when it starts, and there may be twice as many as
    // Ps. So it may take a few rounds until all have started that ever will.
    int blocks = 1;
    for (int round = 0; blocks > 0 && round < 2 * procs() + 2; ++round) {
      AwaitWaiting(c, 1);
      blocks = AllocationsOf([&] {
                 for (int i = 0; i < 10; ++i) {
                   AwaitWaiting(c, 1);
                   c.Send(7);
                   AwaitWaiting(d, 1);
                   Select(OnSend(c, 7), OnSend(d, 7));
                 }
               }).blocks;
    }
    c.Close();
    team.Wait();
    EXPECT_EQ(blocks, 0);
  });
}

TEST_P(AllocationTest, ASelectorAllocatesInItsFirstRunOnly) {
  const Chan<int> c = MakeChan<int>(1);
  Selector selector;
  selector.AddRecv(c);
  selector.AddRecv(MakeChan<int>());
  c.Send(1);
  selector.Run();

  const Allocations counts = AllocationsOf([&] {
    for (int i = 0; i < 10; ++i) {
      c.Send(i);
      selector.Run();
    }
  });

  EXPECT_EQ(counts.blocks, 0);
}

}  // namespace
}  // namespace gorge

#endif  // !GORGE_ASAN && !GORGE_TSAN
