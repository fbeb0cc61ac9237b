#include "gorge/core/internal/scheduler.h"

#include <algorithm>
#include <array>

#include "gorge/core/internal/check.h"
#include "gorge/core/internal/idle.h"
#include "gorge/core/internal/pick.h"

namespace gorge::internal {

constinit Scheduler sched;

namespace {

// Moves half of a full ring, and then `g`, to the global queue.
void Overflow(Processor& p, G& g) {
  std::array<G*, RunQueue::kCapacity / 2> batch;
  const std::uint32_t count = p.ring.PopHalf(batch);
  LockGuard hold(sched.lock);
  if (!IsCurrent(p)) return;  // Abandoned, all of them.
  for (std::uint32_t i = 0; i < count; ++i) sched.queue.Push(*batch[i]);
  sched.queue.Push(g);
}

void PushRing(Processor& p, G& g) {
  if (!p.ring.Push(&g)) [[unlikely]]
    Overflow(p, g);
}

}  // namespace

// An epoch ends under the lock, so whoever takes or gives goroutines looks once
// more when it has it: the queue may be the next epoch's by then.

G* TakeGlobalOne(const Processor& p) {
  LockGuard hold(sched.lock);
  return IsCurrent(p) ? sched.queue.Pop() : nullptr;
}

G* TakeGlobalShare(Processor& p) {
  LockGuard hold(sched.lock);
  if (!IsCurrent(p)) return nullptr;
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

void PutBehind(Processor& p, G& g) {
  PushRing(p, g);
  WakeForQueue();
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
  if (p == nullptr || !g.BelongsTo(p->epoch) || ForcesMigration(*p))
      [[unlikely]] {
    EnqueueGlobal(g);
    return;
  }
  G* displaced = p->runnext.Exchange(&g);
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
