// core/internal/goroutine_state.h -- the life of a goroutine.
//
//   kIdle --Start--> kRunnable --Execute--> kRunning --Exit--> kDead
//     ^                 ^   ^                |    |              |
//     |                 |   +----Yield-------+   Park            |
//     |                 |                         v              |
//     |                 +---------Ready------ kWaiting           |
//     +------------------------Reuse-----------------------------+
//
// Each arrow is taken by the one function it names, and nowhere else. A
// goroutine has one owner at any time, and only the owner takes an arrow, so a
// plain store is enough; the check catches an owner too many. What publishes
// the goroutine's memory to the next owner is not this word but the queue or
// lock through which it is handed over.

#ifndef GORGE_CORE_INTERNAL_GOROUTINE_STATE_H_
#define GORGE_CORE_INTERNAL_GOROUTINE_STATE_H_

#include <atomic>
#include <cstdint>

#include "gorge/core/internal/check.h"

namespace gorge::internal {

enum class State : std::uint8_t {
  kIdle,      // Being made, by the goroutine or thread that calls go().
  kRunnable,  // In a run queue; belongs to whoever dequeues it.
  kRunning,   // On a machine; belongs to that machine.
  kWaiting,   // In wait queues; belongs to the waker that wins the claim.
  kDead,      // Finished; the stack may be reused.
};

// Takes the arrow `from` --> `to`. Crashes if the goroutine is elsewhere.
inline void Transition(std::atomic<State>& state, State from, State to) {
#if GORGE_CHECKED
  // Checked builds pay for an exchange that also catches two owners at once.
  GORGE_CHECK(state.exchange(to, std::memory_order_acq_rel) == from,
              "a goroutine is in the state its owner left it in");
#else
  // Relaxed: see the top of this file.
  GORGE_CHECK(state.load(std::memory_order_relaxed) == from,
              "a goroutine is in the state its owner left it in");
  // Release: who reads that a goroutine is parked, without being its next
  // owner, sees what it did before. Tests and dumps do.
  state.store(to, std::memory_order_release);
#endif
}

}  // namespace gorge::internal

#endif  // GORGE_CORE_INTERNAL_GOROUTINE_STATE_H_
