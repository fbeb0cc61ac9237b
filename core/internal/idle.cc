#include "gorge/core/internal/idle.h"

#include <time.h>

#include "gorge/core/internal/check.h"
#include "gorge/core/internal/clock.h"
#include "gorge/core/internal/futex.h"
#include "gorge/core/internal/pick.h"
#include "gorge/core/internal/steal.h"

namespace gorge::internal {
namespace {

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

// Nobody keeps time any more; see idle.h for who will look.
void EndTimekeeping() GORGE_REQUIRES(sched.lock) {
  sched.timekeeper = nullptr;
  // Relaxed: the lock, then the fence of Z3.
  sched.timekeeper_until.store(kNever, std::memory_order_relaxed);
}

// Finds a machine for `p`: the one that went idle last, or else a new one that
// has no thread yet. It counts as alive from here on, so a stop that comes in
// between waits for it, and `p` stays.
Machine& ClaimMachine(Processor& p, bool spinning) GORGE_REQUIRES(sched.lock) {
  Machine* machine = sched.idle_machines;
  if (machine != nullptr) {
    sched.idle_machines = machine->next_idle;
    if (machine == sched.timekeeper) EndTimekeeping();
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

// Z3. Takes an idle P and returns true if there is work after all. Else
// `next_timer` is when there will be.
bool LookAgain(Machine& machine, std::int64_t& next_timer) {
  HeavyFence();
  // Others that spin owe the look at the runnexts to us all. Relaxed: ordered
  // by the fence.
  const bool alone = sched.spinning.load(std::memory_order_relaxed) == 0;
  next_timer = NextTimer(*machine.crew);
  const bool due = next_timer != kNever && next_timer <= MonotonicNanos();
  const bool seen = due || RingsHaveWork(*machine.crew) ||
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

// Joins the idle machines, unless the runtime stops. True if it is the
// timekeeper now.
bool JoinIdle(Machine& machine, std::int64_t next_timer, bool& stopped) {
  LockGuard hold(sched.lock);
  stopped = machine.epoch != sched.epoch.load(std::memory_order_relaxed);
  if (stopped) return false;
  machine.next_idle = sched.idle_machines;
  sched.idle_machines = &machine;
  if (next_timer >= sched.timekeeper_until.load(std::memory_order_relaxed)) {
    return false;
  }
  // The one before, if any, sleeps on: it will find that it is none any more.
  sched.timekeeper = &machine;
  sched.timekeeper_until.store(next_timer, std::memory_order_relaxed);
  return true;
}

void LeaveIdle(const Machine& machine) GORGE_REQUIRES(sched.lock) {
  Machine** link = &sched.idle_machines;
  while (*link != &machine) link = &(*link)->next_idle;
  *link = machine.next_idle;
}

// The timekeeper's time has come. Takes an idle P, spins, and returns true;
// false if it is claimed meanwhile, or there is no idle P: then it sleeps on,
// among the idle ones.
bool EndSleep(Machine& machine) {
  LockGuard hold(sched.lock);
  if (sched.timekeeper != &machine) return false;
  EndTimekeeping();
  Processor* p = TakeIdleProcessor();
  if (p == nullptr) return false;
  LeaveIdle(machine);
  machine.processor = p;
  BeginSpinning(machine);
  return true;
}

// Z4. False if the thread is to end.
bool Sleep(Machine& machine, std::int64_t next_timer) {
  bool stopped;
  const bool keeps_time = JoinIdle(machine, next_timer, stopped);
  if (stopped) return false;
  if (keeps_time && !SleepUntil(machine, next_timer) && EndSleep(machine)) {
    return true;
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
    RunDueTimers(*machine.processor->timers, *machine.processor);
    if (G* g = PickLocal(*machine.processor)) return Found(machine, g);
    if (MaySpin(machine)) {
      if (!machine.spinning) BeginSpinning(machine);
      if (G* g = StealFromRings(machine)) return Found(machine, g);
      if (RunTimersOfOthers(machine)) {
        if (G* g = PickLocal(*machine.processor)) return Found(machine, g);
      }
      const Sight sight = Watch(machine);
      if (sight.stranded != nullptr) return Found(machine, sight.stranded);
      if (sight.work || (sight.hot && Nap(machine))) continue;
    }
    if (G* g = TakeGlobalOrGiveBack(machine)) return Found(machine, g);
    if (machine.processor != nullptr) break;  // Stopped.
    if (machine.spinning) EndSpinning(machine);
    std::int64_t next_timer;
    if (LookAgain(machine, next_timer)) continue;
    if (!Sleep(machine, next_timer)) break;
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
  // It may have been the timekeeper.
  WakeForRunnext();
  return SleepUntilUnparked(machine);
}

}  // namespace gorge::internal
