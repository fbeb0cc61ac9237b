// Many workers between two channels, and a barrier made of channels.

#include <vector>

#include "gorge/chan/chan.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::Kind;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::gorge::testing::Team;

class ChanConsumersTest : public RuntimeTest {};
GORGE_INSTANTIATE(ChanConsumersTest);

TEST_P(ChanConsumersTest, TwentyThreeWorkersLoseNothing) {
  constexpr int kWorkers = 23;
  const int n = Scaled(50'000);
  constexpr int kPrimes[] = {2, 3, 7, 11, 13, 17, 19, 23, 27, 31};
  const Chan<int> jobs = MakeChan<int>(kWorkers / 5);
  const Chan<int> results = MakeChan<int>(kWorkers);
  Team workers;
  for (int w = 0; w < kWorkers; ++w) {
    workers.Go(w < 2 ? Kind::kThread : Kind::kGoroutine, [&, w] {
      for (const int v : jobs) {
        // Some of them are slower than others.
        if (kPrimes[w % 10] == v % 32) Gosched();
        results.Send(v);
      }
    });
  }
  long expected_sum = 0;
  Team feeder;
  feeder.Go(Kind::kGoroutine, [&] {
    for (int i = 0; i < n; ++i) {
      expected_sum += i * 7;
      jobs.Send(i * 7);
    }
    jobs.Close();  // Ends the workers, and so at last the results.
    workers.Wait();
    results.Close();
  });
  int count = 0;
  long sum = 0;
  for (const int v : results) {
    ++count;
    sum += v;
  }
  feeder.Wait();
  EXPECT_EQ(count, n);
  EXPECT_EQ(sum, expected_sum);
}

// Everybody tells everybody else, and goes on when it has heard from all.
TEST_P(ChanConsumersTest, ABarrierOfMessages) {
  constexpr int kMembers = 12;
  const int rounds = Scaled(200);
  std::vector<Chan<int>> inbox(kMembers);
  // Room for all messages of a round and of the next.
  for (Chan<int>& c : inbox) c = MakeChan<int>(2 * kMembers);
  Team team;
  for (int m = 0; m < kMembers; ++m) {
    team.Go(Kind::kGoroutine, [&, m] {
      int early = 0;  // Messages of the next round that are here already.
      for (int round = 0; round < rounds; ++round) {
        for (const Chan<int>& c : inbox) c.Send(round);
        int missing = kMembers - early;
        early = 0;
        while (missing > 0) {
          const int heard = *inbox[m].Recv();
          // Nobody is more than one round ahead.
          ASSERT_TRUE(heard == round || heard == round + 1);
          if (heard == round) {
            --missing;
          } else {
            ++early;
          }
        }
      }
    });
  }
}

}  // namespace
}  // namespace gorge
