// core/internal/context_switch.h -- what a suspended G needs to go on.
//
// With the registers travel: the C++ exception state (caught exceptions and
// the count of uncaught ones), errno, and the control bits of the FP unit. The
// sticky FP exception flags do not: Boost's assembly would restore them, but
// where two goroutines differ in them the restore costs 75 ns instead of 5, so
// they are cleared before each switch. fetestexcept() therefore sees only what
// was raised since the goroutine last blocked.
//
// The switch itself is in switch_to.h.

#ifndef GORGE_CORE_INTERNAL_CONTEXT_SWITCH_H_
#define GORGE_CORE_INTERNAL_CONTEXT_SWITCH_H_

#include <cstddef>

namespace gorge::internal {

struct G;
struct Machine;

// The layout of __cxa_eh_globals in the Itanium C++ ABI.
struct ExceptionState {
  void* caught = nullptr;
  unsigned uncaught = 0;
};

// Touched by the machine that switches away from or to the G.
struct Context {
  void* resume = nullptr;  // The stack pointer, as boost::context keeps it.
  ExceptionState exceptions;
  int saved_errno = 0;
  void (*start)(G& g) = nullptr;  // Where a new goroutine begins.
  void* tsan_fiber = nullptr;     // Under ThreadSanitizer.
  void* fake_stack = nullptr;     // Under AddressSanitizer.
  const void* bottom = nullptr;   // Bounds of the stack; g0 learns its own.
  std::size_t size = 0;
};

using AfterSwitch = void (*)(void* argument);

// Makes `g` start in `main` on the stack [bottom, top) when first switched to.
void PrepareContext(G& g, char* bottom, char* top, void (*main)(G& g));

}  // namespace gorge::internal

#endif  // GORGE_CORE_INTERNAL_CONTEXT_SWITCH_H_
