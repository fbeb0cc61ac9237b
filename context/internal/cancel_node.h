// context/internal/cancel_node.h -- the part of the tree that can be cancelled.
//
// A CancelNode knows the CancelNodes below it that nothing but it stands above:
// its children, whatever nodes of other kinds lie between. To cancel a node is
// to cancel all below it. The protocol:
//
//   1. Begin: under the node's lock, state_ goes from live to cancelling, why
//      the context ends is written down, and the children are taken. Exactly
//      one caller succeeds, the node's canceller; the first cancel wins.
//   2. The canceller closes Done, if there is one yet. At that moment Err and
//      Cause begin to tell: what makes a waiter return is what makes Err speak,
//      so no one can see the one without the other. If nobody has asked for
//      Done, that moment is the change of the state.
//   3. The canceller does the same for the children taken, their children, and
//      so on, from a queue, parents first: no recursion. A node that another
//      canceller was at before is that one's to finish; ours waits for it.
//   4. Settle: once all below are done, state_ goes to cancelled. A cancel that
//      comes second waits for that in AwaitSettled: under the node's lock, it
//      says so by a state of its own, awaited, and leaves a gate, the only one
//      there will be. Whoever settles the node takes it under the lock. So when
//      a cancel returns, whoever did it, all below the node have Err set and
//      Done closed.
//   5. Only then the rest: the node leaves its parent, stops its timer, starts
//      the goroutines of AfterFunc, and the references to the children go.
//      A leaf with nothing of that to do is let go of as soon as it has ended,
//      unless the reference to it is the last.
//
// Nobody waits for himself. A canceller waits only for cancellers that began
// below the node it began at: one that began above would have come through that
// node, and would own it. And step 5 alone calls what is not ours (the stop
// function of a user's context; the destructor of a value), when nobody waits
// for the canceller any more.
//
// Locking: lock_ of one node at a time, never two; nothing is closed, readied,
// called or destroyed with it held. So there is no order to keep, and
//   - a WithCancel below a node either finds it live and is among the children
//     that its canceller takes, or finds it not live, and cancels the child;
//   - a child that leaves either finds its parent live and is in its list, or
//     not live, and is in the hands of the parent's canceller.
//
// Lifetime: the list of children, or the canceller that took it, owns a
// reference to each. A child owns one to its parent. The cycle ends when either
// is cancelled, and it will be: the last CancelFunc sees to it. (An
// AfterFuncNode ends with its context, or is stopped.)

#ifndef GORGE_CONTEXT_INTERNAL_CANCEL_NODE_H_
#define GORGE_CONTEXT_INTERNAL_CANCEL_NODE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gorge/chan/chan.h"
#include "gorge/chan/done_chan.h"
#include "gorge/context/internal/node.h"
#include "gorge/sync/mutex.h"

namespace gorge::internal {

using Signal = std::monostate;

// Why a context ended.
class Ending {
 public:
  // A context that has not ended.
  Ending() = default;
  // By a call of its CancelFunc, or by its deadline; OK: no cause was given.
  static Ending Canceled(absl::Status cause = absl::OkStatus());
  static Ending DeadlineExceeded(absl::Status cause = absl::OkStatus());
  // By a user's context above it. `error` must live as long as what ends so.
  Ending(const absl::Status& error, absl::Status cause)
      : error_(&error), cause_(std::move(cause)) {}

  // Requires: not default-constructed.
  const absl::Status& Err() const { return *error_; }
  const absl::Status& Cause() const { return cause_.ok() ? *error_ : cause_; }

 private:
  const absl::Status* error_ = nullptr;
  absl::Status cause_;  // OK: the error.
};

// Nodes in a row, linked through themselves, as a ring. A node is in one list
// at most. The lock of the list's owner guards the links.
class ChildList {
 public:
  bool empty() const { return first_ == nullptr; }
  void PushBack(CancelNode& node);
  void Remove(CancelNode& node);
  CancelNode* PopFront();  // Null if there is none.
  // Takes all of `other`, which is empty then.
  void Append(ChildList& other);
  // Calls visit(node) for each; it may not destroy any.
  template <class Visit>
  void ForEach(Visit visit) const;

 private:
  CancelNode* first_ = nullptr;
};

// What only few nodes need.
struct Ties {
  NodeRef kept;  // Whose child this node is, if that is not above it. Fixed.
  std::function<bool()> leave;   // Takes it off the list of a user's context.
  std::function<void()> disarm;  // Takes it off a std::stop_token.
};

class CancelNode : public ContextNode {
 public:
  CancelNode(ContextNode& parent, NodeKind kind)
      : ContextNode(kind, NodeState::kLive, parent),
        timed_(kind == NodeKind::kDeadline ? this : Timed(parent)) {}

  // The node, `node` or above it, that knows when `node` ends by itself: a
  // DeadlineNode or a user's; null if there is none.
  static ContextNode* Timed(ContextNode& node) {
    ContextNode& canceler = node.canceler();
    if (canceler.can_be_canceled()) {
      return static_cast<CancelNode&>(canceler).timed_;
    }
    return canceler.kind() == NodeKind::kCustom ? &canceler : nullptr;
  }

  // Has this node cancelled with the canceller of its parent, and cancels it if
  // that has ended. Once, before anybody else knows the node.
  //
  // Throws: what a user's context throws.
  void Attach();

  // Cancels this node and all below it. Does nothing if that has been done.
  //
  // Blocks: until all below are done, if another one is at it.
  void Cancel(const Ending& ending) { CancelAs(Role::kItself, ending); }
  // The same, for a user's context that calls what its AfterFunc was given: it
  // need not be told that the node leaves.
  void CancelFromParent(const Ending& ending) {
    CancelAs(Role::kWithParent, ending);
  }

  // True once Done, if there is one, is closed.
  bool ended() const {
    const NodeState now = state();
    if (now == NodeState::kCanceled) [[likely]] {
      return true;
    }
    return now != NodeState::kLive && ClosedWhileCanceling();
  }
  // Requires: ended().
  const Ending& ending() const { return ending_; }

  // Made when it is first asked for.
  const RecvChan<Signal>& Done() {
    // Acquire: pairs with the release in DoneSlow.
    return done_made_.load(std::memory_order_acquire) ? done_view_ : DoneSlow();
  }
  // True for the channel that contexts share which ended before anybody asked.
  static bool IsClosedDone(const RecvChan<Signal>& done);

  // Ties the node to something else, unless it is cancelled: then false.
  [[nodiscard]] bool SetDisarm(std::function<void()> disarm);

  // The CancelFuncs there are. The last one cancels, and gives back the
  // reference that they share.
  void RefCancelFuncs() {
    // Relaxed: whoever copies one has one.
    cancel_funcs_.fetch_add(1, std::memory_order_relaxed);
  }
  void UnrefCancelFuncs() {
    // As in IsLastReference.
    if (cancel_funcs_.load(std::memory_order_acquire) != 1 &&
        cancel_funcs_.fetch_sub(1, std::memory_order_acq_rel) != 1) {
      return;
    }
    if (state() != NodeState::kCanceled) Cancel(Ending::Canceled());
    Unref();
  }

 protected:
  // For what a node is cancelled.
  enum class Role : std::uint8_t {
    kItself,      // By a CancelFunc or a timer: it leaves its parent.
    kWithParent,  // Its parent has let it go.
    kStop,        // By a StopFunc: its task is not started.
  };

  ~CancelNode() = default;

  // False if it was cancelled before.
  bool CancelAs(Role role, const Ending& ending);

  // Guards what belongs to the canceller once the node is not live.
  Mutex& lock() { return lock_; }

 private:
  friend class ChildList;
  friend class ContextNode;
  class Sweep;

  // The arrows of the drawing in node.h.
  bool Begin(const Ending& ending, ChildList& found);
  void Settle();

  void AwaitSettled();
  // True if Leave(kWithParent) has nothing to do.
  bool LeavesQuietly() const {
    return kind() == NodeKind::kCancel && ties_ == nullptr;
  }
  void Leave(Role role);
  bool ClosedWhileCanceling() const;
  const RecvChan<Signal>& DoneSlow();

  void AttachTo(CancelNode& up);
  void AttachToCustom(ContextNode& parent);
  bool RemoveChild(CancelNode& child);
  void Tie(Ties ties);

  // The node that keeps this one in its list of children, if linked_.
  CancelNode& up() const;

  // Fixed at construction.
  ContextNode* const timed_;

  std::atomic<std::uint32_t> cancel_funcs_{1};

  bool linked_ = false;  // Fixed by Attach.
  // Under lock_; read without it by Done.
  std::atomic<bool> done_made_{false};

  // Guards what follows, unless it says otherwise. A node has to stay small: up
  // to 120 bytes the allocator is quick.
  Mutex lock_;
  ChildList children_;  // Empty unless live.

  // Guarded by up()'s lock while that is live; then for who took the list.
  CancelNode* next_ = nullptr;
  CancelNode* previous_ = nullptr;

  // Written while live; then belongs to the canceller.
  std::unique_ptr<Ties> ties_;

  // Written by Begin; then fixed.
  Ending ending_;

  // While live, to close it; taken by Begin. Then, if somebody waits for the
  // canceller, the gate that Settle opens.
  DoneChan done_or_gate_;
  RecvChan<Signal> done_view_;  // Fixed once done_made_.
};

static_assert(sizeof(CancelNode) <= 120);

template <class Visit>
void ChildList::ForEach(Visit visit) const {
  CancelNode* node = first_;
  if (node == nullptr) return;
  do {
    visit(*node);
    node = node->next_;
  } while (node != first_);
}

// What AfterFunc was given, and that only a stop or the end can get at.
class AfterFuncNode final : public CancelNode {
 public:
  class Task {
   public:
    Task() = default;
    Task(const Task&) = delete;
    Task& operator=(const Task&) = delete;
    virtual ~Task() = default;
    virtual void Run() = 0;
  };

  AfterFuncNode(ContextNode& parent, std::unique_ptr<Task> task)
      : CancelNode(parent, NodeKind::kAfterFunc), task_(std::move(task)) {}

  // True if that prevents the task from being started.
  bool Stop();
  // Starts it as a goroutine. For the canceller.
  void Start();

 private:
  std::unique_ptr<Task> task_;  // For the canceller.
};

}  // namespace gorge::internal

#endif  // GORGE_CONTEXT_INTERNAL_CANCEL_NODE_H_
