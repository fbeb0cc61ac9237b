// core/internal/lock_rank.h -- the order in which the runtime's locks nest.
//
// A thread may take a lock only if its rank is greater than that of every lock
// the thread holds. Exception: several locks of rank kChan, in address order,
// which is how a select locks its channels. Checked builds verify both.

#ifndef GORGE_CORE_INTERNAL_LOCK_RANK_H_
#define GORGE_CORE_INTERNAL_LOCK_RANK_H_

#include <cstdint>

namespace gorge::internal {

enum class LockRank : std::uint8_t {
  kLifecycle,  // Start and stop of the runtime; held across both.
  kChan,       // One channel.
  kWaitGroup,  // The waiters of one WaitGroup.
  kCond,       // The waiters of one Cond.
  kPool,       // One list of a Pool.
  kSema,       // One bucket of the semaphores.
  kTimers,     // The timers of one P.
  kRunNext,    // The thieves of one P's runnext.
  kSched,      // The global queue, the idle lists, the list of machines.
  kStacks,     // The pool of goroutine stacks.
};

}  // namespace gorge::internal

#endif  // GORGE_CORE_INTERNAL_LOCK_RANK_H_
