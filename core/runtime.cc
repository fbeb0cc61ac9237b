#include "gorge/core/runtime.h"

#include <atomic>
#include <cstdint>
#include <new>
#include <type_traits>

#include "gorge/core/internal/check.h"
#include "gorge/core/internal/lifecycle.h"
#include "gorge/core/internal/main_goroutine.h"
#include "gorge/core/internal/procs.h"
#include "gorge/core/internal/spawn.h"
#include "gorge/core/internal/stack.h"
#include "gorge/core/internal/yield.h"

namespace gorge {
namespace internal {

bool RunMain(void (*call)(void* argument), void* argument,
             const Location& location) {
  if (!Self()->is_thread) RaisePanic("Run is called by a goroutine");
  if (!ClaimMain()) RaisePanic("Run is called while another Run runs");
  auto* const ended = new std::atomic<bool>(false);
  const auto main = [ended, call, argument] {
    call(argument);
    // Release: pairs with the acquire in AwaitMain, whose caller frees it.
    ended->store(true, std::memory_order_release);
    NoteMainEnded();
  };
  using Main = std::remove_const_t<decltype(main)>;
  G& g = BeginGoroutine({sizeof(Main), alignof(Main), 0, "main", location});
  ::new (g.closure) Main(main);
  const std::uint32_t epoch = StartGoroutine(
      g, [](void* closure) { (*static_cast<Main*>(closure))(); });
  // If not, `ended` stays: main may be running all the same.
  if (!AwaitMain(*ended, epoch)) return false;
  delete ended;
  StopRuntime();
  return true;
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
