#include "gorge/context/cancel.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gorge/chan/chan.h"
#include "gorge/context/handle.h"
#include "gorge/context/interface.h"
#include "gorge/context/internal/cancel_node.h"
#include "gorge/context/internal/custom_node.h"
#include "gorge/context/internal/deadline_node.h"
#include "gorge/context/internal/node.h"

namespace gorge {
namespace internal {

void ChildList::PushBack(CancelNode& node) {
  if (first_ == nullptr) {
    first_ = node.next_ = node.previous_ = &node;
    return;
  }
  CancelNode* last = first_->previous_;
  node.next_ = first_;
  node.previous_ = last;
  last->next_ = first_->previous_ = &node;
}

void ChildList::Remove(CancelNode& node) {
  if (node.next_ == &node) {
    first_ = nullptr;
    return;
  }
  node.previous_->next_ = node.next_;
  node.next_->previous_ = node.previous_;
  if (first_ == &node) first_ = node.next_;
}

CancelNode* ChildList::PopFront() {
  CancelNode* node = first_;
  if (node != nullptr) Remove(*node);
  return node;
}

void ChildList::Append(ChildList& other) {
  if (first_ == nullptr) return std::swap(first_, other.first_);
  CancelNode* second = std::exchange(other.first_, nullptr);
  if (second == nullptr) return;
  CancelNode* last = second->previous_;
  second->previous_ = first_->previous_;
  first_->previous_->next_ = second;
  last->next_ = first_;
  first_->previous_ = last;
}

// One cancel of a node and all below it: steps 2 to 5 of the protocol.
class CancelNode::Sweep {
 public:
  Sweep(CancelNode& root, const Ending& ending)
      : root_(root), ending_(ending) {}

  // False if somebody else is, or was, at the root.
  [[nodiscard]] bool Begin() { return root_.Begin(ending_, queue_); }

  void Finish(Role role) {
    CancelAllBelow();
    AwaitOthers();
    SettleAll();
    root_.Leave(role);
    LetGo();
  }

 private:
  void CancelAllBelow() {
    while (CancelNode* node = queue_.PopFront()) {
      (node->Begin(ending_, queue_) ? ours_ : others_).PushBack(*node);
    }
  }

  void AwaitOthers() {
    others_.ForEach([](CancelNode& node) { node.AwaitSettled(); });
  }

  void SettleAll() {
    const auto settle = [](CancelNode& node) {
      // Those without children have settled.
      if (node.state() == NodeState::kCanceling) node.Settle();
    };
    ours_.ForEach(settle);
    settle(root_);
  }

  void LetGo() {
    while (CancelNode* node = ours_.PopFront()) {
      node->Leave(Role::kWithParent);
      node->Unref();
    }
    while (CancelNode* node = others_.PopFront()) node->Unref();
  }

  CancelNode& root_;
  const Ending& ending_;
  ChildList queue_;   // Taken from their parents, not yet looked at.
  ChildList ours_;    // Begun by us.
  ChildList others_;  // Begun by others, who may still be at it.
};

bool CancelNode::CancelAs(Role role, const Ending& ending) {
  Sweep sweep(*this, ending);
  if (!sweep.Begin()) {
    // A stop only wants to know.
    if (role != Role::kStop) AwaitSettled();
    return false;
  }
  sweep.Finish(role);
  return true;
}

bool CancelNode::Begin(const Ending& ending, ChildList& found) {
  Chan<Signal> done;
  bool leaf;
  {
    const std::lock_guard hold(lock_);
    if (state() != NodeState::kLive) return false;
    ending_ = ending;
    leaf = children_.empty();
    found.Append(children_);
    done = std::move(done_);
    // Release: publishes ending_. A leaf without Done is through with it.
    state_.store(leaf && !done ? NodeState::kCanceled : NodeState::kCanceling,
                 std::memory_order_release);
  }
  if (done) {
    done.Close();
    if (leaf) Settle();
  }
  return true;
}

void CancelNode::Settle() {
  Chan<Signal> gate;
  {
    const std::lock_guard hold(lock_);
    // Release: as in Begin.
    state_.store(NodeState::kCanceled, std::memory_order_release);
    gate = std::move(gate_);
  }
  if (gate) gate.Close();
}

void CancelNode::AwaitSettled() {
  if (state() == NodeState::kCanceled) return;
  Chan<Signal> gate;
  {
    const std::lock_guard hold(lock_);
    if (state() == NodeState::kCanceled) return;
    if (!gate_) gate_ = MakeChan<Signal>();
    gate = gate_;
  }
  gate.Recv();
}

void CancelNode::Leave(Role role) {
  if (kind() == NodeKind::kAfterFunc && role != Role::kStop) {
    static_cast<AfterFuncNode*>(this)->Start();
  }
  if (kind() == NodeKind::kDeadline) {
    static_cast<DeadlineNode*>(this)->StopTimer();
  }
  // Nobody but the canceller touches them now. They may keep up_.
  const std::unique_ptr<Ties> ties = std::move(ties_);
  if (ties != nullptr && ties->disarm) ties->disarm();
  if (role == Role::kWithParent) return;
  if (ties != nullptr && ties->leave) ties->leave();
  if (up_ != nullptr && up_->RemoveChild(*this)) Unref();
}

// False if the list was taken: then the reference is the taker's.
bool CancelNode::RemoveChild(CancelNode& child) {
  const std::lock_guard hold(lock_);
  if (state() != NodeState::kLive) return false;
  children_.Remove(child);
  return true;
}

bool CancelNode::ClosedWhileCanceling() const {
  // Acquire: as in Done. If nobody has asked for it, it cannot be open.
  return !done_made_.load(std::memory_order_acquire) ||
         done_view_.TryRecv().ready;
}

namespace {

const RecvChan<Signal>& ClosedDone() {
  // Never destroyed: contexts are usable after main.
  static const auto& closed = *new RecvChan<Signal>([] {
    const Chan<Signal> channel = MakeChan<Signal>();
    channel.Close();
    return channel;
  }());
  return closed;
}

}  // namespace

bool CancelNode::IsClosedDone(const RecvChan<Signal>& done) {
  return done == ClosedDone();
}

const RecvChan<Signal>& CancelNode::DoneSlow() {
  const std::lock_guard hold(lock_);
  if (!done_made_.load(std::memory_order_relaxed)) {
    if (state() == NodeState::kLive) {
      done_ = MakeChan<Signal>();
      done_view_ = done_;
    } else {
      done_view_ = ClosedDone();
    }
    // Release: publishes done_view_.
    done_made_.store(true, std::memory_order_release);
  }
  return done_view_;
}

void CancelNode::Attach() {
  ContextNode& above = parent()->canceler();
  if (above.can_be_canceled()) {
    AttachTo(static_cast<CancelNode&>(above));
  } else if (above.kind() == NodeKind::kCustom) {
    AttachToCustom(above);
  }
}

void CancelNode::AttachTo(CancelNode& up) {
  RecvChan<Signal> closing;
  {
    const std::lock_guard hold(up.lock_);
    if (up.state() == NodeState::kLive) {
      up_ = &up;
      RefUnshared();  // The list's.
      up.children_.PushBack(*this);
      return;
    }
    if (up.done_made_.load(std::memory_order_relaxed)) closing = up.done_view_;
  }
  // Its canceller is about to close it; no child is done before its parent.
  if (closing) closing.Recv();
  Cancel(up.ending());
}

void CancelNode::Tie(Ties ties) {
  auto tied = std::make_unique<Ties>(std::move(ties));
  const std::lock_guard hold(lock_);
  if (state() == NodeState::kLive) ties_ = std::move(tied);
}

bool CancelNode::SetDisarm(std::function<void()> disarm) {
  auto tied = std::make_unique<Ties>();
  const std::lock_guard hold(lock_);
  if (state() != NodeState::kLive) return false;
  if (ties_ == nullptr) ties_ = std::move(tied);
  ties_->disarm = std::move(disarm);
  return true;
}

absl::Time ContextAccess::DeadlineOf(ContextNode& node) {
  ContextNode& canceler = node.canceler();
  if (canceler.can_be_canceled()) {
    return static_cast<CancelNode&>(canceler).deadline();
  }
  if (canceler.kind() != NodeKind::kCustom) return absl::InfiniteFuture();
  return static_cast<CustomNode&>(canceler).own().Deadline().value_or(
      absl::InfiniteFuture());
}

Cancelable ContextAccess::MakeCancelable(CancelNode* node) {
  node->RefUnshared();
  return {Make(node), CancelFunc(node)};
}

}  // namespace internal

Cancelable WithCancel(const Context& parent) {
  using internal::ContextAccess;
  internal::ContextNode& above = ContextAccess::Parent(parent);
  auto* node = internal::MakeNode<internal::CancelNode>(
      above, internal::NodeKind::kCancel, ContextAccess::DeadlineOf(above));
  Cancelable result = ContextAccess::MakeCancelable(node);
  node->Attach();
  return result;
}

absl::Status Cause(const Context& ctx) {
  internal::CancelNode* node =
      internal::ContextAccess::Node(ctx).FindCancelNode();
  if (node != nullptr && node->ended()) return node->ending().Cause();
  // The user's own context has ended by itself, or nothing has.
  return ctx.Err();
}

}  // namespace gorge
