// core/internal/lifecycle.h -- the runtime starts by itself, stops on demand,
// and can start again. scheduler.h draws its phases.

#ifndef GORGE_CORE_INTERNAL_LIFECYCLE_H_
#define GORGE_CORE_INTERNAL_LIFECYCLE_H_

#include <cstddef>
#include <cstdint>

#include "gorge/core/internal/scheduler.h"

namespace gorge::internal {

// What the next start goes by; zero: the default.
struct StartConfig {
  int max_procs = 0;
  std::size_t stack_size = 0;
};

// Panics while the runtime runs, or if a value is out of range.
void SetStartConfig(const StartConfig& config);

void StartSlow();

// For plain threads, before they hand anything to the scheduler.
//
// Blocks: the thread, while another one starts or stops the runtime.
inline void EnsureStarted() {
  // Acquire: pairs with the release at the end of the start.
  if (sched.phase.load(std::memory_order_acquire) != Phase::kRunning) {
    StartSlow();
  }
}

// For all callers: a goroutine's runtime is started.
inline void EnsureStartedByThread() {
  if (Self()->machine == nullptr) EnsureStarted();
}

// Stops every machine at the end of what its goroutine is doing, i.e. at its
// next call that blocks, yields or starts a goroutine; then abandons all
// goroutines. A machine that takes longer than a second is left behind: it ends
// when it gets there. Does nothing if the runtime does not run.
//
// Blocks:   the thread.
// Panics:   in a goroutine.
void StopRuntime();

// The number of Ps, now or when the runtime last ran.
int CountProcessors();

// The number of goroutines that were started and have not ended.
std::int64_t CountGoroutines();

}  // namespace gorge::internal

#endif  // GORGE_CORE_INTERNAL_LIFECYCLE_H_
