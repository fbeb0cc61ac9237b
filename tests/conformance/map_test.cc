// Map with keys of one's own and shared keys, whether hashes are good, cut
// short or all the same; and as a cache. Answers sync/map_test.go and
// internal/sync/hashtriemap_test.go; each case has the name of the test, or the
// subtest, it answers.

#include "gorge/sync/map.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "gorge/core/runtime.h"
#include "gorge/tests/support/counted.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::Counted;
using ::gorge::testing::kKinds;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::gorge::testing::Team;

struct BadHash {
  std::size_t operator()(const std::string&) const { return 0; }
};
struct TruncHash {
  std::size_t operator()(const std::string& key) const {
    return internal::MapHash<std::string>()(key) & 7;
  }
};

constexpr int kKeys = 64;
constexpr int kWorkers = 6;

std::string KeyOf(int i) { return "key " + std::to_string(i); }

class MapConformanceTest : public RuntimeTest {
 protected:
  // Calls body(map) with an empty map of each kind of hash.
  template <class Body>
  static void ForEachHash(const Body& body) {
    Map<std::string, int> good;
    body(good);
    Map<std::string, int, TruncHash> truncated;
    body(truncated);
    Map<std::string, int, BadHash> bad;
    body(bad);
  }

  // Calls body(w) for the workers w, at the same time.
  template <class Body>
  static void AtOnce(const Body& body) {
    Team team;
    for (int w = 0; w < kWorkers; ++w) {
      team.Go(kKinds[w % 3 == 2 ? 1 : 0], [&body, w] {
        for (int i = 0; i < Scaled(20) + 1; ++i) {
          body(w);
          Gosched();
        }
      });
    }
  }

  template <class M>
  static void ExpectEmpty(M& map) {
    map.Range([](const std::string& key, int) { ADD_FAILURE() << key; });
    for (int i = 0; i < kKeys; ++i) EXPECT_FALSE(map.Load(KeyOf(i)));
  }
  template <class M>
  static void Fill(M& map) {
    for (int i = 0; i < kKeys; ++i) map.Store(KeyOf(i), i);
  }
};
GORGE_INSTANTIATE(MapConformanceTest);

// The subtests for a single caller: all keys, then all of them in a Range.
TEST_P(MapConformanceTest, HashTrieMapOneByOne) {
  ForEachHash([](auto& map) {
    Fill(map);
    for (int i = 0; i < kKeys; ++i) {
      const std::string key = KeyOf(i);
      EXPECT_EQ(map.LoadOrStore(key, -1).actual, i);
      EXPECT_EQ(map.Swap(key, i + 1), i);
      EXPECT_FALSE(map.CompareAndSwap(key, i, i + 2));
      EXPECT_TRUE(map.CompareAndSwap(key, i + 1, i + 2));
      EXPECT_FALSE(map.CompareAndDelete(key, i));
      EXPECT_FALSE(map.CompareAndSwap("none", i, i));
      EXPECT_FALSE(map.CompareAndDelete("none", i));
      EXPECT_FALSE(map.LoadAndDelete("none").has_value());
    }
    int seen = 0;
    map.Range([&](const std::string& key, int value) {
      ++seen;
      EXPECT_EQ(key, KeyOf(value - 2));
      EXPECT_TRUE(map.CompareAndSwap(key, value, -value));
      EXPECT_EQ(map.Swap(key, value), -value);
      if (value % 2 == 0) {
        EXPECT_TRUE(map.CompareAndDelete(key, value));
        EXPECT_FALSE(map.CompareAndDelete(key, value));
      } else {
        EXPECT_EQ(map.LoadAndDelete(key), value);
        EXPECT_FALSE(map.LoadAndDelete(key).has_value());
      }
    });
    EXPECT_EQ(seen, kKeys);
    ExpectEmpty(map);
  });
}

// Keys of one's own, between those of others in the same chains: nothing that
// the others do is seen.
TEST_P(MapConformanceTest, ConcurrentUnsharedKeys) {
  ForEachHash([](auto& map) {
    AtOnce([&](int w) {
      for (int i = w; i < kKeys; i += kWorkers) {
        const std::string key = KeyOf(i);
        EXPECT_FALSE(map.Load(key).has_value());
        EXPECT_FALSE(map.CompareAndSwap(key, 0, 1));
        EXPECT_FALSE(map.LoadOrStore(key, i).loaded);
        EXPECT_TRUE(map.LoadOrStore(key, 0).loaded);
        EXPECT_EQ(map.Swap(key, i + 1), i);
        EXPECT_TRUE(map.CompareAndSwap(key, i + 1, i + 2));
        EXPECT_EQ(map.Load(key), i + 2);
      }
      for (int i = w; i < kKeys; i += kWorkers) {
        const std::string key = KeyOf(i);
        if (i % 2 == 0) {
          EXPECT_EQ(map.LoadAndDelete(key), i + 2);
        } else {
          EXPECT_FALSE(map.CompareAndDelete(key, i));
          EXPECT_TRUE(map.CompareAndDelete(key, i + 2));
        }
        EXPECT_FALSE(map.Load(key).has_value());
      }
    });
    ExpectEmpty(map);
  });
}

// Of those who delete the same key one finds it.
TEST_P(MapConformanceTest, ConcurrentSharedKeysDelete) {
  ForEachHash([](auto& map) {
    for (int round = 0; round < Scaled(20) + 1; ++round) {
      Fill(map);
      std::vector<std::atomic<int>> found(kKeys);
      Team team;
      for (int w = 0; w < kWorkers; ++w) {
        team.Go(kKinds[w % 3 == 2 ? 1 : 0], [&, w] {
          for (int i = 0; i < kKeys; ++i) {
            const bool mine = w % 2 == 0
                                  ? map.LoadAndDelete(KeyOf(i)).has_value()
                                  : map.CompareAndDelete(KeyOf(i), i);
            if (mine) ++found[static_cast<std::size_t>(i)];
          }
        });
      }
      team.Wait();
      for (const std::atomic<int>& times : found) EXPECT_EQ(times, 1);
      ExpectEmpty(map);
    }
  });
}

// Of those who store in the same absent key, or swap the same value, one does.
TEST_P(MapConformanceTest, ConcurrentSharedKeysStoreAndSwap) {
  ForEachHash([](auto& map) {
    for (int round = 0; round < Scaled(20) + 1; ++round) {
      std::vector<std::atomic<int>> stored(kKeys);
      std::vector<std::atomic<int>> swapped(kKeys);
      Team team;
      for (int w = 0; w < kWorkers; ++w) {
        team.Go(kKinds[w % 3 == 2 ? 1 : 0], [&] {
          for (int i = 0; i < kKeys; ++i) {
            const auto slot = static_cast<std::size_t>(i);
            if (!map.LoadOrStore(KeyOf(i), i).loaded) ++stored[slot];
            if (map.CompareAndSwap(KeyOf(i), i, -1)) ++swapped[slot];
            EXPECT_EQ(map.Load(KeyOf(i)), -1);
          }
        });
      }
      team.Wait();
      for (std::size_t i = 0; i < kKeys; ++i) {
        EXPECT_EQ(stored[i], 1);
        EXPECT_EQ(swapped[i], 1);
      }
      map.Clear();
      ExpectEmpty(map);
    }
  });
}

// Objects that live as long as somebody uses them.
class Cache {
 public:
  struct Object {
    explicit Object(int its_key) : key(its_key) {}
    const int key;
    Counted counted;
  };
  using Ptr = std::shared_ptr<Object>;

  // The one object of this key that lives, or a new one.
  Ptr Get(int key) {
    const auto made = std::make_shared<Object>(key);
    const auto entry = std::make_shared<std::weak_ptr<Object>>(made);
    while (true) {
      const auto [there, loaded] = map_.LoadOrStore(key, entry);
      if (!loaded) return made;
      if (Ptr object = there->lock()) return object;
      // It is dead: one of those who see that puts a new one there.
      if (map_.CompareAndSwap(key, there, entry)) return made;
    }
  }

 private:
  Map<int, std::shared_ptr<std::weak_ptr<Object>>> map_;
};

// Whoever asks while somebody has the object gets the same: no entry that lives
// is ever replaced.
TEST_P(MapConformanceTest, ConcurrentCache) {
  constexpr int kObjects = 3;
  Cache cache;
  AtOnce([&](int w) {
    for (int i = 0; i < 20; ++i) {
      const int key = (w + i) % kObjects;
      const Cache::Ptr object = cache.Get(key);
      EXPECT_EQ(object->key, key);
      if (i % 4 == 0) Gosched();
      EXPECT_EQ(cache.Get(key), object);
    }
  });
  EXPECT_EQ(Counted::live, 0);
}

}  // namespace
}  // namespace gorge
