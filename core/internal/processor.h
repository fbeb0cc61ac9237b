// core/internal/processor.h -- P: the right to run goroutines.
//
// There are MaxProcs of them. A machine runs goroutines only while it holds a
// P, and everything a P carries can be used without a lock by that machine.
// Others may only steal: from the ring, and from `runnext` under the rule in
// idle.h.

#ifndef GORGE_CORE_INTERNAL_PROCESSOR_H_
#define GORGE_CORE_INTERNAL_PROCESSOR_H_

#include <atomic>
#include <cstdint>

#include "gorge/core/internal/atomic.h"
#include "gorge/core/internal/goroutine.h"
#include "gorge/core/internal/random.h"
#include "gorge/core/internal/run_queue.h"
#include "gorge/core/internal/runnext.h"
#include "gorge/core/internal/stack.h"
#include "gorge/core/internal/timers.h"

namespace gorge::internal {

struct alignas(kCacheLine) Processor {
  // How many goroutines in a row may come out of runnext while others wait in
  // the ring. In Go such a chain shares one time slice of 10 ms; a count costs
  // no clock.
  static constexpr std::uint32_t kMaxStreak = 64;

  // Fixed at start.
  std::uint32_t index = 0;
  std::uint32_t epoch = 0;
  std::uint8_t stack_class = kDefaultStackClass;  // Of go() by default.
  TimerQueue* timers = nullptr;

  // Written by the holder, read by thieves.
  std::atomic<std::uint32_t> tick{0};  // Goroutines picked so far.
  RunNext runnext;

  // The holder's own.
  std::uint32_t streak = 0;  // Picks out of runnext since the last other one.
  Random random;
  DeadList dead;  // Goroutines that ended here, with stacks of default size.
  std::uint64_t next_id = 0;  // A batch of goroutine ids: [next_id, end_id).
  std::uint64_t end_id = 0;

  // Written by the holder, summed up by NumGoroutine.
  std::atomic<std::int64_t> started{0};
  std::atomic<std::int64_t> finished{0};

  Processor* next_idle = nullptr;  // Guarded by the scheduler's lock.

  RunQueue ring;
};

// One writer, any readers: no read-modify-write needed.
inline void Increment(std::atomic<std::int64_t>& counter) {
  counter.store(counter.load(std::memory_order_relaxed) + 1,
                std::memory_order_relaxed);
}

}  // namespace gorge::internal

#endif  // GORGE_CORE_INTERNAL_PROCESSOR_H_
