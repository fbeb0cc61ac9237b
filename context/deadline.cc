#include "gorge/context/deadline.h"

#include <mutex>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gorge/context/cancel.h"
#include "gorge/context/handle.h"
#include "gorge/context/internal/cancel_node.h"
#include "gorge/context/internal/deadline_node.h"
#include "gorge/context/internal/node.h"
#include "gorge/time/time.h"

namespace gorge {
namespace internal {

void DeadlineNode::StartTimer(absl::Duration left, absl::Status cause) {
  if (state() != NodeState::kLive) return;  // With its parent.
  // Armed before the lock is taken: it may go off at once, and wants the lock.
  Timer timer =
      AfterFunc(left, [self = NodeRef::Share(*this), cause = std::move(cause)] {
        static_cast<DeadlineNode*>(self.get())
            ->Cancel(Ending::DeadlineExceeded(cause));
      });
  {
    const std::lock_guard hold(lock());
    if (state() == NodeState::kLive) {
      timer_ = std::move(timer);
      started_ = true;
      return;
    }
  }
  timer.Stop();
}

void DeadlineNode::StopTimer() {
  if (!started_) return;
  const Timer timer = std::move(timer_);
  timer.Stop();
}

namespace {

// `left` is the time until `deadline`, measured a moment ago.
Cancelable EndAt(const gorge::Context& parent, absl::Time deadline,
                 absl::Duration left, absl::Status cause) {
  ContextNode& above = ContextAccess::Parent(parent);
  if (deadline == absl::InfiniteFuture() ||
      ContextAccess::DeadlineOf(above) < deadline) {
    return WithCancel(parent);
  }
  auto* node = MakeNode<DeadlineNode>(above, deadline);
  Cancelable result = ContextAccess::MakeCancelable(node);
  node->Attach();
  if (left <= absl::ZeroDuration()) {
    node->Cancel(Ending::DeadlineExceeded(std::move(cause)));
  } else {
    node->StartTimer(left, std::move(cause));
  }
  return result;
}

}  // namespace
}  // namespace internal

Cancelable WithDeadline(const Context& parent, absl::Time deadline) {
  return WithDeadlineCause(parent, deadline, absl::OkStatus());
}

Cancelable WithDeadlineCause(const Context& parent, absl::Time deadline,
                             absl::Status cause) {
  return internal::EndAt(parent, deadline, deadline - absl::Now(),
                         std::move(cause));
}

Cancelable WithTimeout(const Context& parent, absl::Duration timeout) {
  return WithTimeoutCause(parent, timeout, absl::OkStatus());
}

Cancelable WithTimeoutCause(const Context& parent, absl::Duration timeout,
                            absl::Status cause) {
  return internal::EndAt(parent, absl::Now() + timeout, timeout,
                         std::move(cause));
}

}  // namespace gorge
