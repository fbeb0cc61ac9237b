#include "gorge/context/handle.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gorge/chan/chan.h"
#include "gorge/context/interface.h"
#include "gorge/context/internal/cancel_node.h"
#include "gorge/context/internal/custom_node.h"
#include "gorge/context/internal/deadline_node.h"
#include "gorge/context/internal/node.h"
#include "gorge/core/panic.h"

namespace gorge {
namespace internal {

void RaiseNilContext() { throw Panic("context: use of a nil Context"); }

// What is returned by reference is never destroyed: contexts are usable after
// main.
const absl::Status& NoError() {
  static const auto& ok = *new absl::Status;
  return ok;
}

const RecvChan<std::monostate>& NilDone() {
  static const auto& nil = *new RecvChan<std::monostate>;
  return nil;
}

const absl::Status& ErrOf(ContextNode& canceler) {
  if (canceler.can_be_canceled()) [[likely]] {
    const auto& node = static_cast<const CancelNode&>(canceler);
    return node.ended() ? node.ending().Err() : NoError();
  }
  if (canceler.kind() == NodeKind::kCustom) {
    return static_cast<CustomNode&>(canceler).Err();
  }
  return NoError();
}

const RecvChan<std::monostate>& DoneOf(ContextNode& canceler) {
  if (canceler.can_be_canceled()) [[likely]] {
    return static_cast<CancelNode&>(canceler).Done();
  }
  if (canceler.kind() == NodeKind::kCustom) {
    return static_cast<CustomNode&>(canceler).Done();
  }
  return NilDone();
}

ContextNode& ContextAccess::Parent(const gorge::Context& parent) {
  if (parent.node_.get() == nullptr) {
    throw Panic("cannot create context from nil parent");
  }
  return *parent.node_.get();
}

namespace {

// What a node adds to the name of its parent; for one without, its name.
std::string NameOf(const ContextNode& node) {
  switch (node.kind()) {
    case NodeKind::kBackground:
      return "context.Background";
    case NodeKind::kTodo:
      return "context.TODO";
    case NodeKind::kValue:
      return absl::StrCat(".WithValue(",
                          static_cast<const ValueNode&>(node).key_name(), ")");
    case NodeKind::kWithoutCancel:
      return ".WithoutCancel";
    case NodeKind::kCustom:
      return "custom";
    case NodeKind::kCancel:
      return ".WithCancel";
    case NodeKind::kDeadline: {
      const absl::Time deadline =
          static_cast<const DeadlineNode&>(node).deadline();
      return absl::StrCat(".WithDeadline(", absl::FormatTime(deadline), " [",
                          absl::FormatDuration(deadline - absl::Now()), "])");
    }
    case NodeKind::kAfterFunc:
      return ".AfterFunc";
  }
  return "";
}

}  // namespace
}  // namespace internal

Context::Context(std::shared_ptr<ContextInterface> own)
    : node_(own == nullptr ? nullptr
                           : internal::MakeNode<internal::CustomNode>(
                                 internal::background_node, std::move(own))) {}

std::optional<absl::Time> Context::Deadline() const {
  const absl::Time deadline = internal::ContextAccess::DeadlineOf(node());
  if (deadline == absl::InfiniteFuture()) return std::nullopt;
  return deadline;
}

std::string Context::String() const {
  if (node_.get() == nullptr) return "nil";
  std::vector<std::string> names;
  const internal::ContextNode* node = node_.get();
  while (true) {
    names.push_back(internal::NameOf(*node));
    if (node->kind() == internal::NodeKind::kCustom) break;
    if (node->parent() == nullptr) break;
    node = node->parent();
  }
  std::string all;
  std::for_each(names.rbegin(), names.rend(),
                [&all](const std::string& name) { all += name; });
  return all;
}

bool operator==(const Context& a, const Context& b) {
  const internal::ContextNode* x = a.node_.get();
  const internal::ContextNode* y = b.node_.get();
  if (x == y) return true;
  if (x == nullptr || y == nullptr) return false;
  // Two handles made of the same context of the user's.
  return x->kind() == internal::NodeKind::kCustom &&
         y->kind() == internal::NodeKind::kCustom &&
         &static_cast<const internal::CustomNode*>(x)->own() ==
             &static_cast<const internal::CustomNode*>(y)->own();
}

Context Background() {
  return internal::ContextAccess::Make(&internal::background_node);
}

Context TODO() { return internal::ContextAccess::Make(&internal::todo_node); }

Context WithoutCancel(const Context& parent) {
  return internal::ContextAccess::Make(
      internal::MakeNode<internal::WithoutCancelNode>(
          internal::ContextAccess::Parent(parent)));
}

}  // namespace gorge
