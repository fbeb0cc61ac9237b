// sync/map.h -- a hash map that many goroutines and threads use at once.
//
//   gorge::Map<std::string, int> ports;
//   ports.Store("http", 80);
//   if (const std::optional<int> port = ports.Load("http")) Use(*port);
//   const auto [port, loaded] = ports.LoadOrStore("https", 443);
//   ports.Range([](const std::string& name, int port) { Print(name, port); });
//
// A key's hash says in which shard it is (internal/map_shards.h): a lock,
// biased towards readers (read_bias.h), and a table (hash_chains.h). Nodes are
// made before the lock is taken and deleted after it is dropped.

#ifndef GORGE_SYNC_MAP_H_
#define GORGE_SYNC_MAP_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "gorge/sync/internal/hash_chains.h"
#include "gorge/sync/internal/map_hash.h"
#include "gorge/sync/internal/map_shards.h"
#include "gorge/sync/rw_mutex.h"

namespace gorge {

// All operations on one key happen in one order, each at a moment between its
// call and its return. Operations on different keys hardly disturb each other,
// and reading what nobody writes scales with the CPUs.
//
// K and V are any types; what an operation needs of them is what it says it
// does, e.g. Load copies a V. Hash and Equal are made anew for each operation.
// By default keys that are strings can be looked up by whatever converts to
// std::string_view; in general by all types that Hash and Equal take, if both
// have a type is_transparent. Other types are converted to K first.
//
// If K's hash or equality, V's equality or a copy of K or V throws, the map is
// as it was. They may block, but must not call the same map: the key's shard
// may be locked. Destructors and the function passed to Range may.
//
// May be destroyed when all calls have returned. Constant-initialisable;
// neither copyable nor movable.
//
// Blocks:   each operation, while a conflicting one on the same shard is at
//           work: the goroutine, never its worker thread; in a plain thread,
//           the thread.
// Ordering: what precedes a Store, LoadOrStore that stores, Swap, Delete, Clear
//           or another operation that changed something happens before the
//           return of each operation on that key that comes later.
// Go:       sync.Map.
template <class K, class V, class Hash = internal::MapHash<K>,
          class Equal = std::equal_to<>>
class Map {
 public:
  constexpr Map() = default;
  Map(const Map&) = delete;
  Map& operator=(const Map&) = delete;

  // Returns a copy of the key's value; nullopt if there is none.
  template <class Key = K>
  [[nodiscard]] std::optional<V> Load(const Key& key) const {
    static_assert(std::is_copy_constructible_v<V>,
                  "Load returns a copy: what cannot be copied is loaded as a "
                  "std::shared_ptr<V>");
    const auto& k = AsKey(key);
    return Look(HashOf(k), k, [](const V* value) {
      return value != nullptr ? std::optional<V>(*value) : std::nullopt;
    });
  }

  // Sets the key's value.
  template <class Key = K>
  void Store(Key&& key, V value) {
    Put(std::forward<Key>(key), std::move(value));
  }

  // Sets the key's value and returns the one before, if there was one.
  template <class Key = K>
  std::optional<V> Swap(Key&& key, V value) {
    return ValueOf(Put(std::forward<Key>(key), std::move(value)));
  }

  struct LoadOrStoreResult {
    V actual;     // The value that was there, or the new one.
    bool loaded;  // It was there.
  };

  // Returns a copy of the key's value; if there is none, sets it to `value` and
  // returns that.
  template <class Key = K>
  LoadOrStoreResult LoadOrStore(Key&& key, V value) {
    if (std::optional<V> there = Load(key)) return {*std::move(there), true};
    NodePtr node = MakeNode(std::forward<Key>(key), std::as_const(value));
    const Writing shard(shards_.Get(node->hash));
    if (const Node* there = shard.table().Find(node->hash, Is(node->key))) {
      return {there->value, true};
    }
    shard.table().Insert(node.get());
    (void)node.release();
    return {std::move(value), false};
  }

  // Removes the key and returns its value, if there was one.
  template <class Key = K>
  std::optional<V> LoadAndDelete(const Key& key) {
    const auto& k = AsKey(key);
    const std::size_t hash = HashOf(k);
    if (!Look(hash, k, kIsThere)) return std::nullopt;
    return ValueOf(Take(hash, k, kIsThere));
  }

  // Removes the key, if it is there.
  template <class Key = K>
  void Delete(const Key& key) {
    const auto& k = AsKey(key);
    Take(HashOf(k), k, kIsThere);
  }

  // Sets the key's value to `desired` if it is `expected`, and returns whether
  // it was. A key that is not there has no value to be expected.
  template <class Key = K>
  bool CompareAndSwap(const Key& key, const V& expected, V desired) {
    const auto& k = AsKey(key);
    if (!Look(HashOf(k), k, IsValue(expected))) return false;
    NodePtr node = MakeNode(key, std::move(desired));
    NodePtr old;  // Deleted when the lock is dropped.
    const Writing shard(shards_.Get(node->hash));
    Node* const there = shard.table().Find(node->hash, Is(node->key));
    if (there == nullptr || !IsValue(expected)(&there->value)) return false;
    shard.table().Replace(there, node.release());
    old.reset(there);
    return true;
  }

  // Removes the key if its value is `expected`, and returns whether it was.
  template <class Key = K>
  bool CompareAndDelete(const Key& key, const V& expected) {
    const auto& k = AsKey(key);
    const std::size_t hash = HashOf(k);
    return Look(hash, k, IsValue(expected)) &&
           Take(hash, k, IsValue(expected)) != nullptr;
  }

  // Calls f(key, value) for each key, in no order, until f returns false; an f
  // that returns nothing is called for all. f may call any method of this map,
  // and nobody waits for it. Each key comes at most once, with a value that it
  // had at some moment since Range was called. Copies a shard at a time.
  template <class F>
  void Range(F&& f) const {
    const Shard* const shards = shards_.All();
    if (shards == nullptr) return;
    std::vector<std::pair<K, V>> copy;
    for (std::size_t i = 0; i < shards_.count(); ++i) {
      CopyTo(copy, shards[i]);
      for (const auto& [key, value] : copy) {
        if constexpr (std::is_void_v<decltype(f(key, value))>) {
          f(key, value);
        } else if (!f(key, value)) {
          return;
        }
      }
      copy.clear();
    }
  }

  // Removes all keys, one shard after the other.
  void Clear() {
    Shard* const shards = shards_.All();
    if (shards == nullptr) return;
    for (std::size_t i = 0; i < shards_.count(); ++i) {
      Node* all = nullptr;
      {
        const Writing shard(shards[i]);
        all = shard.table().TakeAll();
      }
      internal::DeleteNodes(all);
    }
  }

 private:
  using Node = internal::MapNode<K, V>;
  using NodePtr = std::unique_ptr<Node>;
  using Table = internal::HashChains<Node>;

  using Shards = internal::MapShards<RWMutex, Table>;
  using Shard = typename Shards::Shard;
  using Reading = typename Shards::Reading;
  using Writing = typename Shards::Writing;

  // The key as Hash and Equal want it: itself, or converted to a K.
  template <class Key>
  static decltype(auto) AsKey(const Key& key) {
    if constexpr (std::is_same_v<Key, K> || (internal::Transparent<Hash> &&
                                             internal::Transparent<Equal>)) {
      return (key);
    } else {
      return K(key);
    }
  }

  template <class Key>
  static std::size_t HashOf(const Key& key) {
    return internal::MixHash(Hash()(key));
  }

  template <class Key>
  static auto Is(const Key& key) {
    return [&key](const K& other) { return Equal()(other, key); };
  }

  static constexpr auto kIsThere = [](const V* value) {
    return value != nullptr;
  };
  static auto IsValue(const V& expected) {
    return [&expected](const V* value) {
      return value != nullptr && *value == expected;
    };
  }

  template <class Key, class Value>
  static NodePtr MakeNode(Key&& key, Value&& value) {
    auto node = std::make_unique<Node>(std::forward<Key>(key),
                                       std::forward<Value>(value));
    node->hash = HashOf(node->key);
    return node;
  }

  static std::optional<V> ValueOf(NodePtr node) {
    if (node == nullptr) return std::nullopt;
    return std::optional<V>(std::move(node->value));
  }

  // Returns see(value of the key, or null).
  template <class Key, class See>
  auto Look(std::size_t hash, const Key& key, See see) const {
    const Shard* const place = shards_.Find(hash);
    if (place == nullptr) return see(nullptr);
    const Reading shard(*place);
    const Node* const node = shard.table().Find(hash, Is(key));
    return see(node != nullptr ? &node->value : nullptr);
  }

  // Sets the key's value; returns the node of the one before, or null.
  template <class Key>
  NodePtr Put(Key&& key, V&& value) {
    NodePtr node = MakeNode(std::forward<Key>(key), std::move(value));
    NodePtr old;
    const Writing shard(shards_.Get(node->hash));
    if (Node* const there = shard.table().Find(node->hash, Is(node->key))) {
      shard.table().Replace(there, node.release());
      old.reset(there);
    } else {
      shard.table().Insert(node.get());
      (void)node.release();
    }
    return old;
  }

  // Takes out the key's node if condition(its value, or null).
  template <class Key, class Condition>
  NodePtr Take(std::size_t hash, const Key& key, Condition condition) {
    NodePtr old;
    const Writing shard(shards_.Get(hash));
    Node* const there = shard.table().Find(hash, Is(key));
    if (condition(there != nullptr ? &there->value : nullptr)) {
      shard.table().Remove(there);
      old.reset(there);
    }
    return old;
  }

  static void CopyTo(std::vector<std::pair<K, V>>& copy, const Shard& from) {
    const Reading shard(from);
    copy.reserve(shard.table().size());
    shard.table().ForEach(
        [&](const Node* node) { copy.emplace_back(node->key, node->value); });
  }

  Shards shards_;
};

}  // namespace gorge

#endif  // GORGE_SYNC_MAP_H_
