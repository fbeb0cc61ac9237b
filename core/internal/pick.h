// core/internal/pick.h -- what runs next, and the switch to it.
//
// The part of scheduling that every park goes through, inlined into it; the
// machine's own loop, which searches and sleeps, is in idle.cc. For .cc files
// only.

#ifndef GORGE_CORE_INTERNAL_PICK_H_
#define GORGE_CORE_INTERNAL_PICK_H_

#include <cstdint>

#include "gorge/core/internal/annotations.h"
#include "gorge/core/internal/goroutine_state.h"
#include "gorge/core/internal/scheduler.h"
#include "gorge/core/internal/switch_to.h"

namespace gorge::internal {

// A machine looks at the global queue first on every 61st pick, so that two
// goroutines which keep readying each other cannot starve it. A prime, against
// falling into step with the program.
inline constexpr std::uint32_t kGlobalTick = 61;

// In checked builds a goroutine passes through the global queue more often than
// not, so that it wakes on another thread; HandOffAndSleep does the rest.
inline bool ForcesMigration([[maybe_unused]] Processor& p) {
#if GORGE_CHECKED
  return p.random.Below(4) != 0;
#else
  return false;
#endif
}

// Takes a goroutine out of the global queue: one; or this P's fair share, of
// which one is returned and the others are put into the ring, which is empty.
// Null if there is none, or if the runtime stops.
G* TakeGlobalOne(const Processor& p);
G* TakeGlobalShare(Processor& p);

// `g` was the runnext once too often in a row while others wait: queues it
// behind them.
void PutBehind(Processor& p, G& g);

GORGE_ALWAYS_INLINE G* PickRunnext(Processor& p) {
  if (p.runnext.Peek() == nullptr) return nullptr;
  G* g = p.runnext.Exchange(nullptr);
  if (g == nullptr) return nullptr;  // A thief was faster.
  if (++p.streak <= Processor::kMaxStreak || p.ring.Empty()) return g;
  PutBehind(p, *g);
  return nullptr;
}

// The next goroutine out of runnext or ring; now and then out of the global
// queue. Null if there is none. Does not block.
GORGE_ALWAYS_INLINE G* PickOwn(Processor& p) {
  const std::uint32_t tick = p.tick.load(std::memory_order_relaxed) + 1;
  p.tick.store(tick, std::memory_order_relaxed);
  if (tick % kGlobalTick == 0 && sched.queue.Size() != 0) [[unlikely]] {
    if (G* g = TakeGlobalOne(p)) return g;
  }
  if (G* g = PickRunnext(p)) return g;
  p.streak = 0;
  return p.ring.Pop();
}

// The same, and if there is none, out of the global queue. Null also if the
// runtime stops.
GORGE_ALWAYS_INLINE G* PickLocal(Processor& p) {
  if (!IsCurrent(p)) [[unlikely]]
    return nullptr;
  if (G* g = PickOwn(p)) return g;
  return sched.queue.Size() == 0 ? nullptr : TakeGlobalShare(p);
}

// Switches from `self` to `next`, or to the scheduler if that is null.
GORGE_ALWAYS_INLINE void SwitchAwayTo(G& self, G* next, AfterSwitch after,
                                      void* argument, bool dies = false) {
  Machine& machine = *self.machine;
  if (next == nullptr) {
    next = &machine.g0;
  } else {
    Transition(next->state, State::kRunnable, State::kRunning);
  }
  SwitchTo(machine, self, *next, after, argument, dies);
}

// True if the scheduler has to run timers before the next goroutine. They
// cannot be run right here: a goroutine that parks holds the lock of what it
// parks on. Looks at the clock, which is as dear as a switch, at each fourth
// pick.
GORGE_ALWAYS_INLINE bool TimersFirst(const Processor& p) {
  constexpr std::uint32_t kLookEvery = 4;
  return p.tick.load(std::memory_order_relaxed) % kLookEvery == 0 &&
         HasDueTimers(*p.timers);
}

// Switches from `self`, which is about to be suspended or to end, to whatever
// its P has next, or to the scheduler if it has nothing.
GORGE_ALWAYS_INLINE void SwitchAway(G& self, AfterSwitch after, void* argument,
                                    bool dies = false) {
  Processor& p = *self.machine->processor;
  G* next = ForcesMigration(p) || TimersFirst(p) ? nullptr : PickLocal(p);
  SwitchAwayTo(self, next, after, argument, dies);
}

}  // namespace gorge::internal

#endif  // GORGE_CORE_INTERNAL_PICK_H_
