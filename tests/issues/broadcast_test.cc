// Case B20: whoever wakes all holds a lock that those woken need. Here a closed
// channel is the signal to everybody, and each one that wakes up uses that
// channel at once, while its Close still wakes the others.

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <utility>
#include <variant>
#include <vector>

#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/core/runtime.h"
#include "gorge/select/select.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/channels.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::kCloseOfClosed;
using ::gorge::testing::Kind;
using ::gorge::testing::kKinds;
using ::gorge::testing::kSendOnClosed;
using ::gorge::testing::PanicText;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::gorge::testing::Team;

class BroadcastTest : public RuntimeTest {};
GORGE_INSTANTIATE(BroadcastTest);

using Signal = Chan<std::monostate>;

constexpr int kWaiters = 64;
constexpr int kNotifiers = 4;

// A signal to everybody that can be given again and again.
class Broadcast {
 public:
  Signal Current() {
    const std::lock_guard<std::mutex> hold(mutex_);
    return current_;
  }

  void Give() {
    Signal given = MakeChan<std::monostate>();
    {
      const std::lock_guard<std::mutex> hold(mutex_);
      std::swap(given, current_);
    }
    given.Close();
  }

  // Those woken need the mutex too. A Close never blocks, so they get it.
  void GiveUnderTheMutex() {
    const std::lock_guard<std::mutex> hold(mutex_);
    current_.Close();
    current_ = MakeChan<std::monostate>();
  }

 private:
  std::mutex mutex_;
  Signal current_ = MakeChan<std::monostate>();
};

// Each of these takes the channel's lock, or looks at what it guards.
void UseClosed(const Signal& closed) {
  EXPECT_TRUE(closed.TryRecv().ready);
  EXPECT_FALSE(closed.Recv().has_value());
  EXPECT_EQ(Select(OnRecv(closed), OnRecv(closed), OnDefault()) / 2, 0u);
  EXPECT_EQ(PanicText([&] { closed.Send({}); }), kSendOnClosed);
  EXPECT_EQ(PanicText([&] { closed.Close(); }), kCloseOfClosed);
}

// Everybody waits for both the signal and a channel of their own, until all
// have had each of them `n` times.
void NotifyWithoutPause(Kind waiter_kind, Kind notifier_kind, int n,
                        void (Broadcast::*give)()) {
  Broadcast broadcast;
  std::vector<Signal> own;
  for (int i = 0; i < kWaiters; ++i) own.push_back(MakeChan<std::monostate>());
  const Signal all_done = MakeChan<std::monostate>();
  std::atomic<int> waiting{kWaiters};
  Team team;
  for (std::size_t i = 0; i < kWaiters; ++i) {
    // Not too many threads.
    team.Go(i % 8 == 0 ? waiter_kind : Kind::kGoroutine, [&, i] {
      int signals = 0;
      int alone = 0;
      while (!all_done.TryRecv().ready) {
        const Signal current = broadcast.Current();
        const bool missing = signals < n || alone < n;
        Select(OnRecv(current,
                      [&] {
                        UseClosed(current);
                        ++signals;
                      }),
               OnRecv(own[i], [&] { ++alone; }), OnRecv(all_done));
        const bool served = signals >= n && alone >= n;
        if (missing && served && --waiting == 0) all_done.Close();
      }
    });
  }
  for (std::size_t k = 0; k < kNotifiers; ++k) {
    team.Go(notifier_kind, [&, k] {
      for (std::size_t i = k; !all_done.TryRecv().ready; i += kNotifiers + 1) {
        (broadcast.*give)();
        Select(OnSend(own[i % kWaiters], std::monostate()), OnRecv(all_done));
      }
    });
  }
}

TEST_P(BroadcastTest, EveryWaiterGoesOnThoughNotifiersDoNotPause) {
  for (const Kind waiter : kKinds) {
    for (const Kind notifier : kKinds) {
      SCOPED_TRACE(::testing::Message() << waiter << " " << notifier);
      NotifyWithoutPause(waiter, notifier, Scaled(25) + 1, &Broadcast::Give);
    }
  }
}

TEST_P(BroadcastTest, EveryWaiterGoesOnThoughTheNotifiersHoldAMutex) {
  for (const Kind notifier : kKinds) {
    SCOPED_TRACE(::testing::Message() << notifier);
    NotifyWithoutPause(Kind::kThread, notifier, Scaled(25) + 1,
                       &Broadcast::GiveUnderTheMutex);
  }
}

// The first that each signal wakes gives the next one.
TEST_P(BroadcastTest, ThoseWokenWakeTheNext) {
  constexpr int kEach = 4;
  for (int round = 0; round < Scaled(100) + 1; ++round) {
    std::array<Signal, kWaiters> signals;
    std::array<std::atomic<bool>, kWaiters> given{};
    for (Signal& signal : signals) signal = MakeChan<std::monostate>();
    WaitGroup all;
    for (std::size_t i = 0; i + 1 < signals.size(); ++i) {
      for (int k = 0; k < kEach; ++k) {
        all.Go([&, i] {
          signals[i].Recv();
          if (!given[i + 1].exchange(true)) signals[i + 1].Close();
          UseClosed(signals[i]);
        });
      }
    }

    signals.front().Close();

    signals.back().Recv();
    all.Wait();
  }
}

// As many times as there are elements to be had: none is lost to a waiter that
// the close has woken already.
TEST_P(BroadcastTest, ACloseRightAfterSendsTakesNothingFromThoseSentTo) {
  for (int round = 0; round < Scaled(200) + 1; ++round) {
    const auto c = MakeChan<int>();
    std::atomic<int> values{0};
    std::atomic<int> closed{0};
    WaitGroup all;
    for (int i = 0; i < kWaiters; ++i) {
      all.Go([&] {
        const bool value = c.Recv().has_value();
        ++(value ? values : closed);
      });
    }
    AwaitParked(kWaiters);

    for (int i = 0; i < kWaiters / 2; ++i) c.Send(i);
    c.Close();

    all.Wait();
    ASSERT_EQ(values, kWaiters / 2);
    ASSERT_EQ(closed, kWaiters / 2);
  }
}

}  // namespace
}  // namespace gorge
