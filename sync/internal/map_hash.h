// sync/internal/map_hash.h -- how a Map hashes its keys, unless told otherwise.

#ifndef GORGE_SYNC_INTERNAL_MAP_HASH_H_
#define GORGE_SYNC_INTERNAL_MAP_HASH_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "absl/hash/hash.h"
#include "absl/strings/string_view.h"

namespace gorge::internal {

// Abseil's hash, which std types and all with an AbslHashValue have.
template <class K>
struct MapHash : absl::Hash<K> {};

// All strings hash alike, so that a key need not be made to be looked up.
template <class K>
requires std::convertible_to<const K&, std::string_view>
struct MapHash<K> {
  using is_transparent = void;
  std::size_t operator()(std::string_view s) const {
    return absl::Hash<absl::string_view>()({s.data(), s.size()});
  }
};

template <class T>
concept Transparent = requires {
  typename T::is_transparent;
};

// Spreads the hash over all bits: the shard is taken from the upper ones, the
// chain from the lower ones, and a user's hash may be the identity.
inline std::size_t MixHash(std::size_t hash) {
  const std::uint64_t mixed = hash * 0x9e3779b97f4a7c15u;
  return static_cast<std::size_t>(mixed ^ (mixed >> 32));
}

}  // namespace gorge::internal

#endif  // GORGE_SYNC_INTERNAL_MAP_HASH_H_
