// core/internal/timers.h -- what is to happen at an instant.
//
// Each P has a queue of timers, a heap under a lock. A timer is armed in the
// queue of the P that its owner runs on, by a plain thread in the first; a
// machine runs the due timers of its P between two goroutines, and those of
// other Ps when it has run out of work. idle.h says who sleeps until the next
// one is due.
//
// A timer's place is its `queue`:
//
//   null --Arm--> q    by compare-and-swap, with q's lock held
//   q --Disarm, Arm, due, stop--> null or q    with q's lock held
//
// So with a queue's lock held, a timer that names this queue is in it and stays
// there; and of several threads that arm a timer one puts it into a queue and
// the others find it there. Queues are never freed: whoever has read an old
// `queue` may still take its lock.
//
// At each arming exactly one of three things happens: Disarm returns true, Arm
// returns was_armed, or the timer fires (or is abandoned by a stop). Firing has
// begun once the timer is out of its queue, with the lock held, but fire() is
// called without. So an owner that may be gone by then must be kept by claim(),
// which is called while the lock still keeps Disarm, and with it the owner's
// end, away. An owner's last act is a Disarm; if that finds `queue` null, then
// claim() has returned and, if it returned false, nobody will touch the timer
// any more.

#ifndef GORGE_CORE_INTERNAL_TIMERS_H_
#define GORGE_CORE_INTERNAL_TIMERS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gorge/core/internal/annotations.h"
#include "gorge/core/internal/atomic.h"
#include "gorge/core/internal/clock.h"
#include "gorge/core/internal/lock.h"
#include "gorge/core/internal/timer_heap.h"

namespace gorge::internal {

struct Processor;
struct TimerNode;

struct TimerActions {
  // With the queue's lock held: keeps the timer until fire() has returned.
  // False if its owner is at its end already.
  bool (*claim)(TimerNode& node);
  // With no lock held, by a machine in the scheduler's context: may ready and
  // start goroutines, but not block.
  void (*fire)(TimerNode& node, std::int64_t now);
  // With no lock held: the runtime has stopped, the timer will not fire. For
  // those who gave their queue a reference when they were armed.
  void (*abandon)(TimerNode& node);
};

struct alignas(kCacheLine) TimerQueue {
  Lock lock{LockRank::kTimers};
  TimerHeap heap GORGE_GUARDED_BY(lock);
  // heap.Earliest(); written with the lock held, read by anyone.
  std::atomic<std::int64_t> earliest{kNever};
  std::atomic<TimerQueue*> next{nullptr};  // The next P's; set once.
};

struct TimerNode {
  explicit TimerNode(const TimerActions& its_actions) : actions(its_actions) {}
  TimerNode(const TimerNode&) = delete;
  TimerNode& operator=(const TimerNode&) = delete;

  const TimerActions& actions;
  std::atomic<TimerQueue*> queue{nullptr};  // As above.
  std::size_t index = 0;  // In the heap; guarded by the queue's lock.
};

struct [[nodiscard]] ArmResult {
  bool was_armed;  // And is now armed anew.
  // It is the next of its queue to be due. The caller, when it holds no lock
  // that others may want, calls WakeForTimer (idle.h).
  bool is_next;
};

// Arms the timer to fire at `when`, or changes the instant if it is armed.
// Throws: std::bad_alloc; the timer is as before then.
ArmResult Arm(TimerNode& node, std::int64_t when);

// True if the timer was armed: it will not fire. False if it is not armed, or
// about to fire.
bool Disarm(TimerNode& node);

// Calls fire() of all timers of `queue` that are due. `p` is the caller's P: if
// the runtime has stopped, nothing fires. True if something did.
bool RunDueTimers(TimerQueue& queue, const Processor& p);

// True if RunDueTimers would find something.
inline bool HasDueTimers(const TimerQueue& queue) {
  // Relaxed: looked at again under the lock.
  const std::int64_t earliest = queue.earliest.load(std::memory_order_relaxed);
  return earliest != kNever && earliest <= MonotonicNanos();
}

// The queue of the first P, followed by at least `count` - 1 others. Called
// under sched.lifecycle.
TimerQueue* TimerQueuesFor(std::uint32_t count);

// Takes all timers out of their queues, as part of a stop: under
// sched.lifecycle. Then, without it, the caller abandons those that are
// returned.
std::vector<TimerNode*> TakeAllTimers();

// In the child of a fork: the next start makes queues anew, since the locks of
// these may be held by threads that are no more.
void ForgetTimerQueues();

// The number of armed timers; for tests.
std::size_t CountTimers();

}  // namespace gorge::internal

#endif  // GORGE_CORE_INTERNAL_TIMERS_H_
