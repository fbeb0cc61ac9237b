// SingleFlight: how many runs there are, and how a run may end. Answers
// internal/singleflight/singleflight_test.go and what x/sync/singleflight
// demands besides; each case has the name of the test it answers.

#include "gorge/xsync/single_flight.h"

#include <signal.h>

#include <atomic>
#include <stdexcept>
#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gorge/chan/chan.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/death_test.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::DeathTest;
using ::gorge::testing::InChild;
using ::gorge::testing::kKinds;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::gorge::testing::Team;
using ::testing::HasSubstr;
using ::testing::KilledBySignal;
using Flight = SingleFlight<std::string, int>;

class SingleFlightConformanceTest : public RuntimeTest {};
GORGE_INSTANTIATE(SingleFlightConformanceTest);

// All who come while it runs share the one run.
TEST_P(SingleFlightConformanceTest, DoDupSuppress) {
  Run([] {
    constexpr int kCallers = 10;
    Flight flight;
    std::atomic<int> runs{0};
    const auto release = MakeChan<int>();
    WaitGroup all;
    for (int i = 0; i < kCallers; ++i) {
      all.Go([&] {
        const Flight::Result result = flight.Do("key", [&] {
          ++runs;
          return *release.Recv();
        });
        EXPECT_EQ(*result.value, 7);
        EXPECT_TRUE(result.shared);
      });
    }
    AwaitParked(kCallers);

    release.Send(7);

    all.Wait();
    EXPECT_EQ(runs, 1);
  });
}

// Calls of one key that are not forgotten do not overlap.
TEST_P(SingleFlightConformanceTest, DoDupSuppressWithoutEnd) {
  SingleFlight<int, int> flight;
  std::atomic<int> running{0};
  Team team;
  for (int w = 0; w < 6; ++w) {
    team.Go(kKinds[w % 2], [&] {
      for (int i = 0; i < Scaled(2'000) + 10; ++i) {
        flight.Do(0, [&] {
          EXPECT_EQ(++running, 1);
          if (i % 8 == 0) Gosched();
          --running;
          return i;
        });
      }
    });
  }
}

// As many forgets as calls, at the same time: each caller has the result of a
// run of its key, and that of its own if it was the one to run.
TEST_P(SingleFlightConformanceTest, DoAndForgetRace) {
  SingleFlight<int, int> flight;
  std::atomic<int> runs{0};
  std::atomic<int> shared{0};
  const int calls = Scaled(2'000) + 10;
  constexpr int kCallers = 6;
  Team team;
  for (int w = 0; w < kCallers; ++w) {
    team.Go(kKinds[w % 2], [&] {
      for (int i = 0; i < calls; ++i) {
        int mine = 0;
        const auto result = flight.Do(0, [&] {
          mine = ++runs;
          if (i % 8 == 0) Gosched();
          return mine;
        });
        EXPECT_GE(*result.value, 1);
        EXPECT_LE(*result.value, runs);
        if (mine != 0) {
          EXPECT_EQ(*result.value, mine);
        } else {
          EXPECT_TRUE(result.shared);
          ++shared;
        }
        if (i % 2 == 0) flight.Forget(0);
      }
    });
  }
  team.Wait();
  EXPECT_EQ(runs + shared, kCallers * calls);
}

// A Goexit in the function of Do ends the caller that runs it and nobody else,
// and the key is free again.
TEST_P(SingleFlightConformanceTest, GoexitDo) {
  Run([] {
    Flight flight;
    const auto release = MakeChan<int>();
    std::atomic<int> told{0};
    bool went_on = false;
    WaitGroup all;
    all.Go([&] {
      flight.Do("key", [&]() -> int {
        release.Recv();
        Goexit();
      });
      went_on = true;
    });
    AwaitParked(1);
    for (int i = 0; i < 3; ++i) {
      all.Go([&] {
        const Flight::Result result = flight.Do("key", [] { return 1; });
        EXPECT_TRUE(absl::IsAborted(result.value.status()));
        ++told;
      });
    }
    AwaitParked(4);

    release.Close();

    all.Wait();
    EXPECT_FALSE(went_on);
    EXPECT_EQ(told, 3);
    EXPECT_EQ(*flight.Do("key", [] { return 3; }).value, 3);
  });
}

using SingleFlightDeathTest = DeathTest;

// Nobody could catch it: the process ends, and no channel stays without a word.
TEST_F(SingleFlightDeathTest, PanicDoChan) {
  EXPECT_EXIT(InChild([] {
                Flight flight;
                const auto result = flight.DoChan(
                    "key", []() -> int { throw std::runtime_error("flight"); });
                result.Recv();
              }),
              KilledBySignal(SIGABRT), HasSubstr("panic: flight"));
}

// Do runs it, and could catch it; but one who shares it by a channel could not.
TEST_F(SingleFlightDeathTest, PanicDoSharedByDoChan) {
  EXPECT_EXIT(InChild([] {
                Flight flight;
                RecvChan<Flight::Result> result;
                try {
                  flight.Do("key", [&]() -> int {
                    result = flight.DoChan("key", [] { return 1; });
                    throw std::runtime_error("flight");
                  });
                } catch (const std::runtime_error&) {
                }
                result.Recv();
              }),
              KilledBySignal(SIGABRT), HasSubstr("panic: flight"));
}

}  // namespace
}  // namespace gorge
