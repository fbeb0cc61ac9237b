// Cond: who is woken by what. Answers sync/cond_test.go; each case has the name
// of the test it answers.

#include "gorge/sync/cond.h"

#include <mutex>
#include <type_traits>

#include "gorge/chan/chan.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/mutex.h"
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

// CondCopy: what Go finds out at run time the compiler says here.
static_assert(!std::is_copy_constructible_v<Cond>);
static_assert(!std::is_copy_assignable_v<Cond>);
static_assert(!std::is_move_constructible_v<Cond>);

class CondConformanceTest : public RuntimeTest {};
GORGE_INSTANTIATE(CondConformanceTest);

// A signal wakes exactly one: the others still wait when that one has said so.
TEST_P(CondConformanceTest, CondSignal) {
  Run([] {
    constexpr int kWaiters = 5;
    Mutex mutex;
    Cond cond;
    const auto awake = MakeChan<int>(kWaiters);
    Team team;
    for (int i = 0; i < kWaiters; ++i) {
      team.Go(Kind::kGoroutine, [&] {
        std::unique_lock hold(mutex);
        cond.Wait(hold);
        awake.Send(1);
      });
    }
    AwaitParked(kWaiters);
    for (int left = kWaiters - 1; left >= 0; --left) {
      EXPECT_FALSE(awake.TryRecv().ready);
      {
        const std::lock_guard hold(mutex);
        cond.Signal();
      }
      awake.Recv();
      AwaitParked(left);
    }
    EXPECT_FALSE(awake.TryRecv().ready);
    cond.Signal();
  });
}

// A broadcast ends the waits of its round, and only those: each of the many
// goes on once in every round.
TEST_P(CondConformanceTest, CondBroadcast) {
  constexpr int kWaiters = 20;
  const int rounds = Scaled(200) + 5;
  Mutex mutex;
  Cond cond;
  int waiting = 0;  // Guarded by mutex.
  int woken = 0;
  bool over = false;
  Team team;
  for (int i = 0; i < kWaiters; ++i) {
    team.Go(kKinds[i % 4 == 3 ? 1 : 0], [&] {
      std::unique_lock hold(mutex);
      while (!over) {
        ++waiting;
        cond.Wait(hold);
        ++woken;
      }
    });
  }
  for (int round = 1; round <= rounds; ++round) {
    Await([&] {
      const std::lock_guard hold(mutex);
      return waiting == kWaiters * round;
    });
    const std::lock_guard hold(mutex);
    EXPECT_EQ(woken, kWaiters * (round - 1));
    over = round == rounds;
    cond.Broadcast();
  }
  team.Wait();
  EXPECT_EQ(woken, kWaiters * rounds);
}

void PauseWithout(std::unique_lock<Mutex>& hold) {
  hold.unlock();
  Gosched();
  hold.lock();
}

// Three who hand a number on under the lock, each waiting for its own.
TEST_P(CondConformanceTest, Race) {
  for (int round = 0; round < Scaled(200) + 4; ++round) {
    Mutex mutex;
    Cond cond;
    int step = 0;
    Team team;
    team.Go(kKinds[round % 2], [&] {
      std::unique_lock hold(mutex);
      step = 1;
      cond.Wait(hold);
      EXPECT_EQ(step, 2);
      step = 3;
      cond.Signal();
    });
    team.Go(kKinds[round / 2 % 2], [&] {
      std::unique_lock hold(mutex);
      while (step != 1) PauseWithout(hold);
      step = 2;
      cond.Signal();
    });
    team.Go(Kind::kThread, [&] {
      std::unique_lock hold(mutex);
      while (step < 2) PauseWithout(hold);
      // The signal of step 2 was for the first, which waited before.
      if (step == 2) cond.Wait(hold);
      EXPECT_EQ(step, 3);
    });
  }
}

// A signal that comes while another begins to wait wakes the one that waited
// before.
TEST_P(CondConformanceTest, CondSignalStealing) {
  for (int round = 0; round < Scaled(2'000) + 10; ++round) {
    Mutex mutex;
    Cond cond;
    const auto begun = MakeChan<int>();
    const auto woken = MakeChan<int>();
    bool over = false;
    Team team;
    team.Go(kKinds[round % 2], [&] {
      std::unique_lock hold(mutex);
      begun.Send(1);
      cond.Wait(hold);
      woken.Send(1);
    });
    begun.Recv();
    { const std::lock_guard hold(mutex); }  // It waits, with its ticket.
    team.Go(kKinds[round / 2 % 2], [&] {
      std::unique_lock hold(mutex);
      while (!over) cond.Wait(hold);
    });

    cond.Signal();

    woken.Recv();
    {
      const std::lock_guard hold(mutex);
      over = true;
      cond.Broadcast();
    }
  }
}

}  // namespace
}  // namespace gorge
