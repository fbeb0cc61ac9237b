// chan/internal/element.h -- what the untyped channel must know of T.

#ifndef GORGE_CHAN_INTERNAL_ELEMENT_H_
#define GORGE_CHAN_INTERNAL_ELEMENT_H_

#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

namespace gorge::internal {

// The operations run under the channel's lock, and with a select's other locks
// held: T's move constructor and destructor must not use a channel that the
// operation uses. They cannot throw.
struct ElementType {
  std::size_t size;  // Zero if T is empty: no storage.
  std::size_t align;
  // Makes a T at `raw`, out of the T at `from`, which stays to be destroyed.
  void (*construct)(void* raw, void* from);
  // Fills the optional<T> at `slot` out of the T at `from`.
  void (*emplace)(void* slot, void* from);
  void (*destroy)(void* element);
};

template <class T>
inline constexpr ElementType kElementType = {
    .size = std::is_empty_v<T> ? 0 : sizeof(T),
    .align = alignof(T),
    .construct =
        [](void* raw, void* from) {
          ::new (raw) T(std::move(*static_cast<T*>(from)));
        },
    .emplace =
        [](void* slot, void* from) {
          static_cast<std::optional<T>*>(slot)->emplace(
              std::move(*static_cast<T*>(from)));
        },
    .destroy = [](void* element) { std::destroy_at(static_cast<T*>(element)); },
};

}  // namespace gorge::internal

#endif  // GORGE_CHAN_INTERNAL_ELEMENT_H_
