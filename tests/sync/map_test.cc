#include "gorge/sync/map.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/core/internal/random.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/counted.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::internal::Random;
using ::gorge::testing::Counted;
using ::gorge::testing::kKinds;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::gorge::testing::Team;
using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constinit Map<std::string, int> global_map;
static_assert(!std::is_copy_constructible_v<Map<int, int>>);
static_assert(!std::is_move_constructible_v<Map<int, int>>);

// More reads than it takes to bias a shard towards readers.
template <class K, class V>
void ReadOften(const Map<K, V>& map, const K& key) {
  for (int i = 0; i < 5000; ++i) (void)map.Load(key);
}

template <class M>
auto Contents(const M& map) {
  std::vector<std::pair<int, int>> all;
  map.Range([&](int key, int value) { all.emplace_back(key, value); });
  return all;
}

class MapTest : public RuntimeTest {};
GORGE_INSTANTIATE(MapTest);

TEST_P(MapTest, IsEmptyAtFirst) {
  Map<int, int> map;
  EXPECT_EQ(map.Load(1), std::nullopt);
  EXPECT_EQ(map.LoadAndDelete(1), std::nullopt);
  EXPECT_FALSE(map.CompareAndSwap(1, 0, 2));
  EXPECT_FALSE(map.CompareAndDelete(1, 0));
  map.Range([](int, int) { ADD_FAILURE(); });
  map.Clear();
  map.Delete(1);
  EXPECT_EQ(map.Load(1), std::nullopt);
}

TEST_P(MapTest, EachMethodDoesWhatItSays) {
  Map<int, int> map;
  map.Store(1, 10);
  EXPECT_EQ(map.Load(1), 10);
  EXPECT_EQ(map.Swap(1, 11), 10);
  EXPECT_EQ(map.Swap(2, 20), std::nullopt);
  EXPECT_FALSE(map.CompareAndSwap(1, 10, 12));
  EXPECT_TRUE(map.CompareAndSwap(1, 11, 12));
  EXPECT_FALSE(map.CompareAndSwap(3, 0, 12));
  const auto there = map.LoadOrStore(1, 13);
  EXPECT_TRUE(there.loaded);
  EXPECT_EQ(there.actual, 12);
  const auto stored = map.LoadOrStore(3, 30);
  EXPECT_FALSE(stored.loaded);
  EXPECT_EQ(stored.actual, 30);
  EXPECT_THAT(Contents(map),
              UnorderedElementsAre(Pair(1, 12), Pair(2, 20), Pair(3, 30)));
  EXPECT_FALSE(map.CompareAndDelete(1, 13));
  EXPECT_TRUE(map.CompareAndDelete(1, 12));
  EXPECT_EQ(map.LoadAndDelete(2), 20);
  EXPECT_EQ(map.LoadAndDelete(2), std::nullopt);
  map.Delete(2);
  EXPECT_THAT(Contents(map), ElementsAre(Pair(3, 30)));
  map.Clear();
  EXPECT_THAT(Contents(map), ElementsAre());
}

TEST_P(MapTest, StringsAreFoundByWhateverIsLikeAString) {
  global_map.Clear();
  global_map.Store("one", 1);
  global_map.Store(std::string("two"), 2);
  EXPECT_EQ(global_map.Load("two"), 2);
  EXPECT_EQ(global_map.Load(std::string_view("one")), 1);
  EXPECT_EQ(global_map.Load(std::string("one")), 1);
  EXPECT_TRUE(global_map.CompareAndSwap("one", 1, 7));
  EXPECT_EQ(global_map.LoadAndDelete(std::string_view("one")), 7);
  EXPECT_TRUE(global_map.CompareAndDelete("two", 2));
}

TEST_P(MapTest, HoldsWhatCanOnlyBeMoved) {
  Map<int, Counted> map;
  map.Store(1, Counted(10));
  map.Store(2, Counted(20));
  const std::optional<Counted> before = map.Swap(1, Counted(11));
  EXPECT_EQ(before->value(), 10);
  EXPECT_EQ(map.LoadAndDelete(1)->value(), 11);
}

// Deleted keys and values are destroyed at once, not kept for later.
TEST_P(MapTest, WhatIsDeletedIsDestroyed) {
  const int n = Scaled(20'000) + 100;
  Map<int, std::shared_ptr<Counted>> map;
  for (int i = 0; i < n; ++i) map.Store(i, std::make_shared<Counted>(i));
  EXPECT_EQ(Counted::live, n);
  for (int i = 0; i < n / 2; ++i) map.Delete(i);
  EXPECT_EQ(Counted::live, n - n / 2);
  ReadOften(map, n - 1);
  map.Store(n - 1, nullptr);
  EXPECT_EQ(Counted::live, n - n / 2 - 1);
  map.Clear();
  EXPECT_EQ(Counted::live, 0);
}

struct TruncatedHash {
  std::size_t operator()(int key) const { return key & 3; }
};
struct OneHash {
  std::size_t operator()(int) const { return 0; }
};

// A long run of random operations gives what a std::map gives.
template <class Hash>
void CompareWithStdMap() {
  Map<int, int, Hash> map;
  std::map<int, int> model;
  Random random(1);
  const auto find = [&](int key) -> std::optional<int> {
    const auto it = model.find(key);
    return it == model.end() ? std::nullopt : std::optional<int>(it->second);
  };
  for (int i = 0; i < Scaled(30'000) + 1'000; ++i) {
    const int key = static_cast<int>(random.Below(200));
    const int value = static_cast<int>(random.Below(3));
    const std::optional<int> before = find(key);
    const int roll = static_cast<int>(random.Below(1000));
    if (roll < 200) {
      EXPECT_EQ(map.Load(key), before);
    } else if (roll < 400) {
      map.Store(key, value);
      model[key] = value;
    } else if (roll < 500) {
      EXPECT_EQ(map.Swap(key, value), before);
      model[key] = value;
    } else if (roll < 600) {
      const auto [actual, loaded] = map.LoadOrStore(key, value);
      EXPECT_EQ(loaded, before.has_value());
      EXPECT_EQ(actual, before.value_or(value));
      model.emplace(key, value);
    } else if (roll < 700) {
      EXPECT_EQ(map.LoadAndDelete(key), before);
      model.erase(key);
    } else if (roll < 800) {
      EXPECT_EQ(map.CompareAndSwap(key, value, 9), before == value);
      if (before == value) model[key] = 9;
    } else if (roll < 900) {
      EXPECT_EQ(map.CompareAndDelete(key, value), before == value);
      if (before == value) model.erase(key);
    } else if (roll < 998) {
      map.Delete(key);
      model.erase(key);
    } else {
      map.Clear();
      model.clear();
    }
    if (i % 64 == 0) {
      auto contents = Contents(map);
      std::sort(contents.begin(), contents.end());
      EXPECT_TRUE(std::equal(contents.begin(), contents.end(), model.begin(),
                             model.end(), [](const auto& a, const auto& b) {
                               return a.first == b.first &&
                                      a.second == b.second;
                             }));
    }
  }
}

TEST_P(MapTest, MatchesAStdMap) { CompareWithStdMap<internal::MapHash<int>>(); }
TEST_P(MapTest, MatchesAStdMapWhenHashesAreCutShort) {
  CompareWithStdMap<TruncatedHash>();
}
TEST_P(MapTest, MatchesAStdMapWhenAllKeysCollide) {
  CompareWithStdMap<OneHash>();
}

TEST_P(MapTest, RangeStopsWhenItIsTold) {
  Map<int, int> map;
  for (int i = 0; i < 100; ++i) map.Store(i, i);
  int calls = 0;
  map.Range([&](int, int) { return ++calls < 10; });
  EXPECT_EQ(calls, 10);
}

TEST_P(MapTest, TheFunctionOfARangeMayCallTheMap) {
  Map<int, int> map;
  for (int i = 0; i < 30; ++i) map.Store(i, i);
  int outer = 0;
  map.Range([&](int key, int value) {
    ++outer;
    EXPECT_EQ(key, value);
    map.Range([&](int k, int) { map.LoadOrStore(k + 1000, k + 1000); });
    map.Store(key, value);
    map.Delete(key);
    if (key == 7) map.Clear();
    return outer < 60;
  });
  EXPECT_GE(outer, 1);
}

// Range sees every key that is there all the time, each once, with a value that
// it had since Range began.
TEST_P(MapTest, ARangeSeesEachKeyOnceWhileOthersStore) {
  constexpr int kKeys = 100;
  Map<int, int> map;
  for (int key = 0; key < kKeys; ++key) map.Store(key, key);
  std::atomic<bool> done{false};
  Team team;
  for (int t = 0; t < 2; ++t) {
    team.Go(kKinds[t], [&, t] {
      for (int i = 1; !done; ++i) {
        for (int key = t; key < kKeys; key += 2)
          map.Store(key, key + i * kKeys);
        Gosched();
      }
    });
  }
  std::vector<int> last(kKeys, 0);
  for (int i = 0; i < Scaled(300) + 3; ++i) {
    std::set<int> seen;
    map.Range([&](int key, int value) {
      EXPECT_TRUE(seen.insert(key).second);
      EXPECT_EQ(value % kKeys, key);
      EXPECT_GE(value, last[key]);
      last[key] = value;
    });
    EXPECT_EQ(seen.size(), kKeys);
    Gosched();
  }
  done = true;
}

// Of many who add to the same counters by CompareAndSwap none is lost.
TEST_P(MapTest, NoCompareAndSwapIsLost) {
  constexpr int kKeys = 3;
  Map<int, int> map;
  const int n = Scaled(3'000) + 10;
  constexpr int kAdders = 6;
  {
    Team team;
    for (int t = 0; t < kAdders; ++t) {
      team.Go(kKinds[t % 2], [&] {
        for (int i = 0; i < n; ++i) {
          const int key = i % kKeys;
          while (true) {
            const int old = map.LoadOrStore(key, 0).actual;
            if (map.CompareAndSwap(key, old, old + 1)) break;
          }
        }
      });
    }
  }
  int sum = 0;
  map.Range([&](int, int value) { sum += value; });
  EXPECT_EQ(sum, kAdders * n);
}

// Every value that is put in by whichever method comes out exactly once.
TEST_P(MapTest, EachValueComesOutOnce) {
  Map<int, int> map;
  const int n = Scaled(5'000) + 10;
  constexpr int kCallers = 4;
  std::vector<std::atomic<int>> out(kCallers * n + 1);
  const auto came_out = [&](const std::optional<int>& value) {
    if (value) ++out[*value];
  };
  {
    Team team;
    for (int t = 0; t < kCallers; ++t) {
      team.Go(kKinds[t % 2], [&, t] {
        for (int i = 0; i < n; ++i) {
          const int value = t * n + i;
          const int key = i % 2;
          switch (i % 4) {
            case 0:
              came_out(map.Swap(key, value));
              break;
            case 1:
              if (map.LoadOrStore(key, value).loaded) ++out[value];
              break;
            default:
              came_out(map.LoadAndDelete(key));
              ++out[value];
          }
        }
      });
    }
  }
  came_out(map.LoadAndDelete(0));
  came_out(map.LoadAndDelete(1));
  for (int i = 0; i < kCallers * n; ++i) EXPECT_EQ(out[i], 1) << i;
}

// Readers that pass by the lock never see a value half written, nor one that
// was replaced before they began.
TEST_P(MapTest, ReadersSeeWholeAndCurrentValues) {
  Map<int, std::pair<std::string, std::string>> map;
  const auto text = [](int i) {
    return std::to_string(i) + std::string(40, ' ');
  };
  map.Store(1, {text(0), text(0)});
  std::atomic<bool> done{false};
  std::atomic<int> current{0};
  Team team;
  for (int t = 0; t < 4; ++t) {
    team.Go(kKinds[t % 2], [&] {
      while (!done) {
        for (int i = 0; i < 100; ++i) {
          const int at_least = current;
          const auto value = *map.Load(1);
          EXPECT_EQ(value.first, value.second);
          EXPECT_GE(std::stoi(value.first), at_least);
        }
        Gosched();
      }
    });
  }
  for (int i = 1; i <= Scaled(60) + 2; ++i) {
    ReadOften(map, 1);
    map.Store(1, {text(i), text(i)});
    current = i;
    Gosched();
  }
  done = true;
}

TEST_P(MapTest, AMessagePassesThroughADeleteOfNothing) {
  for (int i = 0; i < Scaled(40) + 2; ++i) {
    Map<int, int> map;
    int message = 0;
    std::atomic<bool> sent{false};
    Team team;
    team.Go(kKinds[i % 2], [&] {
      message = 1;
      map.Delete(1);
      sent.store(true, std::memory_order_relaxed);
    });
    team.Go(kKinds[0], [&] {
      while (!sent.load(std::memory_order_relaxed)) Gosched();
      (void)map.Load(1);
      EXPECT_EQ(message, 1);
    });
  }
}

// Clear races with stores; afterwards all is there that was stored later.
TEST_P(MapTest, ClearAndStoreGoTogether) {
  Map<int, int> map;
  {
    Team team;
    for (int t = 0; t < 4; ++t) {
      team.Go(kKinds[t % 2], [&, t] {
        for (int i = 0; i < Scaled(2'000) + 10; ++i) {
          if (t == 0 && i % 16 == 0) map.Clear();
          map.Store(i % 50 + 100 * t, i);
          (void)map.Load(i % 50);
        }
      });
    }
  }
  map.Clear();
  EXPECT_THAT(Contents(map), ElementsAre());
  map.Store(1, 2);
  EXPECT_THAT(Contents(map), ElementsAre(Pair(1, 2)));
}

// A value whose destructor uses the map it was in.
struct Meddler {
  explicit Meddler(Map<int, std::shared_ptr<Meddler>>& m) : map(m) {}
  ~Meddler() {
    (void)map.Load(1);
    map.Store(2, nullptr);
    map.Delete(3);
    ++destroyed;
  }
  Map<int, std::shared_ptr<Meddler>>& map;
  static inline int destroyed = 0;
};

TEST_P(MapTest, DestructorsOfValuesMayCallTheMap) {
  Meddler::destroyed = 0;
  Map<int, std::shared_ptr<Meddler>> map;
  const auto meddler = [&] { return std::make_shared<Meddler>(map); };
  map.Store(1, meddler());
  map.Store(1, meddler());
  EXPECT_EQ(Meddler::destroyed, 1);
  map.Swap(1, meddler());
  EXPECT_EQ(Meddler::destroyed, 2);
  map.CompareAndSwap(1, map.Load(1).value(), meddler());
  EXPECT_EQ(Meddler::destroyed, 3);
  map.Delete(1);
  EXPECT_EQ(Meddler::destroyed, 4);
  map.Store(1, meddler());
  map.LoadAndDelete(1);
  EXPECT_EQ(Meddler::destroyed, 5);
  map.Store(1, meddler());
  map.CompareAndDelete(1, map.Load(1).value());
  EXPECT_EQ(Meddler::destroyed, 6);
  map.Store(1, meddler());
  map.Clear();
  EXPECT_EQ(Meddler::destroyed, 7);
  map.Clear();
}

// Throws when it is hashed, compared or copied and the fuse burns down.
struct Fragile {
  explicit Fragile(int v) : value(v) {}
  Fragile(const Fragile& other) : value(other.value) { Burn(); }
  Fragile(Fragile&&) noexcept = default;
  bool operator==(const Fragile& other) const {
    Burn();
    return value == other.value;
  }
  template <class H>
  friend H AbslHashValue(H h, const Fragile& f) {
    Burn();
    return H::combine(std::move(h), f.value % 2);
  }
  static void Burn() {
    if (fuse > 0 && --fuse == 0) throw std::runtime_error("fragile");
  }
  int value;
  static inline int fuse = 0;
};

TEST_P(MapTest, WhatThrowsLeavesTheMapAsItWas) {
  using M = Map<Fragile, Fragile>;
  const Fragile one(1);
  const Fragile three(3);
  const Fragile five(5);
  const std::vector<void (*)(M&)> calls = {
      [](M& m) { (void)m.Load(Fragile(1)); },
      [](M& m) { m.Store(Fragile(1), Fragile(9)); },
      [](M& m) { m.Store(Fragile(7), Fragile(9)); },
      [](M& m) { m.Swap(Fragile(3), Fragile(9)); },
      [](M& m) { m.LoadOrStore(Fragile(1), Fragile(9)); },
      [](M& m) { m.LoadOrStore(Fragile(7), Fragile(9)); },
      [](M& m) { m.LoadAndDelete(Fragile(7)); },
      [](M& m) { m.Delete(Fragile(7)); },
      [](M& m) { m.CompareAndSwap(Fragile(1), Fragile(10), Fragile(9)); },
      [](M& m) { m.CompareAndDelete(Fragile(3), Fragile(9)); },
      [](M& m) { m.Range([](const Fragile&, const Fragile&) {}); },
  };
  for (std::size_t c = 0; c < calls.size(); ++c) {
    bool threw = true;
    for (int fuse = 1; threw; ++fuse) {
      M map;
      map.Store(one, Fragile(10));
      map.Store(three, Fragile(30));
      map.Store(five, Fragile(50));
      Fragile::fuse = fuse;
      threw = false;
      try {
        calls[c](map);
      } catch (const std::runtime_error&) {
        threw = true;
      }
      Fragile::fuse = 0;
      if (!threw) break;
      EXPECT_EQ(map.Load(one)->value, 10) << c << ", " << fuse;
      EXPECT_EQ(map.Load(three)->value, 30) << c << ", " << fuse;
      EXPECT_EQ(map.Load(five)->value, 50) << c << ", " << fuse;
      EXPECT_FALSE(map.Load(Fragile(7)).has_value());
      map.Store(one, Fragile(11));
      map.Clear();
    }
  }
}

// Parks whoever passes while it is shut.
struct Gate {
  void Pass() {
    if (!shut) return;
    opened.Recv();
    ++passed;
  }
  std::atomic<bool> shut{false};
  std::atomic<int> passed{0};  // When it was shut.
  Chan<int> opened = MakeChan<int>();
};

// A value whose copies pass a gate.
struct Gated {
  explicit Gated(Gate& g) : gate(&g) {}
  Gated(const Gated& other) : gate(other.gate) { gate->Pass(); }
  Gated(Gated&&) noexcept = default;
  Gate* gate;
};

// A reader parks in the middle of Load, holding the lock or past it: a writer
// waits until it has gone.
TEST_P(MapTest, AWriterWaitsForAReaderThatParks) {
  for (const bool biased : {false, true}) {
    Run([&] {
      Gate gate;
      Map<int, Gated> map;
      map.Store(1, Gated(gate));
      if (biased) ReadOften(map, 1);
      gate.shut = true;
      WaitGroup all;
      for (int i = 0; i < 2; ++i) {
        all.Go([&] { EXPECT_TRUE(map.Load(1).has_value()); });
      }
      AwaitParked(2);
      all.Go([&] {
        map.Delete(1);
        EXPECT_EQ(gate.passed, 2);
        EXPECT_FALSE(map.Load(1).has_value());
      });
      AwaitParked(3);
      gate.opened.Close();
      all.Wait();
    });
  }
}

// A goroutine that calls Goexit in the function of a Range leaves nothing
// locked.
TEST_P(MapTest, GoexitMayEndARange) {
  Run([] {
    Map<int, int> map;
    map.Store(1, 1);
    WaitGroup first;
    first.Go([&] { map.Range([](int, int) { Goexit(); }); });
    first.Wait();
    map.Store(1, 2);
    EXPECT_EQ(map.Load(1), 2);
  });
}

}  // namespace
}  // namespace gorge
