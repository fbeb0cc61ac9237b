// context/handle.h -- the handle that is passed down a call tree.

#ifndef GORGE_CONTEXT_HANDLE_H_
#define GORGE_CONTEXT_HANDLE_H_

#include <concepts>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gorge/chan/chan.h"
#include "gorge/context/interface.h"
#include "gorge/context/internal/node.h"

namespace gorge {

template <class T>
class Key;
struct Cancelable;

namespace internal {

class ContextAccess;

[[noreturn]] void RaiseNilContext();
// Both live for ever.
const absl::Status& NoError();
const RecvChan<std::monostate>& NilDone();

const absl::Status& ErrOf(ContextNode& canceler);
const RecvChan<std::monostate>& DoneOf(ContextNode& canceler);

}  // namespace internal

// A deadline, a signal that the work is no longer wanted, and values, for all
// who work on one request. Passed as `const Context& ctx`, the first parameter.
//
// A handle: copying it costs one atomic increment, and the context lives as
// long as a handle to it, or to one derived from it. All members may be called
// by goroutines and threads at the same time. Default-constructed, or moved
// from, it is nil: to use it is a Panic, in a With... function "cannot create
// context from nil parent".
//
// Go: context.Context.
class Context {
 public:
  constexpr Context() = default;
  // Makes a context out of the user's own; nil for null.
  //
  // NOLINTNEXTLINE(google-explicit-constructor): as in Go.
  Context(std::shared_ptr<ContextInterface> own);
  template <std::derived_from<ContextInterface> T>
  // NOLINTNEXTLINE(google-explicit-constructor): as in Go.
  Context(std::shared_ptr<T> own)
      : Context(std::shared_ptr<ContextInterface>(std::move(own))) {}

  // When the context ends by itself; the earliest of its own and its parents'.
  // None for Background. An infinite one is none.
  //
  // Blocks: never.
  std::optional<absl::Time> Deadline() const;

  // A channel that is closed when the context ends; nil if it never can. Always
  // the same one, made when it is first asked for. Nothing is ever sent on it.
  //
  // Of a named handle, a reference that is valid as long as the context is: to
  // select on it costs no copy, that is, no write to what all share. Otherwise
  // the value.
  //
  // Blocks: never.
  const RecvChan<std::monostate>& Done() const& {
    return internal::DoneOf(node().canceler());
  }
  RecvChan<std::monostate> Done() const&& {
    return internal::DoneOf(node().canceler());
  }

  // OK until the context ends; then, for ever, CancelledError("context
  // canceled") or DeadlineExceededError("context deadline exceeded"), or what
  // a ContextInterface above says. Not OK exactly if Done is closed. Like Done,
  // a reference if it can be.
  //
  // Blocks:   never, and takes no lock.
  // Ordering: what precedes the cancel happens before an Err that tells of it.
  const absl::Status& Err() const& {
    return internal::ErrOf(node().canceler());
  }
  absl::Status Err() const&& { return internal::ErrOf(node().canceler()); }

  // The value of `key`, here or in the nearest context above that has one;
  // null if none has. Valid as long as this context is.
  //
  // Blocks: never. Takes time linear in the number of contexts in between.
  template <class T>
  const T* Value(const Key<T>& key) const {
    return static_cast<const T*>(node().Find(std::addressof(key)));
  }
  // The same for the key at this address: for a ContextInterface, that passes
  // on what it is asked for.
  const void* Value(const void* key) const { return node().Find(key); }

  // How it was made, such as "context.Background.WithCancel".
  std::string String() const;
  friend std::ostream& operator<<(std::ostream& out, const Context& ctx) {
    return out << ctx.String();
  }

  // False for nil.
  explicit operator bool() const { return node_.get() != nullptr; }
  // Same context, or both nil.
  friend bool operator==(const Context& a, const Context& b);

 private:
  friend class internal::ContextAccess;
  explicit Context(internal::NodeRef node) : node_(std::move(node)) {}

  internal::ContextNode& node() const {
    if (node_.get() == nullptr) [[unlikely]] {
      internal::RaiseNilContext();
    }
    return *node_.get();
  }

  internal::NodeRef node_;
};

// The root of all contexts: never ends, has no deadline and no values. Usable
// everywhere, by constructors of globals too. Go: context.Background.
Context Background();

// The same, for where it is not clear yet which context to use. Go:
// context.TODO.
Context TODO();

// Returns a context with the values of `parent` that does not end with it: no
// deadline, a nil Done, Err always OK, also if `parent` has ended.
//
// Blocks: never.
// Panics: "cannot create context from nil parent".
// Go:     context.WithoutCancel.
[[nodiscard]] Context WithoutCancel(const Context& parent);

namespace internal {

// The way from a handle to its node and back, for this folder.
class ContextAccess {
 public:
  static gorge::Context Make(ContextNode* node) {
    return gorge::Context(NodeRef(node));
  }
  static ContextNode& Node(const gorge::Context& ctx) { return ctx.node(); }
  // Panics: "cannot create context from nil parent".
  static ContextNode& Parent(const gorge::Context& parent);
  // Infinite: none.
  static absl::Time DeadlineOf(ContextNode& node);
  // Takes over the only reference. What is thrown afterwards cancels it.
  static Cancelable MakeCancelable(CancelNode* node);
};

}  // namespace internal
}  // namespace gorge

#endif  // GORGE_CONTEXT_HANDLE_H_
