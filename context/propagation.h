// context/propagation.h -- the time left, for a request to another process.
//
//   request.headers["grpc-timeout"] = gorge::TimeoutHeader(ctx);
//   ...
//   auto bounded = gorge::WithTimeoutHeader(ctx, headers["grpc-timeout"]);
//   if (!bounded.ok()) return bounded.status();
//
// The syntax is that of the header grpc-timeout: at most eight digits and a
// unit, H, M, S, m, u or n: hours, minutes, seconds, milli-, micro-,
// nanoseconds. A time left, unlike a deadline, does not depend on two clocks
// agreeing; what the way takes comes on top.

#ifndef GORGE_CONTEXT_PROPAGATION_H_
#define GORGE_CONTEXT_PROPAGATION_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "gorge/context/cancel.h"
#include "gorge/context/handle.h"

namespace gorge {

// The time that `ctx` has left, in the finest unit that has room for it,
// rounded down: who gets it never waits longer than the caller. "0n" if the
// deadline is past; empty if there is none.
//
// Blocks: never.
std::string TimeoutHeader(const Context& ctx);

// WithTimeout(parent, what `header` says); WithCancel(parent) if it is empty.
// Like that, it never ends later than `parent`. An InvalidArgumentError if it
// is not in the syntax above.
//
// Blocks: never.
// Panics: "cannot create context from nil parent".
absl::StatusOr<Cancelable> WithTimeoutHeader(const Context& parent,
                                             std::string_view header);

}  // namespace gorge

#endif  // GORGE_CONTEXT_PROPAGATION_H_
