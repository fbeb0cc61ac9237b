#include "gorge/xsync/single_flight.h"

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
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
using ::gorge::testing::kKinds;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::gorge::testing::Team;
using Flight = SingleFlight<std::string, int>;

class SingleFlightTest : public RuntimeTest {};
GORGE_INSTANTIATE(SingleFlightTest);

TEST_P(SingleFlightTest, TheResultOrErrorComesBack) {
  Run([] {
    Flight flight;
    const Flight::Result result = flight.Do("a", [] { return 7; });
    EXPECT_EQ(*result.value, 7);
    EXPECT_FALSE(result.shared);

    const absl::Status error = absl::NotFoundError("no such thing");
    EXPECT_EQ(flight.Do("a", [&]() -> absl::StatusOr<int> { return error; })
                  .value.status(),
              error);
    EXPECT_EQ(*flight.DoChan("a", [] { return 8; }).Recv()->value, 8);
  });
}

TEST_P(SingleFlightTest, ThoseWhoComeMeanwhileShareOneRun) {
  for (const Kind kind : kKinds) {
    Flight flight;
    std::atomic<int> runs{0};
    std::atomic<int> asking{0};
    const auto release = MakeChan<int>();
    Team team;
    for (int i = 0; i < 10; ++i) {
      team.Go(kind, [&] {
        ++asking;
        const Flight::Result result = flight.Do("key", [&] {
          static_cast<void>(release.Recv());
          return ++runs;
        });
        EXPECT_EQ(*result.value, runs);
      });
    }
    Await([&] { return asking == 10; });
    release.Close();
    team.Wait();
    EXPECT_GE(runs, 1);
    EXPECT_LE(runs, 10);
  }
}

TEST_P(SingleFlightTest, EveryoneIsToldThatTheResultIsShared) {
  Run([] {
    Flight flight;
    const auto release = MakeChan<int>();
    const auto first = flight.DoChan("key", [release] {
      static_cast<void>(release.Recv());
      return 1;
    });
    AwaitParked(1);
    const auto second = flight.DoChan("key", [] { return 2; });
    release.Close();

    const Flight::Result a = *first.Recv();
    const Flight::Result b = *second.Recv();

    EXPECT_EQ(*a.value, 1);
    EXPECT_EQ(*b.value, 1);
    EXPECT_TRUE(a.shared);
    EXPECT_TRUE(b.shared);
  });
}

TEST_P(SingleFlightTest, AfterForgetTheNextRunsAnew) {
  Run([] {
    Flight flight;
    const auto release = MakeChan<int>();
    const auto first = flight.DoChan("key", [release] {
      static_cast<void>(release.Recv());
      return 1;
    });
    AwaitParked(1);

    flight.Forget("key");

    EXPECT_EQ(*flight.Do("key", [] { return 2; }).value, 2);
    release.Close();
    const Flight::Result result = *first.Recv();
    EXPECT_EQ(*result.value, 1);
    EXPECT_FALSE(result.shared);
    flight.Forget("never asked for");
  });
}

TEST_P(SingleFlightTest, AnExceptionReachesAllWhoShareIt) {
  for (const Kind kind : kKinds) {
    Flight flight;
    std::atomic<int> caught{0};
    Team team;
    for (int i = 0; i < 5; ++i) {
      team.Go(kind, [&] {
        try {
          flight.Do("key", []() -> int {
            Gosched();
            throw std::runtime_error("failed");
          });
        } catch (const std::runtime_error& error) {
          EXPECT_STREQ(error.what(), "failed");
          ++caught;
        }
      });
    }
    team.Wait();
    EXPECT_EQ(caught, 5);
    EXPECT_EQ(*flight.Do("key", [] { return 3; }).value, 3);
  }
}

TEST_P(SingleFlightTest, GoexitEndsItsGoroutineAndNobodyHangs) {
  Run([] {
    Flight flight;
    const auto release = MakeChan<int>();
    const auto first = flight.DoChan("key", [release]() -> int {
      static_cast<void>(release.Recv());
      Goexit();
    });
    AwaitParked(1);
    WaitGroup all;
    all.Go([&] {
      EXPECT_TRUE(
          absl::IsAborted(flight.Do("key", [] { return 1; }).value.status()));
    });
    AwaitParked(2);

    release.Close();

    EXPECT_TRUE(absl::IsAborted(first.Recv()->value.status()));
    all.Wait();
    EXPECT_EQ(*flight.Do("key", [] { return 3; }).value, 3);
  });
}

TEST_P(SingleFlightTest, ManyKeysAndForgetsLoseNothing) {
  for (const Kind kind : kKinds) {
    SingleFlight<int, int> flight;
    Team team;
    for (int k = 0; k < 4; ++k) {
      team.Go(kind, [&, k] {
        for (int i = Scaled(5000) + 20; i > 0; --i) {
          const int key = i % 3;
          EXPECT_EQ(*flight.Do(key, [&] { return key * 10; }).value, key * 10);
          if (i % 7 == k) flight.Forget(key);
          if (i % 16 == 0) Gosched();
        }
      });
    }
  }
}

}  // namespace
}  // namespace gorge
