// context/internal/custom_node.h -- a context of the user's own in the tree.

#ifndef GORGE_CONTEXT_INTERNAL_CUSTOM_NODE_H_
#define GORGE_CONTEXT_INTERNAL_CUSTOM_NODE_H_

#include <atomic>
#include <memory>
#include <utility>
#include <variant>

#include "gorge/chan/chan.h"
#include "gorge/context/internal/node.h"
#include "gorge/sync/mutex.h"

namespace gorge {
class ContextInterface;
}

namespace gorge::internal {

// Asks the user's context each time, but for Done: that is asked for until it
// is not nil, and then kept, so that it can be handed out by reference.
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

 private:
  const RecvChan<std::monostate>& DoneSlow();

  const std::shared_ptr<ContextInterface> own_;

  Mutex lock_;
  RecvChan<std::monostate> done_;  // Written once, under lock_.
  std::atomic<bool> done_kept_{false};
};

}  // namespace gorge::internal

#endif  // GORGE_CONTEXT_INTERNAL_CUSTOM_NODE_H_
