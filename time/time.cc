#include "gorge/time/time.h"

#include <errno.h>
#include <time.h>

#include "gorge/core/internal/clock.h"
#include "gorge/core/internal/goroutine.h"
#include "gorge/core/internal/idle.h"
#include "gorge/core/internal/park.h"
#include "gorge/core/internal/timers.h"
#include "gorge/time/internal/chan_timer.h"

namespace gorge {
namespace {

using internal::TimerNode;

// On the stack of the goroutine that sleeps.
struct Sleeper : TimerNode {
  Sleeper(internal::G& its_g, std::int64_t its_end)
      : TimerNode(kActions), g(its_g), end(its_end) {}

  static const internal::TimerActions kActions;

  internal::G& g;
  const std::int64_t end;
};

const internal::TimerActions Sleeper::kActions = {
    // It sleeps until fire() readies it.
    .claim = [](TimerNode&) { return true; },
    .fire = [](TimerNode& node,
               std::int64_t) { Ready(static_cast<Sleeper&>(node).g); },
    // It is abandoned itself.
    .abandon = [](TimerNode&) {},
};

// On the far side: the timer may fire before this returns.
void ArmSleeper(void* argument) {
  auto& sleeper = *static_cast<Sleeper*>(argument);
  const std::int64_t end = sleeper.end;
  if (Arm(sleeper, end).is_next) internal::WakeForTimer(end);
}

void SleepAsThread(std::int64_t end) {
  const int saved_errno = errno;
  constexpr std::int64_t kSecond = 1'000'000'000;
  const timespec until{.tv_sec = end / kSecond, .tv_nsec = end % kSecond};
  while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) ==
         EINTR) {
  }
  errno = saved_errno;
}

}  // namespace

void Sleep(absl::Duration d) {
  if (d <= absl::ZeroDuration()) return;
  const std::int64_t end = internal::NanosFromNow(internal::ToNanos(d));
  internal::G& self = *internal::Self();
  if (self.is_thread) {
    SleepAsThread(end);
    return;
  }
  Sleeper sleeper(self, end);
  Park(&ArmSleeper, &sleeper, internal::WaitReason::kSleep, nullptr);
}

RecvChan<absl::Time> After(absl::Duration d) { return Timer(d).C(); }

RecvChan<absl::Time> Tick(absl::Duration d) {
  if (d <= absl::ZeroDuration()) return {};
  return Ticker(d).C();
}

}  // namespace gorge
