// context/custom.cc -- how the tree deals with contexts of the user's own. None
// of their members is called with a lock held.

#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "gorge/chan/chan.h"
#include "gorge/context/cancel.h"
#include "gorge/context/handle.h"
#include "gorge/context/interface.h"
#include "gorge/context/internal/cancel_node.h"
#include "gorge/context/internal/custom_node.h"
#include "gorge/context/internal/node.h"
#include "gorge/core/go.h"
#include "gorge/select/select.h"

namespace gorge {

std::optional<StopFunc> ContextInterface::AfterFunc(std::function<void()> f) {
  static_cast<void>(f);
  return std::nullopt;
}

namespace internal {
namespace {

// How a user's context ended whose Done is closed.
Ending EndingOf(CustomNode& custom) {
  // Kept by the node, which what ends because of it keeps.
  const absl::Status& error = custom.Err();
  if (error.ok()) {
    return Ending::Canceled(absl::InternalError(
        "context: Done of a ContextInterface is closed, but its Err is OK"));
  }
  CancelNode* inner = custom.FindCancelNode();
  return Ending(error, inner != nullptr && inner->ended()
                           ? inner->ending().Cause()
                           : absl::OkStatus());
}

// The context of ours that a user's context wraps, if it ends when that does.
CancelNode* Wrapped(CustomNode& custom) {
  const RecvChan<Signal>& done = custom.Done();
  // That one is shared by contexts that have nothing to do with each other.
  if (CancelNode::IsClosedDone(done)) return nullptr;
  CancelNode* inner = custom.FindCancelNode();
  return inner != nullptr && inner->Done() == done ? inner : nullptr;
}

}  // namespace

const RecvChan<Signal>& CustomNode::DoneSlow() {
  RecvChan<Signal> done = own_->Done();
  if (!done) return NilDone();
  const std::lock_guard hold(lock_);
  if (!done_kept_.load(std::memory_order_relaxed)) {
    done_ = std::move(done);
    // Release: publishes done_.
    done_kept_.store(true, std::memory_order_release);
  }
  return done_;
}

const absl::Status& CustomNode::ErrSlow() {
  absl::Status error = own_->Err();
  if (error.ok()) return NoError();
  const std::lock_guard hold(lock_);
  if (!error_kept_.load(std::memory_order_relaxed)) {
    error_ = std::move(error);
    // Release: publishes error_.
    error_kept_.store(true, std::memory_order_release);
  }
  return error_;
}

const void* ContextNode::Find(const void* key) {
  if (key == &kCancelKey) return FindCancelNode();
  ContextNode* node = this;
  while (node->parent_ != nullptr) {
    if (node->kind_ == NodeKind::kValue) {
      const auto* value = static_cast<const ValueNode*>(node);
      if (value->key() == key) return value->value();
    } else if (node->kind_ == NodeKind::kCustom) {
      return static_cast<CustomNode*>(node)->own().Value(key);
    }
    node = node->parent_;
  }
  return nullptr;
}

CancelNode* ContextNode::FindCancelNode() {
  if (canceler_->can_be_canceled()) return static_cast<CancelNode*>(canceler_);
  if (canceler_->kind_ != NodeKind::kCustom) return nullptr;
  const void* found =
      static_cast<CustomNode*>(canceler_)->own().Value(&kCancelKey);
  return static_cast<CancelNode*>(const_cast<void*>(found));
}

void CancelNode::AttachToCustom(ContextNode& parent) {
  auto& custom = static_cast<CustomNode&>(parent);
  const RecvChan<Signal> done = custom.Done();
  if (!done) return;
  if (done.TryRecv().ready) return Cancel(EndingOf(custom));

  if (CancelNode* inner = Wrapped(custom)) {
    Tie({.kept = NodeRef::Share(*inner), .leave = {}, .disarm = {}});
    return AttachTo(*inner);
  }

  const NodeRef self = NodeRef::Share(*this);
  const NodeRef above = NodeRef::Share(custom);
  const auto end = [self, above](void (CancelNode::*cancel)(const Ending&)) {
    (static_cast<CancelNode*>(self.get())->*cancel)(
        EndingOf(*static_cast<CustomNode*>(above.get())));
  };
  if (std::optional<StopFunc> stop = custom.own().AfterFunc(
          [end] { end(&CancelNode::CancelFromParent); })) {
    return Tie({.kept = {}, .leave = *std::move(stop), .disarm = {}});
  }

  // Ends when the first of both does.
  go({.name = "context"}, [end, done, self] {
    const std::size_t ended = Select(
        OnRecv(done), OnRecv(static_cast<CancelNode*>(self.get())->Done()));
    if (ended == 0) end(&CancelNode::Cancel);
  });
}

}  // namespace internal
}  // namespace gorge
