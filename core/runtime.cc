#include "gorge/core/runtime.h"

#include <atomic>
#include <cstdint>

#include "gorge/core/go.h"
#include "gorge/core/internal/check.h"
#include "gorge/core/internal/futex.h"
#include "gorge/core/internal/lifecycle.h"
#include "gorge/core/internal/procs.h"
#include "gorge/core/internal/stack.h"
#include "gorge/core/internal/yield.h"

namespace gorge {
namespace internal {

void RunMain(void (*call)(void* argument), void* argument,
             const Location& location) {
  if (!Self()->is_thread) RaisePanic("Run is called by a goroutine");
  std::atomic<std::uint32_t> done{0};
  Spawn({.name = "main"}, location, [&done, call, argument] {
    call(argument);
    // Release: pairs with the acquire below.
    done.store(1, std::memory_order_release);
    FutexWake(done, 1);
  });
  while (done.load(std::memory_order_acquire) == 0) FutexWait(done, 0);
  StopRuntime();
}

}  // namespace internal

void Gosched() { internal::Yield(); }

void Goexit() { internal::UnwindGoroutine(); }

int NumGoroutine() { return static_cast<int>(internal::CountGoroutines()); }

int NumCPU() { return internal::CountCpus(); }

int MaxProcs() {
  if (internal::Self()->is_thread) internal::EnsureStarted();
  return internal::CountProcessors();
}

void Configure(const Config& config) {
  internal::SetStartConfig({config.max_procs, config.stack_size});
}

void Shutdown() { internal::StopRuntime(); }

void FreeOSMemory() { internal::TrimStacks(); }

}  // namespace gorge
