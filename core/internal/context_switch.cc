#include "gorge/core/internal/context_switch.h"

#include <boost/context/detail/fcontext.hpp>

#include "gorge/core/internal/check.h"
#include "gorge/core/internal/goroutine.h"
#include "gorge/core/internal/machine.h"
#include "gorge/core/internal/sanitizer.h"

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace gorge::internal {
namespace {

namespace fcontext = boost::context::detail;

// What the suspending side leaves for the far side, on its own stack.
struct Departure {
  G* from;
  G* to;
  AfterSwitch after;
  void* argument;
};

inline void ClearStickyFpFlags() {
#if defined(__SSE__)
  constexpr unsigned kSticky = 0x3f;
  const unsigned mxcsr = _mm_getcsr();
  if ((mxcsr & kSticky) != 0) _mm_setcsr(mxcsr & ~kSticky);
#endif
}

// The far side: first steps on the stack that was switched to.
inline void Arrive(fcontext::transfer_t transfer) {
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

// The first frame of every goroutine.
void Entry(fcontext::transfer_t transfer) {
  G& self = *static_cast<Departure*>(transfer.data)->to;
  Arrive(transfer);
  self.context.start(self);
  GORGE_CHECK(false, "a goroutine leaves through Exit");
}

}  // namespace

void SwitchTo(Machine& machine, G& from, G& to, AfterSwitch after,
              void* argument, bool from_dies) {
  from.context.exceptions = *machine.exceptions;
  from.context.saved_errno = *machine.errno_slot;
  *machine.exceptions = to.context.exceptions;
  *machine.errno_slot = to.context.saved_errno;
  *machine.self_slot = &to;
  to.machine = &machine;

  ClearStickyFpFlags();
  Departure departure{&from, &to, after, argument};
  StartSwitch(from, to, from_dies);
  Arrive(fcontext::jump_fcontext(to.context.resume, &departure));
}

void PrepareContext(G& g, char* bottom, char* top, void (*main)(G& g)) {
  // make_fcontext stores the FP control words of the caller for the newcomer.
  ClearStickyFpFlags();
  const auto size = static_cast<std::size_t>(top - bottom);
  g.context.resume = fcontext::make_fcontext(top, size, &Entry);
  g.context.start = main;
  g.context.exceptions = {};
  g.context.saved_errno = 0;
  g.context.bottom = bottom;
  g.context.size = size;
  PrepareFiber(g);
}

}  // namespace gorge::internal
