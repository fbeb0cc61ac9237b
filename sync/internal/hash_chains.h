// sync/internal/hash_chains.h -- the hash table of one shard of a Map.
//
// An array of chains of nodes, which their owner allocates and deletes: what is
// done here, under the shard's lock, runs no code of the user's except the
// equality that is passed in. A node's hash is kept in it, so that growing asks
// nobody; its key and value never change, a new value is a new node.
//
// Always true: a node is in the chain of its hash; the array has at least half
// as many chains as there are nodes, unless there was no memory for it, and
// at most 16 times as many, or kFewest.

#ifndef GORGE_SYNC_INTERNAL_HASH_CHAINS_H_
#define GORGE_SYNC_INTERNAL_HASH_CHAINS_H_

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace gorge::internal {

template <class K, class V>
struct MapNode {
  template <class Key, class Value>
  MapNode(Key&& k, Value&& v)
      : key(std::forward<Key>(k)), value(std::forward<Value>(v)) {}

  MapNode* next = nullptr;
  std::size_t hash = 0;  // Set by the owner, before it is in a table.
  const K key;
  V value;
};

// Deletes a list of nodes, linked by `next`. The destructors of the user may do
// what they like, so the caller holds no lock.
template <class Node>
void DeleteNodes(Node* first) {
  while (first != nullptr) {
    const std::unique_ptr<Node> node(std::exchange(first, first->next));
  }
}

template <class Node>
class HashChains {
 public:
  HashChains() = default;
  ~HashChains() { DeleteNodes(TakeAll()); }
  HashChains(const HashChains&) = delete;
  HashChains& operator=(const HashChains&) = delete;

  std::size_t size() const { return size_; }
  std::size_t chain_count() const { return chains_ ? mask_ + 1 : 0; }

  // The node with this hash for which equal(node->key); else null.
  template <class Equal>
  Node* Find(std::size_t hash, Equal equal) const {
    if (size_ == 0) return nullptr;
    Node* node = chains_[hash & mask_];
    while (node != nullptr && (node->hash != hash || !equal(node->key))) {
      node = node->next;
    }
    return node;
  }

  // Adds a node whose key is not there. On an exception it is not added.
  void Insert(Node* node) {
    if (chains_ == nullptr) {
      chains_ = std::make_unique<Node*[]>(kFewest);
      mask_ = kFewest - 1;
    }
    if (size_ > 2 * mask_) Resize(4 * (mask_ + 1));
    Node*& head = chains_[node->hash & mask_];
    node->next = head;
    head = node;
    ++size_;
  }

  // Takes out a node that is there.
  void Remove(Node* node) {
    *LinkTo(node) = node->next;
    node->next = nullptr;
    --size_;
    if (mask_ >= kFewest && size_ < (mask_ + 1) / 16) Resize((mask_ + 1) / 4);
  }

  // Takes out `old` and puts `node`, of the same key, in its place.
  void Replace(Node* old, Node* node) {
    *LinkTo(old) = node;
    node->next = std::exchange(old->next, nullptr);
  }

  // Takes out all nodes, as a list.
  Node* TakeAll() {
    Node* all = nullptr;
    ForEachOf(chains_.get(), mask_, [&](Node* node) {
      node->next = all;
      all = node;
    });
    chains_ = nullptr;
    mask_ = 0;
    size_ = 0;
    return all;
  }

  // Calls f(node) for each. f may change the node's `next`.
  template <class F>
  void ForEach(F f) const {
    ForEachOf(chains_.get(), mask_, f);
  }

 private:
  static constexpr std::size_t kFewest = 8;

  template <class F>
  static void ForEachOf(Node* const* chains, std::size_t mask, F f) {
    if (chains == nullptr) return;
    for (std::size_t i = 0; i <= mask; ++i) {
      for (Node* node = chains[i]; node != nullptr;) {
        f(std::exchange(node, node->next));
      }
    }
  }

  Node** LinkTo(const Node* node) const {
    Node** link = &chains_[node->hash & mask_];
    while (*link != node) link = &(*link)->next;
    return link;
  }

  // Without memory everything stays as it is.
  void Resize(std::size_t count) {
    std::unique_ptr<Node*[]> chains(new (std::nothrow) Node*[count]());
    if (chains == nullptr) return;
    ForEach([&](Node* node) {
      Node*& head = chains[node->hash & (count - 1)];
      node->next = head;
      head = node;
    });
    chains_ = std::move(chains);
    mask_ = count - 1;
  }

  std::unique_ptr<Node*[]> chains_;
  std::size_t mask_ = 0;  // The number of chains, a power of two, less one.
  std::size_t size_ = 0;
};

}  // namespace gorge::internal

#endif  // GORGE_SYNC_INTERNAL_HASH_CHAINS_H_
