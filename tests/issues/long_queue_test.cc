// Case B11: leaving the queue of a channel where many wait takes time in
// proportion to their number, so that a crowd leaving takes its square.

#include <algorithm>
#include <chrono>
#include <vector>

#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/core/runtime.h"
#include "gorge/select/select.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/channels.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;

class LongQueueTest : public RuntimeTest {
 protected:
  // The time in which n goroutines leave the queue of one channel, woken
  // through a channel of their own each, the last ones first or the first ones.
  static double SecondsToLeave(int n, bool last_first) {
    const Chan<int> hot = MakeChan<int>();
    std::vector<Chan<int>> own(n);
    WaitGroup left;
    for (Chan<int>& c : own) {
      c = MakeChan<int>();
      left.Go([&hot, &c] { Select(OnRecv(hot), OnRecv(c)); });
    }
    AwaitParked(n);
    if (last_first) std::reverse(own.begin(), own.end());
    // A goroutine wakes them: a plain thread would have to wake a machine as
    // well, for each of them or for none, as the kernel happens to place it.
    const auto start = std::chrono::steady_clock::now();
    left.Go([&own] {
      for (const Chan<int>& c : own) c.Close();
    });
    left.Wait();
    const std::chrono::duration<double> taken =
        std::chrono::steady_clock::now() - start;
    EXPECT_EQ(testing::Waiting(hot), 0);
    return taken.count();
  }
};
GORGE_INSTANTIATE(LongQueueTest);

TEST_P(LongQueueTest, LeavingIsNotLinearInItsLength) {
  constexpr int kFactor = 8;
  const int n = Scaled(4000) + 400;  // Too many for the caches already.
  for (const bool last_first : {false, true}) {
    // The square of the factor would be 64. Other processes may be in the way
    // of either measurement, so the best of some counts.
    double small = 1e9;
    double large = 1e9;
    for (int i = 0; i < 3; ++i) {
      small = std::min(small, SecondsToLeave(n, last_first));
      large = std::min(large, SecondsToLeave(kFactor * n, last_first));
    }
    // The checked build moves each to another machine. That takes longer than
    // all else, or no time, again as the kernel places them: with one P, where
    // the machines take turns.
    if (testing::kChecked && procs() == 1) continue;
    EXPECT_LT(large, small * kFactor * 4) << "of " << n << ": " << small;
  }
}

}  // namespace
}  // namespace gorge
