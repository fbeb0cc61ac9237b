// core/internal/machine.h -- M: an OS thread that runs goroutines.
//
//   spinning: holds a P, runs nothing, looks for work
//   running:  holds a P, runs a goroutine
//   idle:     holds no P, sleeps on `park` in the list of idle machines
//
// A machine leaves idleness when somebody puts a P into `next_processor` and
// posts `park`; no P there means: end the thread.

#ifndef GORGE_CORE_INTERNAL_MACHINE_H_
#define GORGE_CORE_INTERNAL_MACHINE_H_

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "gorge/core/internal/context_switch.h"
#include "gorge/core/internal/goroutine.h"
#include "gorge/core/internal/processor.h"

namespace gorge::internal {

// The machines and Ps of one epoch. Outlives the machines: one that a stop left
// behind may be anywhere in the scheduler, so it looks for Ps here and not in
// `sched`, where those of the next epoch are by then.
struct Crew {
  // Fixed at start.
  Processor* processors = nullptr;
  std::uint32_t processor_count = 0;

  std::atomic<std::uint32_t> live{0};  // Threads not ended; a futex word.
};

struct Machine {
  // The scheduler's own context: this thread's native stack.
  G g0;

  // Fixed once the thread runs. Cached, because their thread-local addresses
  // must not be recomputed on either side of a switch.
  ExceptionState* exceptions = nullptr;
  int* errno_slot = nullptr;
  G** self_slot = nullptr;
  pthread_t thread{};
  Crew* crew = nullptr;
  std::uint32_t epoch = 0;
  std::uint32_t index = 0;  // From 1 on.

  // This thread's own.
  Processor* processor = nullptr;
  bool spinning = false;
  Random random;

  // Written by whoever takes the machine out of the idle list or makes it,
  // before posting or starting the thread.
  Processor* next_processor = nullptr;
  bool next_spinning = false;
  bool launched = false;  // It has its thread.

  std::atomic<std::uint32_t> park{0};  // Posted: 1. Cleared by this thread.

  Machine* next_idle = nullptr;  // Guarded by the scheduler's lock.
  Machine* next_all = nullptr;   // Guarded by the scheduler's lock.
};

// Gives a machine that has none yet its thread. Fatal if the system has none
// left.
void StartThread(Machine& machine);

// Ends the sleep of `machine`, which was taken out of the idle list and whose
// next_processor is set: if it is null, the thread ends.
void Unpark(Machine& machine);

// Sleeps until Unpark, or until `when`: false then.
[[nodiscard]] bool SleepUntil(const Machine& machine, std::int64_t when);

// Sleeps until Unpark; returns false if the thread is to end.
[[nodiscard]] bool SleepUntilUnparked(Machine& machine);

}  // namespace gorge::internal

#endif  // GORGE_CORE_INTERNAL_MACHINE_H_
