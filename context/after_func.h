// context/after_func.h -- what is to be done when a context ends.
//
//   const gorge::StopFunc stop =
//       gorge::AfterFunc(ctx, [connection] { connection->Close(); });
//   ...
//   if (!stop()) ...  // It has been started.

#ifndef GORGE_CONTEXT_AFTER_FUNC_H_
#define GORGE_CONTEXT_AFTER_FUNC_H_

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "gorge/context/handle.h"
#include "gorge/context/interface.h"
#include "gorge/context/internal/cancel_node.h"
#include "gorge/core/panic.h"

namespace gorge {
namespace internal {

template <class F>
class TaskOf final : public AfterFuncNode::Task {
 public:
  explicit TaskOf(F&& f) : f_(std::move(f)) {}
  void Run() override { std::invoke(std::move(f_)); }

 private:
  F f_;
};

StopFunc AddAfterFunc(const gorge::Context& ctx,
                      std::unique_ptr<AfterFuncNode::Task> task);

}  // namespace internal

// Calls f() in a goroutine of its own when `ctx` ends; at once if it has ended.
// If it never does, f is destroyed with the last StopFunc and the context.
//
// What cancels the context starts the goroutine and does not wait for it. Nor
// does the StopFunc; one that must know that f has returned has to have f tell.
//
// Blocks: never.
// Panics: "go of nil func value"; "cannot create context from nil parent".
// Throws: what moving f throws.
// Go:     context.AfterFunc.
template <class F>
requires(std::is_invocable_v<F>) StopFunc AfterFunc(const Context& ctx, F f) {
  if constexpr (!std::is_empty_v<F> && requires { f == nullptr; }) {
    if (f == nullptr) throw Panic("go of nil func value");
  }
  return internal::AddAfterFunc(
      ctx, std::make_unique<internal::TaskOf<F>>(std::move(f)));
}

}  // namespace gorge

#endif  // GORGE_CONTEXT_AFTER_FUNC_H_
