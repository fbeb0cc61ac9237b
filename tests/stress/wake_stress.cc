// tests/stress/wake_stress.cc -- waking what sleeps: single messages with
// pauses between them, so that every machine really goes idle.
//
// A round has pairs that exchange messages, of one kind or of all kinds; alone,
// a wake-up that gets lost stops the program, which the watchdog reports.
// Printed at the end, for each kind: how long it took from before the send to
// after the receive. In other rounds goroutines that compute and never call the
// library start more of them, which an idle P must run; and many goroutines are
// parked, while the process must use no CPU.

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>
#include <variant>
#include <vector>

#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/core/runtime.h"
#include "gorge/tests/support/census.h"
#include "gorge/tests/support/resources.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/stress.h"

namespace gorge::testing {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

enum Kind : std::uint8_t {
  kThreadWakesGoroutine,
  kGoroutineWakesThread,
  kThreadWakesThread,
  kGoroutineWakesGoroutine,  // And blocks.
  kBusyWakesGoroutine,       // And spins until the other one has run.
  kKinds
};
constexpr const char* kNames[kKinds] = {
    "thread to goroutine", "goroutine to thread", "thread to thread",
    "goroutine to goroutine", "busy goroutine to goroutine"};

// How long wake-ups took, over all rounds.
class Latencies {
 public:
  void Add(Kind kind, Clock::duration took) {
    const std::lock_guard<std::mutex> hold(mutex_);
    took_[kind].push_back(took);
  }

  void Print() {
    const std::lock_guard<std::mutex> hold(mutex_);
    for (int kind = 0; kind < kKinds; ++kind) {
      std::vector<Clock::duration>& took = took_[kind];
      if (took.empty()) continue;
      std::sort(took.begin(), took.end());
      const auto us = [](Clock::duration d) {
        return std::chrono::duration<double, std::micro>(d).count();
      };
      std::printf(
          "%-28s %8zu wake-ups: median %7.1f us, 99.9 %% %9.1f us, longest "
          "%9.1f us\n",
          kNames[kind], took.size(), us(took[took.size() / 2]),
          us(took[took.size() * 999 / 1000]), us(took.back()));
    }
  }

 private:
  std::mutex mutex_;
  std::vector<Clock::duration> took_[kKinds];
};
Latencies latencies;

// A message: when it was sent. The first one of all tells the pair to start.
using Stamped = Chan<Clock::time_point>;

// Sleeps for up to 3 ms, often much less.
void Pause(Random& random) {
  const std::uint32_t longest = std::uint32_t{3000} >> random.Below(12);
  std::this_thread::sleep_for(microseconds(random.Below(longest + 1)));
}

// One receiver, and one sender that is kicked by a thread which pauses: only
// threads can sleep.
class Pair {
 public:
  Pair(StressRound& round, Kind kind, int messages)
      : round_(round), kind_(kind), messages_(messages) {}

  void Start(Crowd& crowd) {
    const bool from_thread =
        kind_ == kThreadWakesGoroutine || kind_ == kThreadWakesThread;
    const bool to_thread =
        kind_ == kGoroutineWakesThread || kind_ == kThreadWakesThread;
    crowd.Start(to_thread, [this] { Receive(); });
    if (!from_thread) crowd.Start(false, [this] { Relay(); });
    crowd.Start(true, [this, from_thread] { Kick(from_thread); });
  }

 private:
  void Kick(bool sends) {
    Random random = round_.NewRandom();
    for (int i = 0; i < messages_; ++i) {
      Pause(random);
      if (sends) {
        messages_to_receiver_.Send(Clock::now());
      } else {
        kicks_.Send({});
      }
      acknowledged_.Recv();
    }
    kicks_.Close();
    if (sends) messages_to_receiver_.Close();
  }

  // In a goroutine.
  void Relay() {
    for ([[maybe_unused]] std::monostate kick : kicks_) {
      received_.store(false, std::memory_order_relaxed);
      messages_to_receiver_.Send(Clock::now());
      if (kind_ != kBusyWakesGoroutine) continue;
      while (!received_.load(std::memory_order_relaxed)) {
      }
    }
    messages_to_receiver_.Close();
  }

  void Receive() {
    while (const auto sent = messages_to_receiver_.Recv()) {
      const Clock::time_point now = Clock::now();
      received_.store(true, std::memory_order_relaxed);
      latencies.Add(kind_, now - *sent);
      Progress();
      acknowledged_.Send({});
    }
  }

  StressRound& round_;
  const Kind kind_;
  const int messages_;
  const Chan<std::monostate> kicks_ = MakeChan<std::monostate>();
  const Stamped messages_to_receiver_ = MakeChan<Clock::time_point>();
  const Chan<std::monostate> acknowledged_ = MakeChan<std::monostate>();
  std::atomic<bool> received_{false};
};

void PlayPairs(StressRound& round, Random& random) {
  const bool alone = OneIn(2, random);
  std::vector<std::unique_ptr<Pair>> pairs;
  Crowd crowd;
  // A busy goroutine keeps its P; at least one is needed by the others.
  int busy = round.procs() - 1;
  for (std::uint32_t i = alone ? 1 : 1 + random.Below(8); i > 0; --i) {
    auto kind = static_cast<Kind>(random.Below(kKinds));
    if (kind == kBusyWakesGoroutine && busy-- <= 0) {
      kind = kGoroutineWakesGoroutine;
    }
    pairs.push_back(std::make_unique<Pair>(round, kind, 150));
    pairs.back()->Start(crowd);
  }
  crowd.Join();
}

// Parents, on all Ps but one or on fewer, start children once all parents run,
// and then only wait for them, without a call into the library: if all other Ps
// go idle with one child left in a queue, nothing wakes them any more.
class Family {
 public:
  Family(int parents, Random random) : parents_(parents), random_(random) {}

  void Play() {
    WaitGroup all;
    for (int i = 0; i < parents_; ++i) {
      all.Go([this, delay = random_.Below(64),
              children = 1 + static_cast<int>(random_.Below(3))] {
        BeParent(delay, children);
      });
    }
    all.Wait();
    Progress();
  }

 private:
  void BeParent(std::uint32_t delay, int children) {
    ++running_;
    SpinUntil([this] { return running_.load() == parents_; });
    for (; delay > 0; --delay) asm volatile("");
    std::atomic<int> ran{0};
    for (int i = 0; i < children; ++i) {
      go([&ran] { ++ran; });
    }
    SpinUntil([&] { return ran.load() == children; });
  }

  // There may be fewer processors than parents.
  template <class Condition>
  static void SpinUntil(Condition condition) {
    while (!condition()) ::sched_yield();
  }

  const int parents_;
  Random random_;
  std::atomic<int> running_{0};
};

// In a goroutine, so that the parents begin in a P's queue and are stolen.
void PlayFamilies(StressRound& round) {
  WaitGroup played;
  played.Go([&round] {
    Random random = round.NewRandom();
    const auto most = static_cast<std::uint32_t>(round.procs() - 1);
    for (int i = Scaled(2000); i > 0 && !round.TimeIsUp(); --i) {
      const std::uint32_t parents =
          OneIn(2, random) ? most : 1 + random.Below(most);
      Family(static_cast<int>(parents), round.NewRandom()).Play();
    }
  });
  played.Wait();
}

void PlayIdle() {
  constexpr int kCount = Scaled(10'000);
  const Chan<std::monostate> gate = MakeChan<std::monostate>();
  WaitGroup parked;
  for (int i = 0; i < kCount; ++i) parked.Go([&gate] { gate.Recv(); });
  Await([] { return TakeCensus().waiting == kCount; });
  Await(&AllPsAreIdle);

  const Clock::duration before = ProcessCpuTime();
  std::this_thread::sleep_for(std::chrono::seconds(1));
  const Clock::duration used = ProcessCpuTime() - before;

  // ThreadSanitizer has a thread of its own, which does not sleep for long.
  constexpr auto kAllowed = microseconds(kSlowdown > 1 ? 50'000 : 5'000);
  if (used > kAllowed) {
    Fail("an idle process used %.1f ms of CPU time in a second",
         std::chrono::duration<double, std::milli>(used).count());
  }
  gate.Close();
  parked.Wait();
}

void PlayRound(StressRound& round) {
  Random random = round.NewRandom();
  if (OneIn(8, random)) {
    PlayIdle();
  } else if (round.procs() > 1 && OneIn(2, random)) {
    PlayFamilies(round);
  } else {
    PlayPairs(round, random);
  }
  Await([] { return NumGoroutine() == 0; });
}

}  // namespace
}  // namespace gorge::testing

int main(int argc, char** argv) {
  const int status =
      gorge::testing::RunStress(argc, argv, &gorge::testing::PlayRound);
  gorge::testing::latencies.Print();
  return status;
}
