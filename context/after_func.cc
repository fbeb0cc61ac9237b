#include "gorge/context/after_func.h"

#include <memory>
#include <utility>

#include "gorge/context/handle.h"
#include "gorge/context/interface.h"
#include "gorge/context/internal/cancel_node.h"
#include "gorge/context/internal/node.h"
#include "gorge/core/go.h"

namespace gorge::internal {

bool AfterFuncNode::Stop() {
  if (!CancelAs(Role::kStop, Ending::Canceled())) return false;
  task_.reset();
  return true;
}

void AfterFuncNode::Start() {
  go([task = std::move(task_)] { task->Run(); });
}

StopFunc AddAfterFunc(const gorge::Context& ctx,
                      std::unique_ptr<AfterFuncNode::Task> task) {
  auto* node =
      MakeNode<AfterFuncNode>(ContextAccess::Parent(ctx), std::move(task));
  const NodeRef self(node);
  node->Attach();
  return StopFunc(
      [self] { return static_cast<AfterFuncNode*>(self.get())->Stop(); });
}

}  // namespace gorge::internal
