// core/internal/yield.h -- Gosched: to the end of the global queue.

#ifndef GORGE_CORE_INTERNAL_YIELD_H_
#define GORGE_CORE_INTERNAL_YIELD_H_

namespace gorge::internal {

// Lets other goroutines run. Returns at once if no other is at hand. In a plain
// thread: sched_yield(2).
void Yield();

}  // namespace gorge::internal

#endif  // GORGE_CORE_INTERNAL_YIELD_H_
