#include "gorge/context/cancel.h"

#include <atomic>
#include <functional>
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
      if (!node->Begin(ending_, queue_)) {
        others_.PushBack(*node);
      } else if (!IsThroughWith(*node)) {
        ours_.PushBack(*node);
      }
    }
  }

  // Most are leaves of which nothing is left to do, nor to look at again.
  static bool IsThroughWith(CancelNode& node) {
    return node.state() == NodeState::kCanceled && node.LeavesQuietly() &&
           node.UnrefIfShared();
  }

  void AwaitOthers() {
    others_.ForEach([](CancelNode& node) { node.AwaitSettled(); });
  }

  void SettleAll() {
    const auto settle = [](CancelNode& node) {
      // Those without children have settled.
      if (node.state() != NodeState::kCanceled) node.Settle();
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
  DoneChan done;
  bool leaf;
  {
    const std::lock_guard hold(lock_);
    if (state() != NodeState::kLive) return false;
    ending_ = ending;
    leaf = children_.empty();
    found.Append(children_);
    done = std::move(done_or_gate_);
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
  // Acq_rel: what was done below comes before the return of who sees this; and
  // the gate is there if it says so.
  if (state_.exchange(NodeState::kCanceled, std::memory_order_acq_rel) !=
      NodeState::kAwaited) {
    return;
  }
  DoneChan gate;
  {
    const std::lock_guard hold(lock_);
    gate = std::move(done_or_gate_);
  }
  gate.Close();
}

void CancelNode::AwaitSettled() {
  if (state() == NodeState::kCanceled) return;
  DoneChan gate;
  {
    const std::lock_guard hold(lock_);
    if (state() != NodeState::kAwaited) {
      DoneChan made = MakeDoneChan();
      NodeState canceling = NodeState::kCanceling;
      // Release: pairs with Settle's acquire, though the lock says it, too. If
      // it fails, the node has settled. Acquire: as in state().
      if (!state_.compare_exchange_strong(canceling, NodeState::kAwaited,
                                          std::memory_order_acq_rel)) {
        return;
      }
      // Not before: a node that has settled may still have a gate, on which
      // others wait and which Settle comes for under the lock.
      done_or_gate_ = std::move(made);
    }
    gate = done_or_gate_;
  }
  gate.View().Recv();
}

void CancelNode::Leave(Role role) {
  if (kind() == NodeKind::kAfterFunc && role != Role::kStop) {
    static_cast<AfterFuncNode*>(this)->Start();
  }
  if (kind() == NodeKind::kDeadline) {
    static_cast<DeadlineNode*>(this)->StopTimer();
  }
  // Nobody but the canceller touches them now.
  if (ties_ != nullptr && ties_->disarm) {
    std::exchange(ties_->disarm, nullptr)();
  }
  if (ties_ != nullptr && ties_->leave) {
    const std::function<bool()> leave = std::exchange(ties_->leave, nullptr);
    if (role != Role::kWithParent) leave();
  }
  if (linked_ && role != Role::kWithParent && up().RemoveChild(*this)) Unref();
}

CancelNode& CancelNode::up() const {
  return static_cast<CancelNode&>(ties_ != nullptr && ties_->kept.get()
                                      ? *ties_->kept.get()
                                      : parent()->canceler());
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
    const DoneChan done = MakeDoneChan();
    done.Close();
    return done.View();
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
      done_or_gate_ = MakeDoneChan();
      done_view_ = done_or_gate_.View();
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
      linked_ = true;
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
  ContextNode* timed = CancelNode::Timed(node);
  if (timed == nullptr) return absl::InfiniteFuture();
  if (timed->kind() == NodeKind::kDeadline) {
    return static_cast<DeadlineNode*>(timed)->deadline();
  }
  return static_cast<CustomNode*>(timed)->own().Deadline().value_or(
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
      above, internal::NodeKind::kCancel);
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
