// core/internal/spawn.h -- how go() makes a goroutine.
//
// In three steps, so that the closure is built in its final place, on the new
// goroutine's own stack, without a heap allocation:
//
//   G& g = BeginGoroutine(spec);         a G and room for the closure
//   new (g.closure) Closure(...);        may throw: then AbandonGoroutine(g)
//   StartGoroutine(g, &Run<Closure>);    runnable from here on

#ifndef GORGE_CORE_INTERNAL_SPAWN_H_
#define GORGE_CORE_INTERNAL_SPAWN_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "gorge/core/internal/goroutine.h"
#include "gorge/core/internal/location.h"

namespace gorge::internal {

struct SpawnSpec {
  std::size_t closure_size;
  std::size_t closure_align;
  std::size_t stack_size;  // Zero: the runtime's default.
  std::string_view name;
  Location location;
};

// Starts the runtime if need be. Fatal if there is no memory for a stack.
G& BeginGoroutine(const SpawnSpec& spec);
void AbandonGoroutine(G& g);
// Returns the epoch that it is started in (scheduler.h).
std::uint32_t StartGoroutine(G& g, void (*entry)(void* closure));

// Ends the calling goroutine, unwinding its stack. Panics in a plain thread.
[[noreturn]] void UnwindGoroutine();

}  // namespace gorge::internal

#endif  // GORGE_CORE_INTERNAL_SPAWN_H_
