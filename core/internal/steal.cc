#include "gorge/core/internal/steal.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "gorge/core/internal/atomic.h"
#include "gorge/core/internal/scheduler.h"

namespace gorge::internal {
namespace {

constexpr int kStealPasses = 3;  // And a fourth for the runnexts.
// How long a running P must have picked nothing for its runnext to count as
// stranded, and for the P not to count as hot.
constexpr std::chrono::microseconds kPatience{5};
// How long a spinning machine watches for work before it sleeps: about what
// falling asleep and being woken costs the two threads.
constexpr std::chrono::microseconds kWatch{20};

// Changes whenever some P picks a goroutine.
std::uint32_t SumOfTicks(const Crew& crew) {
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < crew.processor_count; ++i) {
    sum += crew.processors[i].tick.load(std::memory_order_relaxed);
  }
  return sum;
}

// Visits every P once, in an order of its own: from a random one on, by a
// random stride without a common divisor with their number.
class StealOrder {
 public:
  explicit StealOrder(Machine& machine)
      : processors_(machine.crew->processors),
        count_(machine.crew->processor_count),
        next_(machine.random.Below(count_)),
        stride_(1) {
    if (count_ > 2) stride_ += machine.random.Below(count_ - 1);
    while (std::gcd(stride_, count_) != 1) ++stride_;
  }

  Processor& Next() {
    Processor& p = processors_[next_];
    next_ = (next_ + stride_) % count_;
    return p;
  }

 private:
  Processor* processors_;
  std::uint32_t count_;
  std::uint32_t next_;
  std::uint32_t stride_;
};

// Waits until some ring or the global queue has work, and returns true then.
// Returns false after `limit`; and after kPatience, if the sum of the ticks is
// no more `ticks`.
bool WorkShows(const Crew& crew, std::chrono::microseconds limit,
               std::uint32_t ticks) {
  const auto start = std::chrono::steady_clock::now();
  while (true) {
    if (sched.queue.Size() != 0 || RingsHaveWork(crew)) return true;
    CpuRelax();
    const auto waited = std::chrono::steady_clock::now() - start;
    if (waited >= limit) return false;
    if (waited >= kPatience && SumOfTicks(crew) != ticks) return false;
  }
}

}  // namespace

bool RingsHaveWork(const Crew& crew) {
  for (std::uint32_t i = 0; i < crew.processor_count; ++i) {
    if (!crew.processors[i].ring.Empty()) return true;
  }
  return false;
}

bool RunnextsHaveWork(const Crew& crew) {
  for (std::uint32_t i = 0; i < crew.processor_count; ++i) {
    if (crew.processors[i].runnext.Peek() != nullptr) return true;
  }
  return false;
}

// When the next timer of all Ps is due.
std::int64_t NextTimer(const Crew& crew) {
  std::int64_t next = kNever;
  for (std::uint32_t i = 0; i < crew.processor_count; ++i) {
    next = std::min(next, crew.processors[i].timers->earliest.load(
                              std::memory_order_relaxed));
  }
  return next;
}

G* StealFromRings(Machine& machine) {
  Processor& thief = *machine.processor;
  for (int pass = 0; pass < kStealPasses; ++pass) {
    StealOrder order(machine);
    for (std::uint32_t i = 0; i < machine.crew->processor_count; ++i) {
      Processor& victim = order.Next();
      if (&victim == &thief) continue;
      if (G* g = victim.ring.StealInto(thief.ring)) return g;
    }
  }
  return nullptr;
}

bool RunTimersOfOthers(Machine& machine) {
  const Processor& thief = *machine.processor;
  bool fired = false;
  StealOrder order(machine);
  for (std::uint32_t i = 0; i < machine.crew->processor_count; ++i) {
    Processor& victim = order.Next();
    if (&victim == &thief) continue;
    fired = RunDueTimers(*victim.timers, thief) || fired;
  }
  return fired;
}

Sight Watch(Machine& machine) {
  const Processor& thief = *machine.processor;
  const Crew& crew = *machine.crew;
  const std::uint32_t ticks = SumOfTicks(crew);
  StealOrder order(machine);
  for (std::uint32_t i = 0; i < crew.processor_count; ++i) {
    Processor& victim = order.Next();
    G* const seen = victim.runnext.Peek();
    if (seen == nullptr || &victim == &thief) continue;
    const std::uint32_t tick = victim.tick.load(std::memory_order_relaxed);
    if (WorkShows(crew, kPatience, ticks)) return {.work = true};
    if (victim.tick.load(std::memory_order_relaxed) != tick) continue;
    if (G* g = victim.runnext.Steal(seen)) return {.stranded = g};
  }
  if (SumOfTicks(crew) == ticks && WorkShows(crew, kWatch, ticks)) {
    return {.work = true};
  }
  return {.hot = SumOfTicks(crew) != ticks};
}

}  // namespace gorge::internal
