// context/stop_token.cc -- the callback of a std::stop_token cancels a node.
//
// A std::stop_callback is hard to get rid of. Its destructor waits for a
// callback that is running: it blocks the thread, and with it the P that the
// callback may need, if that is a goroutine's and has parked. And a goroutine
// that destroys it from inside its own callback, on another thread than it
// began on, waits for itself. So:
//
//   - the callback claims the link before it does what may park. Then a
//     goroutine that it starts as its last act destroys the std::stop_callback;
//   - the node's canceller claims the link, and destroys it. A callback that
//     comes too late sees that and returns at once.
//
// Nobody destroys it while it is being constructed, which may run the callback:
// of who constructs it and who claims the link, the one who is last does.

#include "gorge/context/stop_token.h"

#include <atomic>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "gorge/context/after_func.h"
#include "gorge/context/cancel.h"
#include "gorge/context/handle.h"
#include "gorge/context/internal/cancel_node.h"
#include "gorge/context/internal/node.h"
#include "gorge/core/go.h"

namespace gorge {
namespace internal {
namespace {

class StopLink : public std::enable_shared_from_this<StopLink> {
 public:
  explicit StopLink(CancelNode& node) : node_(NodeRef::Share(node)) {}

  // Ties the node to the token.
  static void Make(CancelNode& node, std::stop_token token) {
    const auto link = std::make_shared<StopLink>(node);
    link->callback_.emplace(std::move(token), Callback{link.get()});
    // Not if the callback has run meanwhile.
    if (!node.SetDisarm([link] { link->Disarm(); })) link->Disarm();
    if (link->IsLast()) link->callback_.reset();
  }

 private:
  struct Callback {
    StopLink* link;
    void operator()() const { link->Run(); }
  };

  void Run() {
    // Before the claim: those who lose it let go of the link. Until then
    // somebody keeps it, who claims it before he does, and then waits for the
    // callback to return.
    std::shared_ptr<StopLink> self = shared_from_this();
    if (!Claim()) return;
    static_cast<CancelNode*>(node_.get())->Cancel(Ending::Canceled());
    if (!IsLast()) return;
    go({.name = "stop_token"},
       [self = std::move(self)] { self->callback_.reset(); });
  }

  void Disarm() {
    if (Claim() && IsLast()) callback_.reset();
  }

  bool Claim() {
    // Relaxed: only one goes on from here, with what it knew before.
    return !claimed_.exchange(true, std::memory_order_relaxed);
  }

  // True for the second of the two that construct and claim.
  bool IsLast() {
    // Acq_rel: the first one's part comes before what the second does next.
    return parties_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

  const NodeRef node_;
  std::atomic<bool> claimed_{false};
  std::atomic<int> parties_{2};
  std::optional<std::stop_callback<Callback>> callback_;
};

}  // namespace
}  // namespace internal

Cancelable WithStopToken(const Context& parent, std::stop_token token) {
  Cancelable result = WithCancel(parent);
  if (token.stop_requested()) {
    result.cancel();
  } else if (token.stop_possible()) {
    internal::StopLink::Make(static_cast<internal::CancelNode&>(
                                 internal::ContextAccess::Node(result.ctx)),
                             std::move(token));
  }
  return result;
}

StopSource ToStopToken(const Context& ctx) {
  StopSource result;
  if (!ctx.Err().ok()) {
    result.state_->source.request_stop();
  } else {
    result.state_->stop = AfterFunc(
        ctx,
        [source = result.state_->source]() mutable { source.request_stop(); });
  }
  return result;
}

}  // namespace gorge
