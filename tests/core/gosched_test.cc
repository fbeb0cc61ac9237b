#include <atomic>
#include <string>
#include <vector>

#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::kChecked;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;

class GoschedTest : public RuntimeTest {};

GORGE_INSTANTIATE(GoschedTest);

TEST_P(GoschedTest, ReturnsWhenThereIsNobodyElse) {
  Run([] {
    for (int i = 0; i < Scaled(10'000); ++i) Gosched();
  });
}

TEST_P(GoschedTest, ReturnsInAPlainThread) {
  for (int i = 0; i < 100; ++i) Gosched();
}

TEST_P(GoschedTest, LetsOthersRun) {
  Run([] {
    std::atomic<bool> stop{false};
    go([&] { stop = true; });

    while (!stop) Gosched();
  });
}

TEST_P(GoschedTest, ManyThatYieldAllComeToTheirEnd) {
  Run([] {
    WaitGroup all;
    std::atomic<int> turns{0};
    for (int i = 0; i < 100; ++i) {
      all.Go([&] {
        for (int k = 0; k < Scaled(1'000); ++k) {
          ++turns;
          Gosched();
        }
      });
    }
    all.Wait();

    EXPECT_EQ(turns, 100 * Scaled(1'000));
  });
}

TEST_P(GoschedTest, WhatPrecedesItIsSeenAfterIt) {
  Run([] {
    WaitGroup all;
    for (int i = 0; i < 8; ++i) {
      all.Go([] {
        int plain = 0;
        for (int k = 0; k < Scaled(10'000); ++k) {
          ++plain;
          Gosched();
          ASSERT_EQ(plain, k + 1);
        }
      });
    }
    all.Wait();
  });
}

// The global queue is first in, first out, so on one P turns are exact.
TEST_P(GoschedTest, OnOnePTurnsGoRound) {
  if (procs() != 1 || kChecked) return;
  Run([] {
    std::string turns;
    WaitGroup all;
    for (const char name : {'a', 'b', 'c'}) {
      all.Go([&turns, name] {
        Gosched();
        for (int i = 0; i < 4; ++i) {
          turns += name;
          Gosched();
        }
      });
    }
    all.Wait();

    const std::string round = turns.substr(0, 3);
    EXPECT_EQ(turns, round + round + round + round);
  });
}

// A loop that yields takes no turn from those that do not.
TEST_P(GoschedTest, AYieldingLoopDoesNotStarveAPairThatTalks) {
  Run([] {
    const auto ping = MakeChan<int>();
    const auto pong = MakeChan<int>();
    std::atomic<bool> stop{false};
    std::atomic<int> loops{0};
    WaitGroup all;
    all.Go([&] {
      while (!stop) {
        ++loops;
        Gosched();
      }
    });
    all.Go([&] {
      for (const int i : ping) pong.Send(i);
    });

    for (int i = 0; i < Scaled(10'000); ++i) {
      ping.Send(i);
      ASSERT_EQ(pong.Recv(), i);
    }
    Await([&] { return loops > 0; });
    stop = true;
    ping.Close();
    all.Wait();
  });
}

}  // namespace
}  // namespace gorge
