// context/interface.h -- a context of the user's own making.
//
//   class WithLogger : public gorge::ContextInterface {
//    public:
//     std::optional<absl::Time> Deadline() const override {
//       return parent_.Deadline();
//     }
//     ...
//   };
//   gorge::Context ctx = std::make_shared<WithLogger>(parent, logger);
//
// What is derived from such a context ends when its Done is closed, or hands
// out an element. Nobody has to wait for that in a goroutine of its own if
// AfterFunc is offered, or if Done and Value are those of a context of gorge's
// that this one wraps. Otherwise each derived context costs one, until either
// ends.

#ifndef GORGE_CONTEXT_INTERFACE_H_
#define GORGE_CONTEXT_INTERFACE_H_

#include <functional>
#include <optional>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gorge/chan/chan.h"

namespace gorge {

// What AfterFunc returns. Returns true if the call prevents the function from
// being started: at most once, and false when it has been started, or stopped
// before. Never waits for the function. Copyable; dropping it stops nothing.
// Default-constructed, it returns false.
class StopFunc {
 public:
  StopFunc() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): it is what is given.
  StopFunc(std::function<bool()> stop) : stop_(std::move(stop)) {}

  bool operator()() const { return stop_ && stop_(); }

 private:
  std::function<bool()> stop_;
};

// All members may be called by goroutines and threads at the same time, and are
// called without any lock of gorge's held. Go: an implementation of Context.
class ContextInterface {
 public:
  ContextInterface() = default;
  ContextInterface(const ContextInterface&) = delete;
  ContextInterface& operator=(const ContextInterface&) = delete;
  virtual ~ContextInterface() = default;

  // When it ends by itself. Always the same.
  virtual std::optional<absl::Time> Deadline() const = 0;

  // Closed when it ends; nil if it never does. Always the same.
  virtual RecvChan<std::monostate> Done() const = 0;

  // OK before Done is closed, and never after.
  virtual absl::Status Err() const = 0;

  // The value of the key at this address, or null. One who has a context above
  // asks that for what is not its own, with the same address, also of keys it
  // does not know: parent_.Value(key).
  virtual const void* Value(const void* key) const = 0;

  // Calls f() once, from anywhere, when it ends, and at once if it has ended;
  // the StopFunc takes f off again. f does not block. None: not offered.
  virtual std::optional<StopFunc> AfterFunc(std::function<void()> f);
};

}  // namespace gorge

#endif  // GORGE_CONTEXT_INTERFACE_H_
