// bench/wait_group_bench.cc -- WaitGroup. Named after the benchmarks of Go that
// measure the same.

#include "gorge/bench/measure.h"

namespace gorge::bench {
namespace {

void BenchmarkWaitGroupUncontended(benchmark::State& state) {
  Measure(state, [](Count n) {
    InParallel(n, [](Share& share) {
      alignas(128) WaitGroup group;
      while (share.Next()) {
        group.Add(1);
        group.Done();
        group.Wait();
      }
    });
  });
}
GORGE_BENCHMARK(BenchmarkWaitGroupUncontended);

void BenchmarkWaitGroupAddDone(benchmark::State& state) {
  Measure(state, [](Count n) {
    WaitGroup group;
    InParallel(n, [&](Share& share) {
      while (share.Next()) {
        group.Add(1);
        group.Done();
      }
    });
  });
}
GORGE_BENCHMARK(BenchmarkWaitGroupAddDone);

void BenchmarkWaitGroupWait(benchmark::State& state) {
  Measure(state, [](Count n) {
    WaitGroup group;
    InParallel(n, [&](Share& share) {
      while (share.Next()) group.Wait();
    });
  });
}
GORGE_BENCHMARK(BenchmarkWaitGroupWait);

// A Wait that has to wait, for a goroutine started for it.
void BenchmarkWaitGroupActuallyWait(benchmark::State& state) {
  Measure(state, [](Count n) {
    InParallel(n, [](Share& share) {
      while (share.Next()) {
        WaitGroup group;
        group.Go([] {});
        group.Wait();
      }
    });
  });
}
GORGE_BENCHMARK(BenchmarkWaitGroupActuallyWait);

}  // namespace
}  // namespace gorge::bench
