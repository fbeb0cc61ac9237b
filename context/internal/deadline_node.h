// context/internal/deadline_node.h -- a node that a timer cancels.

#ifndef GORGE_CONTEXT_INTERNAL_DEADLINE_NODE_H_
#define GORGE_CONTEXT_INTERNAL_DEADLINE_NODE_H_

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gorge/context/internal/cancel_node.h"
#include "gorge/context/internal/node.h"
#include "gorge/time/time.h"

namespace gorge::internal {

class DeadlineNode final : public CancelNode {
 public:
  DeadlineNode(ContextNode& parent, absl::Time deadline)
      : CancelNode(parent, NodeKind::kDeadline), deadline_(deadline) {}

  absl::Time deadline() const { return deadline_; }

  // Cancels the node with `cause` when `left` is over. Once, after Attach.
  void StartTimer(absl::Duration left, absl::Status cause);
  // For the canceller.
  void StopTimer();

 private:
  const absl::Time deadline_;

  // Written while live, under lock(); then belongs to the canceller. The
  // timer's function keeps the node, and the node the timer, until then.
  Timer timer_;
  bool started_ = false;
};

}  // namespace gorge::internal

#endif  // GORGE_CONTEXT_INTERNAL_DEADLINE_NODE_H_
