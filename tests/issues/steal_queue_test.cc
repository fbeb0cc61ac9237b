// Case B14: with queues that are stolen from and whose places are used again,
// goroutines get lost, or run twice. Here bursts that just fit in a P's queue,
// and just do not, start at ever other places of its ring, and every goroutine
// leaves its mark once and is never on two threads.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/core/internal/run_queue.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;

class StealQueueTest : public RuntimeTest {};
GORGE_INSTANTIATE(StealQueueTest);

constexpr int kRing = internal::RunQueue::kCapacity;
constexpr int kBursts[] = {kRing - 1,     kRing,     kRing + 1, kRing / 2,
                           2 * kRing - 1, 2 * kRing, 1,         2 * kRing + 1,
                           kRing / 2 + 1, 4 * kRing, 3};
constexpr int kLargest = 4 * kRing;

// What the goroutines of one burst leave behind.
class Marks {
 public:
  // The `index`-th is on a thread from here on; and until Leave().
  void Enter(int index) {
    overlaps_ += running_[At(index)].exchange(true) ? 1 : 0;
  }
  void Leave(int index) {
    overlaps_ += running_[At(index)].exchange(false) ? 0 : 1;
  }

  // The `index`-th sets its bit.
  void Set(int index) {
    const std::uint64_t bit = std::uint64_t{1} << (index % 64);
    twice_ += (bits_[At(index) / 64].fetch_or(bit) & bit) != 0 ? 1 : 0;
  }

  // Yields that often, then sets the bit.
  void Run(int index, int yields) {
    Enter(index);
    for (int i = 0; i < yields; ++i) {
      Leave(index);
      Gosched();
      Enter(index);
    }
    Set(index);
    Leave(index);
  }

  // Says what is wrong after a burst of n, and forgets it.
  void Expect(int n) {
    EXPECT_EQ(overlaps_, 0) << "on two threads, of " << n;
    EXPECT_EQ(twice_, 0) << "run twice, of " << n;
    int missing = 0;
    for (int i = 0; i < n; ++i) {
      missing += ((bits_[At(i) / 64] >> (i % 64)) & 1) == 0 ? 1 : 0;
    }
    EXPECT_EQ(missing, 0) << "never run, of " << n;
    for (std::atomic<std::uint64_t>& word : bits_) word = 0;
  }

 private:
  static std::size_t At(int index) { return static_cast<std::size_t>(index); }

  std::array<std::atomic<std::uint64_t>, kLargest / 64> bits_{};
  std::array<std::atomic<bool>, kLargest> running_{};
  std::atomic<int> overlaps_{0};
  std::atomic<int> twice_{0};
};

// Starts the bursts one after another, with up to `max_yields` yields of each
// goroutine; every second one is waited for without a park, so that the starter
// stays in the queues too.
void StartBursts(int rounds, int max_yields) {
  Marks marks;
  for (int round = 0; round < rounds; ++round) {
    for (const int n : kBursts) {
      std::atomic<int> left{n};
      WaitGroup all;
      for (int i = 0; i < n; ++i) {
        const int yields = max_yields == 0 ? 0 : (i + round) % (max_yields + 1);
        all.Go([&, i, yields] {
          marks.Run(i, yields);
          --left;
        });
      }
      while (round % 2 == 1 && left > 0) Gosched();
      all.Wait();
      marks.Expect(n);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST_P(StealQueueTest, EachOfABurstRunsOnce) {
  Run([] { StartBursts(Scaled(60) + 1, 0); });
}

TEST_P(StealQueueTest, EachOfABurstRunsOnceThoughTheyYield) {
  Run([] { StartBursts(Scaled(30) + 1, 3); });
}

// The queue is filled and drained, again and again.
TEST_P(StealQueueTest, BurstsWithAndWithoutYieldsTakeTurns) {
  Run([] {
    for (int i = 0; i < Scaled(16) + 1; ++i) StartBursts(1, i % 2 == 0 ? 2 : 0);
  });
}

// Those who steal have bursts of their own, and are stolen from.
TEST_P(StealQueueTest, SeveralBurstsAtOnce) {
  Run([] {
    WaitGroup starters;
    for (int i = 0; i < 3; ++i) {
      starters.Go([i] { StartBursts(Scaled(15) + 1, i); });
    }
    starters.Wait();
  });
}

TEST_P(StealQueueTest, EachOfABurstOfWakeUpsRunsOnce) {
  Run([] {
    Marks marks;
    for (int round = 0; round < Scaled(10) + 1; ++round) {
      for (const int n : kBursts) {
        const auto gate = MakeChan<int>();
        WaitGroup all;
        for (int i = 0; i < n; ++i) {
          all.Go([&, i] {
            gate.Recv();
            marks.Run(i, (i + round) % 2);
          });
        }
        AwaitParked(n);

        gate.Close();

        all.Wait();
        marks.Expect(n);
      }
    }
  });
}

}  // namespace
}  // namespace gorge
