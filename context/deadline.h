// context/deadline.h -- contexts that end by themselves.
//
//   auto [ctx, cancel] = gorge::WithTimeout(parent, absl::Milliseconds(50));
//
// A deadline is a time of day, to be shown and passed on; what is waited for is
// the time left until then, on the monotonic clock. A context never ends before
// its deadline because of it; how much later depends on what else there is to
// run.

#ifndef GORGE_CONTEXT_DEADLINE_H_
#define GORGE_CONTEXT_DEADLINE_H_

#include <chrono>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gorge/context/cancel.h"
#include "gorge/context/handle.h"

namespace gorge {

// Returns a context that ends when `parent` does, at `deadline`, when it is
// cancelled, or when all copies of its CancelFunc are gone. Ended by the
// deadline, its Err is DeadlineExceededError("context deadline exceeded"), and
// so is its Cause. A deadline that is past ends it before this returns. One
// that is later than the parent's changes nothing; an infinite one is none.
//
// Blocks: never.
// Panics: "cannot create context from nil parent".
// Throws: what a ContextInterface above it throws.
// Go:     context.WithDeadline.
Cancelable WithDeadline(const Context& parent, absl::Time deadline);

// The same, but Cause is `cause`, unless that is OK. It is not for a call of
// the CancelFunc. Go: context.WithDeadlineCause.
Cancelable WithDeadlineCause(const Context& parent, absl::Time deadline,
                             absl::Status cause);

// WithDeadline(parent, absl::Now() + timeout). Go: context.WithTimeout.
Cancelable WithTimeout(const Context& parent, absl::Duration timeout);

// WithDeadlineCause(parent, absl::Now() + timeout, cause). Go:
// context.WithTimeoutCause.
Cancelable WithTimeoutCause(const Context& parent, absl::Duration timeout,
                            absl::Status cause);

namespace internal {

// Saturates, as absl::Duration does: no duration overflows.
template <class Rep, class Period>
absl::Duration TimeoutOf(std::chrono::duration<Rep, Period> d) {
  return absl::Seconds(d.count()) * Period::num / Period::den;
}

}  // namespace internal

template <class Rep, class Period>
Cancelable WithTimeout(const Context& parent,
                       std::chrono::duration<Rep, Period> timeout) {
  return WithTimeout(parent, internal::TimeoutOf(timeout));
}
template <class Rep, class Period>
Cancelable WithTimeoutCause(const Context& parent,
                            std::chrono::duration<Rep, Period> timeout,
                            absl::Status cause) {
  return WithTimeoutCause(parent, internal::TimeoutOf(timeout),
                          std::move(cause));
}

}  // namespace gorge

#endif  // GORGE_CONTEXT_DEADLINE_H_
