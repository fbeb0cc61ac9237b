#include "gorge/core/internal/idle.h"

#include <time.h>

#include <chrono>
#include <numeric>

#include "gorge/core/internal/atomic.h"
#include "gorge/core/internal/check.h"
#include "gorge/core/internal/futex.h"
#include "gorge/core/internal/pick.h"

namespace gorge::internal {
namespace {

constexpr int kStealPasses = 3;  // And a fourth for the runnexts.
// How long a running P must have picked nothing for its runnext to count as
// stranded, and for the P not to count as hot.
constexpr std::chrono::microseconds kPatience{5};
// How long a spinning machine watches for work before it sleeps: about what
// falling asleep and being woken costs the two threads.
constexpr std::chrono::microseconds kWatch{20};
constexpr timespec kNap{.tv_sec = 0, .tv_nsec = 100'000};

Processor* TakeIdleProcessor() GORGE_REQUIRES(sched.lock) {
  Processor* p = sched.idle_processors;
  if (p == nullptr) return nullptr;
  sched.idle_processors = p->next_idle;
  sched.idle_count.fetch_sub(1, std::memory_order_seq_cst);
  return p;
}

void PutIdleProcessor(Processor& p) GORGE_REQUIRES(sched.lock) {
  p.next_idle = sched.idle_processors;
  sched.idle_processors = &p;
  sched.idle_count.fetch_add(1, std::memory_order_seq_cst);
}

// Finds a machine for `p`: the one that went idle last, or else a new one that
// has no thread yet. It counts as alive from here on, so a stop that comes in
// between waits for it, and `p` stays.
Machine& ClaimMachine(Processor& p, bool spinning) GORGE_REQUIRES(sched.lock) {
  Machine* machine = sched.idle_machines;
  if (machine != nullptr) {
    sched.idle_machines = machine->next_idle;
  } else {
    machine = new Machine;
    machine->epoch = p.epoch;
    machine->crew = sched.crew;
    machine->index = ++sched.machine_count;
    machine->next_all = sched.all_machines;
    sched.all_machines = machine;
    // Relaxed: the lock orders it before the stop.
    sched.crew->live.fetch_add(1, std::memory_order_relaxed);
  }
  machine->next_processor = &p;
  machine->next_spinning = spinning;
  return *machine;
}

// With the lock dropped: sets a claimed machine going.
void Launch(Machine& machine) {
  if (machine.launched) {
    Unpark(machine);
  } else {
    machine.launched = true;
    StartThread(machine);
  }
}

void BeginSpinning(Machine& machine) {
  machine.spinning = true;
  sched.spinning.fetch_add(1, std::memory_order_seq_cst);
}

// Z2. Returns true if no machine spins any more.
bool EndSpinning(Machine& machine) {
  machine.spinning = false;
  const std::uint32_t before =
      sched.spinning.fetch_sub(1, std::memory_order_seq_cst);
  GORGE_CHECK(before > 0, "spinning machines are counted");
  return before == 1;
}

bool MaySpin(const Machine& machine) {
  if (machine.spinning) return true;
  const std::uint32_t busy = machine.crew->processor_count -
                             sched.idle_count.load(std::memory_order_relaxed);
  return 2 * sched.spinning.load(std::memory_order_relaxed) < busy;
}

// Changes whenever some P picks a goroutine.
std::uint32_t SumOfTicks(const Crew& crew) {
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < crew.processor_count; ++i) {
    sum += crew.processors[i].tick.load(std::memory_order_relaxed);
  }
  return sum;
}

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

// Looks through the rings of all Ps a few times.
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

// What a spinning machine saw of the others.
struct Sight {
  G* stranded = nullptr;  // A runnext, taken from a P that picks nothing.
  bool work = false;      // Some queue has work.
  bool hot = false;       // Some P picks goroutines.
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

// Sleeps a little, still counted as spinning; at once false if another machine
// does that already.
bool Nap(Machine& machine) {
  // Relaxed, here and in EndNap: the word carries nothing, and the nap ends by
  // itself.
  std::uint32_t nobody = 0;
  if (!sched.napper.compare_exchange_strong(nobody, machine.index,
                                            std::memory_order_relaxed)) {
    return false;
  }
  if (sched.queue.Size() == 0 && !RingsHaveWork(*machine.crew) &&
      IsCurrent(*machine.processor)) {
    FutexWait(sched.napper, machine.index, &kNap);
  }
  // Unless it is ended already, and maybe another's. One of the next epoch can
  // have the same number: nobody can end its nap any more then, which takes its
  // 0.1 ms.
  std::uint32_t self = machine.index;
  sched.napper.compare_exchange_strong(self, 0, std::memory_order_relaxed);
  return true;
}

// Z3. Takes an idle P and returns true if there is work after all.
bool LookAgain(Machine& machine) {
  HeavyFence();
  // Others that spin owe the look at the runnexts to us all. Relaxed: ordered
  // by the fence.
  const bool alone = sched.spinning.load(std::memory_order_relaxed) == 0;
  const bool seen = RingsHaveWork(*machine.crew) ||
                    (alone && RunnextsHaveWork(*machine.crew));
  LockGuard hold(sched.lock);
  if (machine.epoch != sched.epoch.load(std::memory_order_relaxed)) {
    return false;
  }
  if (!seen && sched.queue.Size() == 0) return false;
  Processor* p = TakeIdleProcessor();
  if (p == nullptr) return false;  // Who puts one back will look, too.
  machine.processor = p;
  BeginSpinning(machine);
  return true;
}

// Z1. Takes a goroutine out of the global queue, or else gives the P back. Null
// with the P kept: the runtime stops.
G* TakeGlobalOrGiveBack(Machine& machine) {
  LockGuard hold(sched.lock);
  if (!IsCurrent(*machine.processor)) return nullptr;
  if (G* g = sched.queue.Pop()) return g;
  PutIdleProcessor(*machine.processor);
  machine.processor = nullptr;
  return nullptr;
}

// Z4. False if the thread is to end.
bool Sleep(Machine& machine) {
  {
    LockGuard hold(sched.lock);
    if (machine.epoch != sched.epoch.load(std::memory_order_relaxed)) {
      return false;
    }
    machine.next_idle = sched.idle_machines;
    sched.idle_machines = &machine;
  }
  return SleepUntilUnparked(machine);
}

G* Found(Machine& machine, G* g) {
  if (machine.spinning && EndSpinning(machine)) WakeForRunnext();
  return g;
}

}  // namespace

void WakeSlow() {
  Machine* machine;
  {
    LockGuard hold(sched.lock);
    // Seq_cst: of several submitters one wakes, the others rely on its machine;
    // so it counts only once it is certain.
    std::uint32_t none = 0;
    if (sched.phase.load(std::memory_order_relaxed) != Phase::kRunning ||
        sched.idle_processors == nullptr ||
        !sched.spinning.compare_exchange_strong(none, 1,
                                                std::memory_order_seq_cst)) {
      return;
    }
    machine = &ClaimMachine(*TakeIdleProcessor(), /*spinning=*/true);
  }
  Launch(*machine);
}

void EndNap() {
  if (sched.napper.exchange(0, std::memory_order_relaxed) == 0) return;
  FutexWake(sched.napper, 1);
}

G* FindRunnable(Machine& machine) {
  while (IsCurrent(*machine.processor)) {
    if (G* g = PickLocal(*machine.processor)) return Found(machine, g);
    if (MaySpin(machine)) {
      if (!machine.spinning) BeginSpinning(machine);
      if (G* g = StealFromRings(machine)) return Found(machine, g);
      const Sight sight = Watch(machine);
      if (sight.stranded != nullptr) return Found(machine, sight.stranded);
      if (sight.work || (sight.hot && Nap(machine))) continue;
    }
    if (G* g = TakeGlobalOrGiveBack(machine)) return Found(machine, g);
    if (machine.processor != nullptr) break;  // Stopped.
    if (machine.spinning) EndSpinning(machine);
    if (LookAgain(machine)) continue;
    if (!Sleep(machine)) break;
  }
  if (machine.spinning) EndSpinning(machine);
  // A stop that gave up on this machine, or has not come to it yet, lets the
  // next epoch begin, and somebody there may have relied on us: as Z3.
  HeavyFence();
  WakeForRunnext();
  return nullptr;
}

bool HandOffAndSleep(Machine& machine) {
  Processor& p = *machine.processor;
  Machine* other;
  {
    LockGuard hold(sched.lock);
    if (!IsCurrent(p)) return false;
    // A few threads are enough to make each goroutine meet several.
    if (sched.idle_machines == nullptr &&
        sched.machine_count >= 2 * machine.crew->processor_count + 2) {
      return true;
    }
    other = &ClaimMachine(p, /*spinning=*/false);
    machine.processor = nullptr;
    machine.next_idle = nullptr;
    Machine** end = &sched.idle_machines;
    while (*end != nullptr) end = &(*end)->next_idle;
    *end = &machine;  // Last in line: the longest idle goes first.
  }
  Launch(*other);
  return SleepUntilUnparked(machine);
}

}  // namespace gorge::internal
