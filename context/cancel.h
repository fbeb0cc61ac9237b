// context/cancel.h -- contexts that are cancelled by a call.
//
//   auto [ctx, cancel] = gorge::WithCancel(parent);
//   gorge::go([ctx = ctx] { Work(ctx); });
//   ...
//   cancel();  // Or at the end of the scope.

#ifndef GORGE_CONTEXT_CANCEL_H_
#define GORGE_CONTEXT_CANCEL_H_

#include <utility>

#include "absl/status/status.h"
#include "gorge/context/handle.h"
#include "gorge/context/internal/cancel_node.h"

namespace gorge {

// Cancels a context, once: when it is called, or when its last copy dies, which
// is Go's `defer cancel()`. A context whose CancelFuncs are all gone is thus
// cancelled. Copies may be called at the same time; one object is not for use
// by several threads while one of them assigns to it. Default-constructed, or
// moved from, it does nothing.
//
// Go: CancelFunc, CancelCauseFunc.
class CancelFunc {
 public:
  constexpr CancelFunc() = default;
  CancelFunc(const CancelFunc& other) : node_(other.node_) {
    if (node_ != nullptr) node_->RefCancelFuncs();
  }
  CancelFunc(CancelFunc&& other) noexcept
      : node_(std::exchange(other.node_, nullptr)) {}
  CancelFunc& operator=(CancelFunc other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~CancelFunc() {
    if (node_ != nullptr) node_->UnrefCancelFuncs();
  }

  // Cancels the context and all derived from it, unless it has ended: Err is
  // CancelledError("context canceled"). When it returns, each of them has Err
  // set and Done closed, also if somebody else cancelled them.
  //
  // Blocks: until that is so; never for what AfterFunc was given.
  void operator()() const {
    if (node_ != nullptr) node_->Cancel(internal::Ending::Canceled());
  }
  // The same, and Cause is `cause`; if that is OK, it is what Err is.
  void operator()(absl::Status cause) const {
    if (node_ == nullptr) return;
    node_->Cancel(internal::Ending::Canceled(std::move(cause)));
  }

  // True unless it does nothing.
  explicit operator bool() const { return node_ != nullptr; }

 private:
  friend class internal::ContextAccess;
  // Takes over the reference that the CancelFuncs share.
  explicit CancelFunc(internal::CancelNode* node) : node_(node) {}

  internal::CancelNode* node_ = nullptr;
};

// A context and what cancels it. Dropping it cancels at once: the compiler
// warns.
struct [[nodiscard]] Cancelable {
  Context ctx;
  CancelFunc cancel;
};

// Returns a context that ends when `parent` does, when it is cancelled, or when
// all copies of its CancelFunc are gone.
//
// Blocks: never.
// Panics: "cannot create context from nil parent".
// Throws: what a ContextInterface above it throws.
// Go:     context.WithCancel.
Cancelable WithCancel(const Context& parent);

// The same. Every CancelFunc takes a cause; this name tells the reader that
// this one's is given one: cancel(absl::NotFoundError("...")).
//
// Go: context.WithCancelCause.
inline Cancelable WithCancelCause(const Context& parent) {
  return WithCancel(parent);
}

// Why `ctx` ended: the cause given to the first cancel, of it or of a context
// above it, that ended it; without one, what Err is. OK as long as Err is.
//
// Blocks: never.
// Panics: if `ctx` is nil.
// Go:     context.Cause.
absl::Status Cause(const Context& ctx);

}  // namespace gorge

#endif  // GORGE_CONTEXT_CANCEL_H_
