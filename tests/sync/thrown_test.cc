// Functions that are handed over and throw, or call Goexit: nothing stays
// locked, nobody hangs, and nothing is lost.

#include <atomic>
#include <limits>
#include <mutex>
#include <stdexcept>

#include "gorge/chan/chan.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/cond.h"
#include "gorge/sync/map.h"
#include "gorge/sync/mutex.h"
#include "gorge/sync/once.h"
#include "gorge/sync/pool.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/channels.h"
#include "gorge/tests/support/runtime_test.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::PanicText;
using ::gorge::testing::RuntimeTest;

class ThrownTest : public RuntimeTest {
 protected:
  // Runs f(), which does not return, as a goroutine, to its end.
  template <class F>
  static void RunToItsExit(const F& f) {
    WaitGroup one;
    one.Go([&] {
      f();
      ADD_FAILURE() << "it went on";
    });
    one.Wait();
  }
};
GORGE_INSTANTIATE(ThrownTest);

TEST_P(ThrownTest, AGoexitInAGroupCountsAsDone) {
  Run([] {
    WaitGroup group;
    for (int i = 0; i < 10; ++i) group.Go([] { Goexit(); });
    group.Wait();
  });
}

TEST_P(ThrownTest, OutOfTheConditionOfAWaitLeavesTheLockToTheGuard) {
  Run([] {
    Mutex mutex;
    Cond cond;
    {
      std::unique_lock hold(mutex);
      EXPECT_THROW(
          cond.Wait(hold, []() -> bool { throw std::runtime_error("no"); }),
          std::runtime_error);
      EXPECT_TRUE(hold.owns_lock());
      EXPECT_FALSE(mutex.try_lock());
    }
    RunToItsExit([&] {
      std::unique_lock hold(mutex);
      cond.Wait(hold, []() -> bool { Goexit(); });
    });
    EXPECT_TRUE(mutex.try_lock());
    mutex.unlock();
  });
}

// One that waited has been woken, and its condition throws: the wake-up of the
// next is still its own.
TEST_P(ThrownTest, OutOfTheConditionAfterAWakeUpTakesNobodyElses) {
  Run([] {
    Mutex mutex;
    Cond cond;
    int calls = 0;
    WaitGroup all;
    all.Go([&] {
      std::unique_lock hold(mutex);
      EXPECT_THROW(cond.Wait(hold,
                             [&] {
                               if (++calls == 2) throw std::runtime_error("no");
                               return false;
                             }),
                   std::runtime_error);
    });
    AwaitParked(1);
    all.Go([&] {
      std::unique_lock hold(mutex);
      cond.Wait(hold);
    });
    AwaitParked(2);
    cond.Signal();
    AwaitParked(1);
    cond.Signal();
    all.Wait();
    EXPECT_EQ(calls, 2);
  });
}

TEST_P(ThrownTest, OutOfTheFunctionOfARangeLeavesTheMapUsable) {
  Map<int, int> map;
  for (int i = 0; i < 50; ++i) map.Store(i, i);
  int calls = 0;
  EXPECT_THROW(map.Range([&](int, int) {
    if (++calls == 7) throw std::runtime_error("no");
  }),
               std::runtime_error);
  EXPECT_EQ(calls, 7);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(map.Swap(i, -i), i);
  map.Clear();
}

TEST_P(ThrownTest, AFactoryThatCallsGoexitEndsTheGetAndNothingElse) {
  Run([] {
    bool exits = true;
    Pool<int> pool([&]() -> int {
      if (exits) Goexit();
      return 5;
    });
    RunToItsExit([&] { static_cast<void>(pool.Get()); });
    exits = false;
    EXPECT_EQ(*pool.Get(), 5);
  });
}

// Those who wait for the one that does it go on when it is thrown out.
TEST_P(ThrownTest, OutOfAOnceLetsThoseGoOnWhoWaitForIt) {
  Run([] {
    for (const bool exits : {false, true}) {
      Once once;
      const auto release = MakeChan<int>();
      std::atomic<int> went_on{0};
      WaitGroup all;
      all.Go([&] {
        try {
          once.Do([&] {
            release.Recv();
            if (exits) Goexit();
            throw std::runtime_error("no");
          });
        } catch (const std::runtime_error&) {
        }
      });
      AwaitParked(1);
      for (int i = 0; i < 5; ++i) {
        all.Go([&] {
          once.Do([] { ADD_FAILURE() << "done again"; });
          ++went_on;
        });
      }
      AwaitParked(6);
      release.Close();
      all.Wait();
      EXPECT_EQ(went_on, 5);
    }
  });
}

// -- Counters at their limits.

TEST_P(ThrownTest, ACounterThatWouldOverflowIsAPanicAndStaysAsItWas) {
  constexpr int kMost = std::numeric_limits<int>::max();
  Run([] {
    WaitGroup group;
    group.Add(kMost);
    EXPECT_EQ(PanicText([&] { group.Add(1); }),
              "sync: negative WaitGroup counter");
    EXPECT_EQ(PanicText([&] { group.Add(kMost); }),
              "sync: negative WaitGroup counter");
    group.Add(-kMost);
    group.Wait();
    EXPECT_EQ(PanicText([&] { group.Add(-1); }),
              "sync: negative WaitGroup counter");
    group.Wait();
  });
}

}  // namespace
}  // namespace gorge
