// bench/pool_bench.cc -- Pool. Named after the benchmarks of Go that measure
// the same.

#include <array>
#include <utility>

#include "gorge/bench/measure.h"
#include "gorge/sync/pool.h"

namespace gorge::bench {
namespace {

void BenchmarkPool(benchmark::State& state) {
  Measure(state, [](Count n) {
    Pool<int> pool;
    InParallel(n, [&](Share& share) {
      while (share.Next()) {
        const Pooled<int> item = pool.Get();
        benchmark::DoNotOptimize(item.get());
      }
    });
  });
}
GORGE_BENCHMARK(BenchmarkPool);

// A hundred at a time: more than a slot for one.
void BenchmarkPoolOverflow(benchmark::State& state) {
  Measure(state, [](Count n) {
    Pool<int> pool;
    InParallel(n, [&](Share& share) {
      std::array<Pooled<int>, 100> items;
      while (share.Next()) {
        for (Pooled<int>& item : items) item = pool.Get();
        for (Pooled<int>& item : items) item.reset();
      }
    });
  });
}
GORGE_BENCHMARK(BenchmarkPoolOverflow);

// Twelve are taken where ten are given: some are made anew, or stolen.
void BenchmarkPoolStarvation(benchmark::State& state) {
  Measure(state, [](Count n) {
    Pool<int> pool;
    InParallel(n, [&](Share& share) {
      std::array<Pooled<int>, 12> items;
      while (share.Next()) {
        for (Pooled<int>& item : items) item = pool.Get();
        for (std::size_t i = 0; i < 10; ++i) items[i].reset();
        for (std::size_t i = 10; i < 12; ++i) (void)items[i].release();
      }
    });
  });
}
GORGE_BENCHMARK(BenchmarkPoolStarvation);

}  // namespace
}  // namespace gorge::bench
