// context/internal/node.h -- what every context is behind its handle.
//
// A context is a node that keeps its parent alive: the nodes form a tree whose
// edges point upwards, to the roots Background and TODO, which live for ever.
// Only what can be cancelled also knows some of its children; see
// cancel_node.h.
//
// Always true:
//   (1) Everything here but state_ and references_ is fixed at construction.
//   (2) canceler() is the node that decides whether this one is cancelled: the
//       nearest one, this included, that can be cancelled, is the user's own,
//       or is a root. It is this node or one above it, so it lives as long.
//   (3) What walks up the tree does so in a loop, and so does the destruction
//       of a chain: its length may be millions, and the stack is small.

#ifndef GORGE_CONTEXT_INTERNAL_NODE_H_
#define GORGE_CONTEXT_INTERNAL_NODE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace gorge::internal {

enum class NodeKind : std::uint8_t {
  kBackground,     // A root.
  kTodo,           // The other root.
  kValue,          // ValueNode.
  kWithoutCancel,  // WithoutCancelNode: hides its parent's cancellation.
  kCustom,         // CustomNode: a context of the user's.
  kCancel,         // CancelNode, as kDeadline and kAfterFunc.
  kDeadline,       // DeadlineNode.
  kAfterFunc,      // AfterFuncNode; no handle leads to one.
};

//   kLive --Begin--> kCanceling ------Settle-----> kCanceled
//                        |                             ^
//                   AwaitSettled --> kAwaited --Settle-+
//
// The drawing is of a CancelNode; see cancel_node.h. The others never change:
// roots are live, and of a user's context one has to ask.
enum class NodeState : std::uint8_t {
  kLive,
  kCanceling,
  kAwaited,
  kCanceled,
  kAsk,
};

class CancelNode;

class ContextNode {
 public:
  // A root.
  constexpr explicit ContextNode(NodeKind kind)
      : canceler_(this), kind_(kind) {}
  // For MakeNode.
  ContextNode(NodeKind kind, NodeState state, ContextNode& parent)
      : parent_(&parent),
        canceler_(ChooseCanceler(kind)),
        kind_(kind),
        state_(state) {}
  ContextNode(const ContextNode&) = delete;
  ContextNode& operator=(const ContextNode&) = delete;

  NodeKind kind() const { return kind_; }
  ContextNode* parent() const { return parent_; }
  ContextNode& canceler() const { return *canceler_; }
  bool can_be_canceled() const { return kind_ >= NodeKind::kCancel; }

  // Acquire: pairs with the releases in cancel.cc, so that why the context
  // ended is there to be read.
  NodeState state() const { return state_.load(std::memory_order_acquire); }

  void Ref() {
    // Relaxed: whoever takes a reference has one, or a lock that keeps one.
    if (parent_ != nullptr) references_.fetch_add(1, std::memory_order_relaxed);
  }
  // The same, as long as nobody else knows the node.
  void RefUnshared() {
    references_.store(references_.load(std::memory_order_relaxed) + 1,
                      std::memory_order_relaxed);
  }
  // Gives back a reference; destroys the node with the last one, and then the
  // nodes above it that nothing else keeps.
  void Unref() {
    if (IsLastReference()) Destroy(this);
  }
  // The same, unless it is the last one: then false, and it is kept.
  bool UnrefIfShared() {
    std::uint32_t seen = references_.load(std::memory_order_relaxed);
    while (seen > 1) {
      // Release: pairs with the acquire of who has the last one.
      if (references_.compare_exchange_weak(seen, seen - 1,
                                            std::memory_order_release,
                                            std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

  // The value of the nearest node that has one for the key at this address, or
  // null. Asks users' contexts on the way.
  const void* Find(const void* key);

  // The nearest CancelNode, this included, whose end is that of this context,
  // or null. Asks users' contexts on the way: theirs is the one that they find
  // for kCancelKey, that is, the one they were derived from.
  CancelNode* FindCancelNode();

 protected:
  ~ContextNode() = default;

  // True if the caller's reference is the last one.
  bool IsLastReference() {
    if (parent_ == nullptr) return false;  // A root.
    // Acquire: the uses of those who gave back theirs come before the
    // destruction. Alone, one need not pay for a decrement.
    if (references_.load(std::memory_order_acquire) == 1) return true;
    // Acq_rel: as above, and the caller's uses come before it, too.
    return references_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

 private:
  friend class CancelNode;

  ContextNode* ChooseCanceler(NodeKind kind);
  static void Destroy(ContextNode* node);
  static void Delete(ContextNode* node);

  // Fixed at construction.
  ContextNode* const parent_ = nullptr;  // Null for a root. A reference.
  ContextNode* const canceler_;
  const NodeKind kind_;

  // Changed by CancelNode.
  std::atomic<NodeState> state_{NodeState::kLive};

  std::atomic<std::uint32_t> references_{1};
};

// The roots. Constant-initialised, never destroyed: usable by constructors of
// globals, and after main.
class RootNode final : public ContextNode {
 public:
  using ContextNode::ContextNode;
};
extern constinit RootNode background_node;
extern constinit RootNode todo_node;

static_assert(std::is_trivially_destructible_v<RootNode>);

inline ContextNode* ContextNode::ChooseCanceler(NodeKind kind) {
  if (kind == NodeKind::kValue) return parent_->canceler_;
  if (kind == NodeKind::kWithoutCancel) return &background_node;
  return this;
}

// Makes a node below `parent`, with one reference, which is the caller's.
template <class Node, class... Args>
Node* MakeNode(ContextNode& parent, Args&&... args) {
  Node* node = new Node(parent, std::forward<Args>(args)...);
  parent.Ref();  // Here, since what comes before may throw.
  return node;
}

// A key that no value has: its address finds a CancelNode.
inline constexpr char kCancelKey = 0;

class WithoutCancelNode final : public ContextNode {
 public:
  explicit WithoutCancelNode(ContextNode& parent)
      : ContextNode(NodeKind::kWithoutCancel, NodeState::kLive, parent) {}
};

// A value; the derived class holds it.
class ValueNode : public ContextNode {
 public:
  const void* key() const { return key_; }
  const char* key_name() const { return key_name_; }
  const void* value() const { return value_; }

 protected:
  using Deleter = void (*)(ValueNode*);

  ValueNode(ContextNode& parent, const void* key, const char* key_name,
            const void* value, Deleter deleter)
      : ContextNode(NodeKind::kValue, NodeState::kLive, parent),
        key_(key),
        key_name_(key_name),
        value_(value),
        deleter_(deleter) {}
  ~ValueNode() = default;

 private:
  friend class ContextNode;

  const void* const key_;
  const char* const key_name_;
  const void* const value_;
  const Deleter deleter_;
};

template <class T>
class TypedValueNode final : public ValueNode {
 public:
  TypedValueNode(ContextNode& parent, const void* key, const char* key_name,
                 T&& value)
      : ValueNode(
            parent, key, key_name, std::addressof(value_),
            [](ValueNode* node) { delete static_cast<TypedValueNode*>(node); }),
        value_(std::move(value)) {}

 private:
  const T value_;
};

// A counted reference to a node, or null.
class NodeRef {
 public:
  constexpr NodeRef() = default;
  // Takes over a reference that the caller has.
  explicit NodeRef(ContextNode* node) : node_(node) {}
  // A new one.
  static NodeRef Share(ContextNode& node) {
    node.Ref();
    return NodeRef(&node);
  }
  NodeRef(const NodeRef& other) : node_(other.node_) {
    if (node_ != nullptr) node_->Ref();
  }
  NodeRef(NodeRef&& other) noexcept
      : node_(std::exchange(other.node_, nullptr)) {}
  NodeRef& operator=(NodeRef other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~NodeRef() {
    if (node_ != nullptr) node_->Unref();
  }

  ContextNode* get() const { return node_; }

 private:
  ContextNode* node_ = nullptr;
};

}  // namespace gorge::internal

#endif  // GORGE_CONTEXT_INTERNAL_NODE_H_
