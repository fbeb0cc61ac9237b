#include "gorge/core/internal/context_switch.h"

#include "gorge/core/internal/check.h"
#include "gorge/core/internal/switch_to.h"

namespace gorge::internal {
namespace {

// The first frame of every goroutine.
void Entry(boost::context::detail::transfer_t transfer) {
  G& self = *static_cast<Departure*>(transfer.data)->to;
  Arrive(transfer);
  self.context.start(self);
  GORGE_CHECK(false, "a goroutine leaves through EndGoroutine");
}

}  // namespace

void PrepareContext(G& g, char* bottom, char* top, void (*main)(G& g)) {
  // make_fcontext stores the FP control words of the caller for the newcomer.
  ClearStickyFpFlags();
  const auto size = static_cast<std::size_t>(top - bottom);
  g.context.resume = boost::context::detail::make_fcontext(top, size, &Entry);
  g.context.start = main;
  g.context.exceptions = {};
  g.context.saved_errno = 0;
  g.context.bottom = bottom;
  g.context.size = size;
  PrepareFiber(g);
}

}  // namespace gorge::internal
