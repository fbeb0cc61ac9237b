// bench/map_bench.cc -- Map. Named after the benchmarks of Go that measure the
// same; those of MutexMap are what one would write without it.

#include <atomic>
#include <mutex>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "gorge/bench/measure.h"
#include "gorge/sync/map.h"
#include "gorge/sync/mutex.h"

namespace gorge::bench {
namespace {

using IntMap = Map<int, int>;

// The part of Map that is measured, with a lock around all.
class MutexMap {
 public:
  std::optional<int> Load(int key) {
    const std::lock_guard hold(mutex_);
    const auto it = map_.find(key);
    return it != map_.end() ? std::optional<int>(it->second) : std::nullopt;
  }
  void Store(int key, int value) {
    const std::lock_guard hold(mutex_);
    map_[key] = value;
  }

 private:
  Mutex mutex_;
  absl::flat_hash_map<int, int> map_;
};

// Fills a map by set_up(map), then calls step(map, i) n times in all, each
// worker with an i that counts from a beginning of its own.
template <class M, class SetUp, class Step>
void Bench(benchmark::State& state, SetUp set_up, Step step) {
  M map;
  set_up(map);
  std::atomic<int> begin{0};
  Measure(state, [&](Count n) {
    InParallel(n, [&](Share& share) {
      int i = begin.fetch_add(1 << 20);
      while (share.Next()) step(map, i++);
    });
  });
}

template <class M>
void Fill(M& map, int count) {
  for (int i = 0; i < count; ++i) map.Store(i, i);
  // Twice, as Go's do, so that the map has seen reads.
  for (int i = 0; i < 16 * count; ++i) (void)map.Load(i % count);
}

void BenchmarkMapLoadMostlyHits(benchmark::State& state) {
  Bench<IntMap>(
      state, [](IntMap& m) { Fill(m, 1023); },
      [](IntMap& m, int i) { benchmark::DoNotOptimize(m.Load(i % 1024)); });
}
GORGE_BENCHMARK(BenchmarkMapLoadMostlyHits);

void BenchmarkMutexMapLoadMostlyHits(benchmark::State& state) {
  Bench<MutexMap>(
      state, [](MutexMap& m) { Fill(m, 1023); },
      [](MutexMap& m, int i) { benchmark::DoNotOptimize(m.Load(i % 1024)); });
}
GORGE_BENCHMARK(BenchmarkMutexMapLoadMostlyHits);

void BenchmarkMapLoadMostlyMisses(benchmark::State& state) {
  Bench<IntMap>(
      state, [](IntMap& m) { Fill(m, 1); },
      [](IntMap& m, int i) { benchmark::DoNotOptimize(m.Load(i % 1024)); });
}
GORGE_BENCHMARK(BenchmarkMapLoadMostlyMisses);

// One key: nothing is spread over shards.
void BenchmarkMapLoadCollision(benchmark::State& state) {
  Bench<IntMap>(
      state, [](IntMap& m) { Fill(m, 1); },
      [](IntMap& m, int) { benchmark::DoNotOptimize(m.Load(0)); });
}
GORGE_BENCHMARK(BenchmarkMapLoadCollision);

void BenchmarkMapLoadOrStoreBalanced(benchmark::State& state) {
  Bench<IntMap>(
      state, [](IntMap& m) { Fill(m, 128); },
      [](IntMap& m, int i) {
        const int j = i % 256;
        if (j < 128) {
          benchmark::DoNotOptimize(m.LoadOrStore(j, i));
        } else {
          benchmark::DoNotOptimize(m.LoadOrStore(i, i));
        }
      });
}
GORGE_BENCHMARK(BenchmarkMapLoadOrStoreBalanced);

void BenchmarkMapLoadOrStoreUnique(benchmark::State& state) {
  Bench<IntMap>(
      state, [](IntMap&) {},
      [](IntMap& m, int i) { benchmark::DoNotOptimize(m.LoadOrStore(i, i)); });
}
GORGE_BENCHMARK(BenchmarkMapLoadOrStoreUnique);

void BenchmarkMapLoadOrStoreCollision(benchmark::State& state) {
  Bench<IntMap>(
      state, [](IntMap& m) { Fill(m, 1); },
      [](IntMap& m, int) { benchmark::DoNotOptimize(m.LoadOrStore(0, 0)); });
}
GORGE_BENCHMARK(BenchmarkMapLoadOrStoreCollision);

void BenchmarkMapLoadAndDeleteBalanced(benchmark::State& state) {
  Bench<IntMap>(
      state, [](IntMap& m) { Fill(m, 128); },
      [](IntMap& m, int i) {
        const int j = i % 256;
        benchmark::DoNotOptimize(m.LoadAndDelete(j < 128 ? j : i));
      });
}
GORGE_BENCHMARK(BenchmarkMapLoadAndDeleteBalanced);

void BenchmarkMapLoadAndDeleteUnique(benchmark::State& state) {
  Bench<IntMap>(
      state, [](IntMap&) {},
      [](IntMap& m, int i) { benchmark::DoNotOptimize(m.LoadAndDelete(i)); });
}
GORGE_BENCHMARK(BenchmarkMapLoadAndDeleteUnique);

void BenchmarkMapLoadAndDeleteCollision(benchmark::State& state) {
  Bench<IntMap>(
      state, [](IntMap& m) { Fill(m, 1); },
      [](IntMap& m, int i) {
        if (i % 2 == 0) {
          benchmark::DoNotOptimize(m.LoadAndDelete(0));
        } else {
          m.Store(0, 0);
        }
      });
}
GORGE_BENCHMARK(BenchmarkMapLoadAndDeleteCollision);

void BenchmarkMapRange(benchmark::State& state) {
  Bench<IntMap>(
      state, [](IntMap& m) { Fill(m, 1024); },
      [](IntMap& m, int) {
        m.Range([](int key, int) { benchmark::DoNotOptimize(key); });
      });
}
GORGE_BENCHMARK(BenchmarkMapRange);

// Each worker stores to keys of its own that are there.
void BenchmarkMapStoreDisjoint(benchmark::State& state) {
  Bench<IntMap>(
      state, [](IntMap&) {},
      [](IntMap& m, int i) { m.Store((i & ~0xfffff) | (i % 1024), i); });
}
GORGE_BENCHMARK(BenchmarkMapStoreDisjoint);

void BenchmarkMutexMapStoreDisjoint(benchmark::State& state) {
  Bench<MutexMap>(
      state, [](MutexMap&) {},
      [](MutexMap& m, int i) { m.Store((i & ~0xfffff) | (i % 1024), i); });
}
GORGE_BENCHMARK(BenchmarkMutexMapStoreDisjoint);

// One in a hundred stores, the others load.
void BenchmarkMapReadMostly(benchmark::State& state) {
  Bench<IntMap>(
      state, [](IntMap& m) { Fill(m, 1024); },
      [](IntMap& m, int i) {
        if (i % 100 == 0) {
          m.Store(i % 1024, i);
        } else {
          benchmark::DoNotOptimize(m.Load(i % 1024));
        }
      });
}
GORGE_BENCHMARK(BenchmarkMapReadMostly);

void BenchmarkMutexMapReadMostly(benchmark::State& state) {
  Bench<MutexMap>(
      state, [](MutexMap& m) { Fill(m, 1024); },
      [](MutexMap& m, int i) {
        if (i % 100 == 0) {
          m.Store(i % 1024, i);
        } else {
          benchmark::DoNotOptimize(m.Load(i % 1024));
        }
      });
}
GORGE_BENCHMARK(BenchmarkMutexMapReadMostly);

void BenchmarkMapSwapCollision(benchmark::State& state) {
  Bench<IntMap>(
      state, [](IntMap& m) { Fill(m, 1); },
      [](IntMap& m, int i) { benchmark::DoNotOptimize(m.Swap(0, i)); });
}
GORGE_BENCHMARK(BenchmarkMapSwapCollision);

void BenchmarkMapCompareAndSwapCollision(benchmark::State& state) {
  Bench<IntMap>(
      state, [](IntMap& m) { Fill(m, 1); },
      [](IntMap& m, int) {
        if (m.CompareAndSwap(0, 0, 42)) m.CompareAndSwap(0, 42, 0);
      });
}
GORGE_BENCHMARK(BenchmarkMapCompareAndSwapCollision);

}  // namespace
}  // namespace gorge::bench
