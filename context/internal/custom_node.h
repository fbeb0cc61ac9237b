// context/internal/custom_node.h -- a context of the user's own in the tree.

#ifndef GORGE_CONTEXT_INTERNAL_CUSTOM_NODE_H_
#define GORGE_CONTEXT_INTERNAL_CUSTOM_NODE_H_

#include <atomic>
#include <memory>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "gorge/chan/chan.h"
#include "gorge/context/internal/node.h"
#include "gorge/sync/mutex.h"

namespace gorge {
class ContextInterface;
}

namespace gorge::internal {

// Asks the user's context each time, but Done is kept once it is not nil, and
// Err once it is not OK, so that they can be handed out by reference. So they
// never change then, whatever the user's context says later.
class CustomNode final : public ContextNode {
 public:
  // It is no root, and yet nothing is above it: the user's context keeps that.
  CustomNode(ContextNode& background, std::shared_ptr<ContextInterface> own)
      : ContextNode(NodeKind::kCustom, NodeState::kAsk, background),
        own_(std::move(own)) {}

  ContextInterface& own() const { return *own_; }

  const RecvChan<std::monostate>& Done() {
    // Acquire: pairs with the release in DoneSlow.
    return done_kept_.load(std::memory_order_acquire) ? done_ : DoneSlow();
  }
  const absl::Status& Err() {
    // Acquire: pairs with the release in ErrSlow.
    return error_kept_.load(std::memory_order_acquire) ? error_ : ErrSlow();
  }

 private:
  const RecvChan<std::monostate>& DoneSlow();
  const absl::Status& ErrSlow();

  const std::shared_ptr<ContextInterface> own_;

  Mutex lock_;
  // Written once, under lock_.
  RecvChan<std::monostate> done_;
  absl::Status error_;
  std::atomic<bool> done_kept_{false};
  std::atomic<bool> error_kept_{false};
};

}  // namespace gorge::internal

#endif  // GORGE_CONTEXT_INTERNAL_CUSTOM_NODE_H_
