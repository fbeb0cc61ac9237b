#include "gorge/core/internal/scheduler.h"

#include <algorithm>
#include <array>

#include "gorge/core/internal/check.h"
#include "gorge/core/internal/idle.h"

namespace gorge::internal {

constinit Scheduler sched;

namespace {

// A machine looks at the global queue first on every 61st pick, so that two
// goroutines which keep readying each other cannot starve it. A prime, against
// falling into step with the program.
constexpr std::uint32_t kGlobalTick = 61;

// In checked builds a goroutine goes to the global queue more often than not,
// so that it wakes on another thread; see HandOffAndSleep for the rest.
bool ForcesMigration([[maybe_unused]] Processor& p) {
#if GORGE_CHECKED
  return p.random.Below(4) != 0;
#else
  return false;
#endif
}

// Moves half of a full ring, and then `g`, to the global queue.
void Overflow(Processor& p, G& g) {
  std::array<G*, RunQueue::kCapacity / 2> batch;
  const std::uint32_t count = p.ring.PopHalf(batch);
  LockGuard hold(sched.lock);
  for (std::uint32_t i = 0; i < count; ++i) sched.queue.Push(*batch[i]);
  sched.queue.Push(g);
}

void PushRing(Processor& p, G& g) {
  if (!p.ring.Push(&g)) [[unlikely]]
    Overflow(p, g);
}

// Takes this P's fair part of the global queue: returns one, queues the others
// in the ring, which has room since it is empty.
G* TakeGlobalShare(Processor& p) {
  LockGuard hold(sched.lock);
  const std::int64_t size = sched.queue.Size();
  const std::int64_t share = std::min<std::int64_t>(
      size / sched.processor_count + 1, RunQueue::kCapacity / 2);
  G* first = sched.queue.Pop();
  for (std::int64_t i = 1; i < share; ++i) {
    G* g = sched.queue.Pop();
    if (g == nullptr) break;
    GORGE_CHECK(p.ring.Push(g), "an empty ring has room for half its capacity");
  }
  return first;
}

G* TakeGlobalOne() {
  LockGuard hold(sched.lock);
  return sched.queue.Pop();
}

// Takes runnext, unless its turns in a row are used up while others wait.
G* PickRunnext(Processor& p) {
  if (p.runnext.load(std::memory_order_relaxed) == nullptr) return nullptr;
  // Acquire: the goroutine may have been put there by an earlier holder of
  // this P. A thief may be faster: then null.
  G* g = p.runnext.exchange(nullptr, std::memory_order_acquire);
  if (g == nullptr) return nullptr;
  if (++p.streak <= Processor::kMaxStreak || p.ring.Empty()) return g;
  PushRing(p, *g);
  return nullptr;
}

}  // namespace

Processor* CurrentProcessor(const G& self) {
  if (self.machine == nullptr) return nullptr;
  Processor* p = self.machine->processor;
  return IsCurrent(*p) ? p : nullptr;
}

G* PickLocal(Processor& p) {
  if (!IsCurrent(p)) [[unlikely]]
    return nullptr;
  const std::uint32_t tick = p.tick.load(std::memory_order_relaxed) + 1;
  p.tick.store(tick, std::memory_order_relaxed);
  if (tick % kGlobalTick == 0 && sched.queue.Size() != 0) [[unlikely]] {
    if (G* g = TakeGlobalOne()) return g;
  }
  if (G* g = PickRunnext(p)) return g;
  p.streak = 0;
  if (G* g = p.ring.Pop()) return g;
  if (sched.queue.Size() == 0) return nullptr;
  return TakeGlobalShare(p);
}

void SwitchAway(G& self, AfterSwitch after, void* argument, bool dies) {
  Machine& machine = *self.machine;
  Processor& p = *machine.processor;
  G* next = ForcesMigration(p) ? nullptr : PickLocal(p);
  if (next == nullptr) {
    SwitchTo(machine, self, machine.g0, after, argument, dies);
    return;
  }
  Transition(next->state, State::kRunnable, State::kRunning);
  SwitchTo(machine, self, *next, after, argument, dies);
}

void RunMachine(Machine& machine) {
  while (G* g = FindRunnable(machine)) {
    Transition(g->state, State::kRunnable, State::kRunning);
    SwitchTo(machine, machine.g0, *g, nullptr, nullptr);
#if GORGE_CHECKED
    if (IsCurrent(*machine.processor) && machine.random.Below(4) == 0 &&
        !HandOffAndSleep(machine)) {
      return;
    }
#endif
  }
}

void Enqueue(G& g) {
  Processor* p = CurrentProcessor(*Self());
  if (p == nullptr || !g.BelongsTo(p->epoch) || ForcesMigration(*p)) {
    EnqueueGlobal(g);
    return;
  }
  // Acq_rel: hands the goroutine over to whoever takes it out. Seq_cst: S1 of
  // idle.h.
  G* displaced = p->runnext.exchange(&g, std::memory_order_seq_cst);
  if (displaced == nullptr) {
    WakeForRunnext();
  } else {
    PushRing(*p, *displaced);
    WakeForQueue();
  }
}

void EnqueueGlobal(G& g) {
  {
    LockGuard hold(sched.lock);
    // A stop changes the epoch under this lock.
    if (!g.BelongsTo(sched.epoch.load(std::memory_order_relaxed))) return;
    sched.queue.Push(g);
  }
  WakeForQueue();
}

}  // namespace gorge::internal
