// context/stop_token.h -- contexts and std::stop_token, both ways.

#ifndef GORGE_CONTEXT_STOP_TOKEN_H_
#define GORGE_CONTEXT_STOP_TOKEN_H_

#include <memory>
#include <stop_token>
#include <utility>

#include "gorge/context/cancel.h"
#include "gorge/context/handle.h"
#include "gorge/context/interface.h"

namespace gorge {

// WithCancel(parent), and the context also ends when `token` is stopped: before
// request_stop() returns. If it is stopped already, before this returns.
//
// Blocks: never.
// Panics: "cannot create context from nil parent".
// Throws: as WithCancel.
Cancelable WithStopToken(const Context& parent, std::stop_token token);

// A std::stop_source that a context stops. Copies are the same source. Tokens
// may outlive it, but once no copy is left the context does not stop them.
class [[nodiscard]] StopSource {
 public:
  std::stop_token get_token() const& { return state_->source.get_token(); }
  // The source would be gone before the token is of use.
  std::stop_token get_token() const&& = delete;

  bool stop_requested() const { return state_->source.stop_requested(); }

 private:
  friend StopSource ToStopToken(const Context& ctx);

  struct State {
    State() = default;
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State() { stop(); }

    std::stop_source source;
    StopFunc stop;  // Takes it off the context.
  };

  std::shared_ptr<State> state_ = std::make_shared<State>();
};

// Returns a source of tokens that are stopped when `ctx` ends: by a goroutine,
// that also runs the std::stop_callbacks. They must not block its thread. If
// `ctx` has ended, they are stopped before this returns.
//
//   const gorge::StopSource source = gorge::ToStopToken(ctx);
//   Foreign(source.get_token());
//
// Blocks: never.
// Panics: "cannot create context from nil parent".
StopSource ToStopToken(const Context& ctx);

}  // namespace gorge

#endif  // GORGE_CONTEXT_STOP_TOKEN_H_
