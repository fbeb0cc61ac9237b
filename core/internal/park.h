// core/internal/park.h -- gopark and goready: how everything that blocks does.
//
// A waiter puts itself where its waker will find it, under a lock, and parks;
// the lock is dropped only once the waiter's registers are saved:
//
//   waiter:  lock; condition false; queue a sudog; Park(unlock, &lock)
//   waker:   lock; take the sudog out; unlock; Ready(sudog->g)
//
// The waker cannot find the sudog before the lock is free, hence never readies
// a goroutine that still runs; and the waiter looked at the condition under
// the same lock, hence never sleeps through a wake-up. Every Park is ended by
// exactly one Ready, and there are no spurious returns: whoever took the sudog
// out of its queue owes the Ready.
//
// The tempting variant, unlock first and then switch, needs the waker to spin
// until the registers are saved, and deadlocks when the waker's is the only
// thread.

#ifndef GORGE_CORE_INTERNAL_PARK_H_
#define GORGE_CORE_INTERNAL_PARK_H_

#include "gorge/core/internal/goroutine.h"
#include "gorge/core/internal/lock.h"
#include "gorge/core/internal/sudog.h"

namespace gorge::internal {

// Suspends the caller until Ready(Self()). Once it is suspended, and on
// another stack, calls unlock(argument), which makes it visible to wakers; it
// may not block.
//
// Blocks: the goroutine; in a plain thread, the thread.
void Park(AfterSwitch unlock, void* argument, WaitReason reason,
          const void* object);

// Parks, releasing `lock`, which the caller holds.
void ParkAndRelease(Lock& lock, WaitReason reason, const void* object)
    GORGE_RELEASE(lock);

// Parks for ever.
[[noreturn]] void ParkForever(WaitReason reason);

// Makes a parked goroutine runnable. It runs next on the caller's P, when the
// caller blocks or its slice ends, unless an idle P takes it before that.
// Callable by any thread. Never with a lock held that the woken may want.
//
// Requires: the caller has claimed `g`; see above.
// Ordering: what precedes Ready happens before the return of Park.
void Ready(G& g);

// Goroutines claimed under a lock, to be woken after it, in order.
class WakeList {
 public:
  void Add(Sudog& s, bool success) {
    s.success = success;
    s.g->woken_by = &s;
    s.g->next = nullptr;
    (last_ == nullptr ? first_ : last_->next) = s.g;
    last_ = s.g;
  }

  void ReadyAll() {
    while (G* g = first_) {
      first_ = g->next;
      Ready(*g);
    }
    last_ = nullptr;
  }

 private:
  G* first_ = nullptr;
  G* last_ = nullptr;
};

}  // namespace gorge::internal

#endif  // GORGE_CORE_INTERNAL_PARK_H_
