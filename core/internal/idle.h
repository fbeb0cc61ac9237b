// core/internal/idle.h -- who spins, who sleeps, and who must wake whom.
//
// The goal: work never waits in a queue while there is an idle P for it, and
// an idle process uses no CPU. Waking a thread costs microseconds, so both
// "wake one for each goroutine" and "let all machines spin" are out.
//
// A machine that runs out of work spins for a moment: it holds a P, looks
// through all queues, and watches them for as long as a sleep and a wake-up
// would cost. At most half of the busy Ps have spinning machines. Only then
// does it sleep. The protocol between submitters and sleepers:
//
//   Submit:  (S1) put the goroutine into a queue
//            (S2) if no P is idle, or some machine spins: done
//            (S3) else make a machine spin: give it an idle P and wake it
//   Sleep:   (Z1) under the lock: look at the global queue, put the P back
//            (Z2) if spinning: stop, i.e. decrement `spinning`
//            (Z3) look at all queues once more; if something is there, take an
//                 idle P and spin again
//            (Z4) sleep
//
// Between S1 and S2 lies a light fence, between Z2 and Z3 a heavy one
// (fence.h). So either Z3 sees the goroutine, or S2 sees that the machine spins
// no more and that its P is idle, and wakes it or another. A submitter that
// relies on a spinning machine is never let down. For the global queue the lock
// does the same without a fence: Z1 and Z3 look at it with the lock held, under
// which it is pushed to.
//
// A machine that was not spinning looks again as well. It could be the one
// whose P makes the first idle one: a submitter saw none, the last spinner
// found other work and saw none either, and nobody else would look any more.
// For the same reason S3 may give up when it finds no idle P after all: whoever
// puts one back comes by Z3.
//
// `spinning` counts across stops: a machine of an epoch that is over may still
// be counted when the next one begins, and be relied on there. It does not look
// into queues that are not its own any more; as its last act it wakes another.
// And nobody is counted before it is certain that it will look: a submitter
// that counts one first and then finds no P to wake it with has let down those
// who relied on it meanwhile.
//
// A spinning machine that finds work stops spinning and, as the last to do so,
// wakes another: where one goroutine was found there may be more.
//
// `runnext`: what a goroutine readies goes there, and usually the readier
// blocks soon and its own P goes on with it, in 50 ns instead of in the
// microseconds of a wake-up elsewhere. So a thief takes the runnext of a
// running P only in its last pass, and only if that P has picked nothing for
// kPatience: then the readier is busy and its runnext is stranded. A P that
// picks more often than that is *hot*: goroutines pass messages there. The last
// spinner must not just leave (a later runnext would find nobody spinning and
// pay for a wake-up, at every message), nor keep spinning for ever. It naps:
// still counted as spinning, it sleeps in the kernel for kNap at a time and
// looks again, for as long as some P is hot. Goroutines put anywhere but into
// an empty runnext end the nap at once; one stranded in a runnext waits for the
// end of the nap, 0.1 ms. Only one machine naps. (No fence when a nap begins: a
// submitter that just misses it costs one nap of delay, not a wake-up.)
//
// Timers are one more kind of work, which is there from an instant on. A
// machine that goes to sleep looks, at Z3, when the next timer of all Ps is
// due, and if nobody sleeps until then or less, it becomes the *timekeeper*: it
// sleeps no longer than that, then takes an idle P and spins.
// `timekeeper_until` says until when it sleeps. So whenever a P is idle, either
// a machine spins (and will come by Z3, or wake another when it finds work), or
// the timekeeper wakes in time. While no P is idle each machine runs its own
// P's timers, and nobody keeps time: the first to give up its P will look.
//
// Who arms a timer is a submitter: after S1 it wakes a machine as at S2 and S3,
// but only if the timekeeper sleeps longer than that. A machine claimed for
// other work is timekeeper no more: `timekeeper_until` goes to kNever before
// the machine spins. A submitter that still reads the old value has armed its
// timer before the fence of that machine's Z3, which sees it. If it was not
// claimed to spin, whoever claims it wakes another.
//
// Tempting and wrong: leaving runnext to its own P altogether (a goroutine
// that readies another and then computes, or spins on a flag, would strand
// it); not counting the napper as spinning (each message would wake a thread).

#ifndef GORGE_CORE_INTERNAL_IDLE_H_
#define GORGE_CORE_INTERNAL_IDLE_H_

#include "gorge/core/internal/fence.h"
#include "gorge/core/internal/machine.h"
#include "gorge/core/internal/processor.h"
#include "gorge/core/internal/scheduler.h"

namespace gorge::internal {

void WakeSlow();  // S3.
void EndNap();    // Wakes the napping machine, if there is one.

// S2 and S3 after a goroutine was put into an empty runnext.
inline void WakeForRunnext() {
  LightFence();
  // Relaxed: ordered by the fence; pairs with Z1 to Z3.
  if (sched.idle_count.load(std::memory_order_relaxed) != 0 &&
      sched.spinning.load(std::memory_order_relaxed) == 0) [[unlikely]] {
    WakeSlow();
  }
}

// S2 and S3 after goroutines were put into a ring or the global queue.
inline void WakeForQueue() {
  // Relaxed: see above on naps.
  if (sched.napper.load(std::memory_order_relaxed) != 0) [[unlikely]] {
    EndNap();
  }
  WakeForRunnext();
}

// S2 and S3 after a timer became the next of its queue, due at `when`.
inline void WakeForTimer(std::int64_t when) {
  LightFence();
  // Relaxed: ordered by the fence.
  if (when < sched.timekeeper_until.load(std::memory_order_relaxed))
      [[unlikely]] {
    WakeForRunnext();
  }
}

// Returns a goroutine for `machine` to run, and blocks its thread until there
// is one; null when the thread is to end. The machine holds a P when this is
// called and, unless the result is null, when it returns.
G* FindRunnable(Machine& machine);

// Gives `machine`'s P to another machine and sleeps; false if the thread is to
// end. For checked builds, which move goroutines between threads by force.
[[nodiscard]] bool HandOffAndSleep(Machine& machine);

}  // namespace gorge::internal

#endif  // GORGE_CORE_INTERNAL_IDLE_H_
