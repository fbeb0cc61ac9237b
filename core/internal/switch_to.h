// core/internal/switch_to.h -- from one stack to another on one thread.
//
// SwitchTo suspends the running G and continues another. Nothing that publishes
// the suspended G may happen before its registers are saved, or a second
// thread could run on a stack that is still in use. So what must follow the
// suspension (drop the channel's lock, queue the goroutine that yields, recycle
// the one that ended) is handed across and runs on the far side, on the stack
// switched to. The record of it lies on the suspended stack, which stays put
// until that very work lets it go.
//
// For .cc files only.

#ifndef GORGE_CORE_INTERNAL_SWITCH_TO_H_
#define GORGE_CORE_INTERNAL_SWITCH_TO_H_

#include <boost/context/detail/fcontext.hpp>

#include "gorge/core/internal/annotations.h"
#include "gorge/core/internal/context_switch.h"
#include "gorge/core/internal/goroutine.h"
#include "gorge/core/internal/machine.h"
#include "gorge/core/internal/sanitizer.h"

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace gorge::internal {

// What the suspending side leaves for the far side, on its own stack.
struct Departure {
  G* from;
  G* to;
  AfterSwitch after;
  void* argument;
};

GORGE_ALWAYS_INLINE void ClearStickyFpFlags() {
#if defined(__SSE__)
  constexpr unsigned kSticky = 0x3f;
  const unsigned mxcsr = _mm_getcsr();
  if ((mxcsr & kSticky) != 0) [[unlikely]]
    _mm_setcsr(mxcsr & ~kSticky);
#endif
}

// The far side: first steps on the stack that was switched to.
GORGE_ALWAYS_INLINE void Arrive(boost::context::detail::transfer_t transfer) {
  auto* departure = static_cast<Departure*>(transfer.data);
  G& from = *departure->from;
  from.context.resume = transfer.fctx;
  FinishSwitch(*departure->to, from);
  // Copied: once after() has run, `from` may run elsewhere and the record with
  // it be gone.
  const AfterSwitch after = departure->after;
  void* const argument = departure->argument;
  if (after != nullptr) after(argument);
}

// Suspends `from`, the running G of `machine`, and continues `to` on the same
// thread; there, first of all, calls after(argument) if `after` is not null.
// Returns when somebody switches to `from` again, maybe on another thread.
// `from_dies` says that nobody ever will.
GORGE_ALWAYS_INLINE void SwitchTo(Machine& machine, G& from, G& to,
                                  AfterSwitch after, void* argument,
                                  bool from_dies = false) {
  from.context.exceptions = *machine.exceptions;
  from.context.saved_errno = *machine.errno_slot;
  *machine.exceptions = to.context.exceptions;
  *machine.errno_slot = to.context.saved_errno;
  *machine.self_slot = &to;
  to.machine = &machine;

  ClearStickyFpFlags();
  Departure departure{&from, &to, after, argument};
  StartSwitch(from, to, from_dies);
  Arrive(boost::context::detail::jump_fcontext(to.context.resume, &departure));
}

}  // namespace gorge::internal

#endif  // GORGE_CORE_INTERNAL_SWITCH_TO_H_
