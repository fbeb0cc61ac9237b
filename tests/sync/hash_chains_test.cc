#include "gorge/sync/internal/hash_chains.h"

#include <cstddef>
#include <memory>
#include <set>
#include <utility>

#include "gtest/gtest.h"

namespace gorge::internal {
namespace {

using Node = MapNode<int, int>;

class HashChainsTest : public ::testing::Test {
 protected:
  void Insert(int key) {
    auto node = std::make_unique<Node>(key, -key);
    node->hash = Hash(key);
    chains_.Insert(node.release());
  }
  Node* Find(int key) const {
    return chains_.Find(Hash(key), [&](int k) { return k == key; });
  }
  void Remove(int key) {
    const std::unique_ptr<Node> node(Find(key));
    chains_.Remove(node.get());
    EXPECT_EQ(node->next, nullptr);
  }
  static std::size_t Hash(int key) { return static_cast<std::size_t>(key); }

  HashChains<Node> chains_;
};

TEST_F(HashChainsTest, FindsWhatIsThere) {
  EXPECT_EQ(Find(1), nullptr);
  for (int i = 0; i < 1'000; ++i) Insert(i);
  EXPECT_EQ(chains_.size(), 1'000u);
  for (int i = 0; i < 1'000; ++i) {
    ASSERT_NE(Find(i), nullptr);
    EXPECT_EQ(Find(i)->value, -i);
  }
  for (int i = 0; i < 1'000; i += 2) Remove(i);
  for (int i = 0; i < 1'000; ++i) EXPECT_EQ(Find(i) != nullptr, i % 2 == 1);
}

// As many chains as nodes, more or less, whether it grows or shrinks: the
// memory of many keys comes back when they go.
TEST_F(HashChainsTest, HasChainsForItsNodesAndNotManyMore) {
  constexpr int kNodes = 10'000;
  EXPECT_EQ(chains_.chain_count(), 0u);
  for (int i = 0; i < kNodes; ++i) {
    Insert(i);
    ASSERT_GE(2 * chains_.chain_count(), chains_.size());
    ASSERT_LE(chains_.chain_count(), 16 * chains_.size() + 8);
  }
  for (int i = 0; i < kNodes; ++i) {
    Remove(i);
    ASSERT_GE(2 * chains_.chain_count(), chains_.size());
    ASSERT_LE(chains_.chain_count(), 16 * chains_.size() + 32);
  }
  EXPECT_LE(chains_.chain_count(), 32u);
}

TEST_F(HashChainsTest, ANodeTakesAnothersPlace) {
  for (int i = 0; i < 20; ++i) Insert(i);
  auto node = std::make_unique<Node>(7, 70);
  node->hash = Hash(7);
  const std::unique_ptr<Node> old(Find(7));

  chains_.Replace(old.get(), node.release());

  EXPECT_EQ(old->value, -7);
  EXPECT_EQ(old->next, nullptr);
  EXPECT_EQ(Find(7)->value, 70);
  EXPECT_EQ(chains_.size(), 20u);
  std::set<int> keys;
  chains_.ForEach([&](const Node* n) { keys.insert(n->key); });
  EXPECT_EQ(keys.size(), 20u);
}

TEST_F(HashChainsTest, AllCanBeTakenOut) {
  for (int i = 0; i < 100; ++i) Insert(i);
  int count = 0;
  for (Node* node = chains_.TakeAll(); node != nullptr; ++count) {
    const std::unique_ptr<Node> owner(std::exchange(node, node->next));
  }
  EXPECT_EQ(count, 100);
  EXPECT_EQ(chains_.size(), 0u);
  EXPECT_EQ(Find(5), nullptr);
  Insert(5);
  EXPECT_NE(Find(5), nullptr);
}

}  // namespace
}  // namespace gorge::internal
