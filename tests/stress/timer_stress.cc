// tests/stress/timer_stress.cc -- timers armed, moved, stopped, dropped and
// received from by goroutines and plain threads at once. Checked:
//   - each arming ends in one of: the value is received or the function run,
//     Stop true, Reset true; and after a Stop there is nothing to receive;
//   - no sleep is too short, and each one ends;
//   - no timer is left armed when its handles are gone.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "gorge/chan/chan.h"
#include "gorge/core/internal/timers.h"
#include "gorge/core/runtime.h"
#include "gorge/select/select.h"
#include "gorge/tests/support/elapsed.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/stress.h"
#include "gorge/time/ticker.h"
#include "gorge/time/time.h"
#include "gorge/time/timer.h"

namespace gorge::testing {
namespace {

absl::Duration Any(Random& random) {
  static constexpr int kNanos[] = {-1,     0,      1,       500,      2000,
                                   10'000, 50'000, 200'000, 1'000'000};
  return OneIn(16, random) ? absl::Hours(1)
                           : absl::Nanoseconds(OneOf(kNanos, random));
}

void MaybeYield(Random& random) {
  if (OneIn(8, random)) Gosched();
}

// One timer that many stop and reset.
class Shared {
 public:
  Shared(StressRound& round, bool runs_function)
      : round_(round),
        timer_(runs_function ? AfterFunc(absl::Hours(1), [this] { ++seen_; })
                             : Timer(absl::Hours(1))) {}

  void Play() {
    Random random = round_.NewRandom();
    Crowd movers;
    Crowd receivers;
    for (std::uint32_t i = random.Below(3); i > 0 && timer_.C(); --i) {
      receivers.Start(OneIn(2, random), [this] { Receive(); });
    }
    for (std::uint32_t i = 1 + random.Below(4); i > 0; --i) {
      movers.Start(OneIn(3, random), [this] { Move(); });
    }
    movers.Join();
    taken_back_ += timer_.Stop() ? 1 : 0;
    if (timer_.C() && timer_.C().TryRecv().ready) {
      Fail("a value was received after Stop");
    }
    done_.Close();
    receivers.Join();
    Await([this] { return seen_ + taken_back_ >= armed_; });
    if (seen_ + taken_back_ != armed_) {
      Fail("%d armings: %d seen, %d taken back", +armed_, +seen_, +taken_back_);
    }
  }

 private:
  void Move() {
    Random random = round_.NewRandom();
    for (int i = Scaled(2000); i > 0; --i) {
      if (OneIn(3, random)) {
        taken_back_ += timer_.Stop() ? 1 : 0;
      } else {
        ++armed_;
        taken_back_ += timer_.Reset(Any(random)) ? 1 : 0;
      }
      MaybeYield(random);
      if (OneIn(50, random)) Sleep(absl::Microseconds(random.Below(100)));
    }
    Progress();
  }

  void Receive() {
    Random random = round_.NewRandom();
    bool done = false;
    while (!done) {
      if (OneIn(4, random)) {
        if (timer_.C().TryRecv().ready) ++seen_;
        Gosched();
      } else {
        Select(OnRecv(timer_.C(), [this] { ++seen_; }),
               OnRecv(done_, [&] { done = true; }));
      }
    }
  }

  StressRound& round_;
  std::atomic<int> armed_{1};
  std::atomic<int> seen_{0};
  std::atomic<int> taken_back_{0};
  const Chan<int> done_ = MakeChan<int>();
  const Timer timer_;
};

// Many timers of one's own: made, used in every way, and dropped.
void UseOwn(StressRound& round) {
  Random random = round.NewRandom();
  std::vector<Timer> kept;
  for (int i = Scaled(1000); i > 0; --i) {
    const absl::Duration d = Any(random);
    switch (random.Below(6)) {
      case 0:
        kept.emplace_back(d);
        break;
      case 1:
        Select(OnRecv(After(d)), OnRecv(After(absl::Microseconds(10))));
        break;
      case 2:
        static_cast<void>(After(d));
        break;
      case 3: {
        const Ticker ticker(absl::Nanoseconds(1 + random.Below(10'000)));
        for (std::uint32_t k = random.Below(3); k > 0; --k) {
          static_cast<void>(ticker.C().Recv());
        }
        break;
      }
      case 4:
        if (!kept.empty()) kept.back().Reset(d);
        break;
      case 5:
        if (!kept.empty()) kept.pop_back();
        break;
    }
    MaybeYield(random);
  }
  Progress();
}

void SleepAWhile(StressRound& round) {
  Random random = round.NewRandom();
  for (int i = Scaled(200); i > 0; --i) {
    const absl::Duration d = absl::Microseconds(random.Below(300));
    const Elapsed elapsed;
    Sleep(d);
    if (elapsed() < d) Fail("a sleep was too short");
  }
  Progress();
}

void PlayRound(StressRound& round) {
  Random random = round.NewRandom();
  for (int n = 3; n > 0 && !round.TimeIsUp(); --n) {
    Crowd crowd;
    for (int i = 0; i < 4; ++i) {
      const bool runs_function = OneIn(2, random);
      crowd.Start(OneIn(4, random), [&round, runs_function] {
        Shared(round, runs_function).Play();
      });
      crowd.Start(OneIn(3, random), [&round] { UseOwn(round); });
      crowd.Start(OneIn(3, random), [&round] { SleepAWhile(round); });
    }
    for (int i = Scaled(300); i > 0; --i) {
      crowd.Start(false, [&round] { SleepAWhile(round); });
    }
    crowd.Join();
    Await([] { return NumGoroutine() == 0 && internal::CountTimers() == 0; });
  }
}

}  // namespace
}  // namespace gorge::testing

int main(int argc, char** argv) {
  return gorge::testing::RunStress(argc, argv, gorge::testing::PlayRound);
}
