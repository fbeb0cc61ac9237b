// context/value.h -- values that a context carries.
//
//   inline constexpr gorge::Key<User> kUser("user");  // At namespace scope.
//
//   gorge::Context ctx = gorge::WithValue(parent, kUser, User{"gopher"});
//   const User* user = ctx.Value(kUser);  // Null if there is none.

#ifndef GORGE_CONTEXT_VALUE_H_
#define GORGE_CONTEXT_VALUE_H_

#include <memory>
#include <type_traits>
#include <utility>

#include "gorge/context/handle.h"
#include "gorge/context/internal/node.h"

namespace gorge {

// The key of values of type T. Two keys are different, whatever their names and
// types: they are compared by address, and must outlive the contexts that use
// them. For data of a request that crosses packages; not for optional
// parameters.
template <class T>
class Key {
 public:
  explicit constexpr Key(const char* name) : name_(name) {}
  Key(const Key&) = delete;
  Key& operator=(const Key&) = delete;

  constexpr const char* name() const { return name_; }

 private:
  const char* name_;
};

// Returns a context that has `value` for `key`, and all else from `parent`.
//
// Blocks: never.
// Panics: "cannot create context from nil parent".
// Throws: what moving a T throws.
// Go:     context.WithValue.
template <class T>
[[nodiscard]] Context WithValue(const Context& parent, const Key<T>& key,
                                std::type_identity_t<T> value) {
  return internal::ContextAccess::Make(
      internal::MakeNode<internal::TypedValueNode<T>>(
          internal::ContextAccess::Parent(parent), std::addressof(key),
          key.name(), std::move(value)));
}

}  // namespace gorge

#endif  // GORGE_CONTEXT_VALUE_H_
