#include "gorge/context/internal/node.h"

#include "gorge/context/internal/cancel_node.h"
#include "gorge/context/internal/custom_node.h"
#include "gorge/context/internal/deadline_node.h"

namespace gorge::internal {

constinit RootNode background_node(NodeKind::kBackground);
constinit RootNode todo_node(NodeKind::kTodo);

// What is destroyed with a node may hold handles to other contexts, and so come
// back here; the chain above the node does not.
void ContextNode::Destroy(ContextNode* node) {
  do {
    ContextNode* parent = node->parent_;
    Delete(node);
    node = parent;
    // Never null: a root has no last reference.
  } while (node != nullptr && node->IsLastReference());
}

void ContextNode::Delete(ContextNode* node) {
  switch (node->kind_) {
    case NodeKind::kBackground:
    case NodeKind::kTodo:
      break;  // Have no last reference.
    case NodeKind::kValue: {
      auto* value = static_cast<ValueNode*>(node);
      value->deleter_(value);
      break;
    }
    case NodeKind::kWithoutCancel:
      delete static_cast<WithoutCancelNode*>(node);
      break;
    case NodeKind::kCustom:
      delete static_cast<CustomNode*>(node);
      break;
    case NodeKind::kCancel:
      delete static_cast<CancelNode*>(node);
      break;
    case NodeKind::kDeadline:
      delete static_cast<DeadlineNode*>(node);
      break;
    case NodeKind::kAfterFunc:
      delete static_cast<AfterFuncNode*>(node);
      break;
  }
}

}  // namespace gorge::internal
