// bench/measure.h -- benchmarks whose bodies run as goroutines.
//
//   void BenchmarkSend(benchmark::State& state) {
//     Measure(state, [&](Count n) { for (Count i = 0; i < n; ++i) ... });
//   }
//   GORGE_BENCHMARK(BenchmarkSend);
//
// Each runs with 1 and with 2 Ps, the argument in its name. Real time divided
// by n is what counts: nanoseconds per operation, as `go test -bench` prints
// them. CPU time is the whole process's.

#ifndef GORGE_BENCH_MEASURE_H_
#define GORGE_BENCH_MEASURE_H_

#include <algorithm>
#include <atomic>
#include <variant>

#include "benchmark/benchmark.h"
#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/wait_group.h"

namespace gorge::bench {

using Count = benchmark::IterationCount;

// What channels that only signal carry.
using Signal = std::monostate;

// Times body(n), n operations, as a goroutine on state.range(0) Ps.
template <class Body>
void Measure(benchmark::State& state, Body body) {
  Shutdown();
  Configure({.max_procs = static_cast<int>(state.range(0))});
  const Chan<Signal> done = MakeChan<Signal>();
  go([&] {
    const Count n = state.max_iterations;
    while (state.KeepRunningBatch(n)) body(n);
    done.Send({});
  });
  done.Recv();
  Shutdown();
}

// One goroutine's part of n operations that several share: they take them in
// batches. Go: testing.PB.
class Share {
 public:
  explicit Share(std::atomic<Count>& left) : left_(left) {}

  // True if there is one more operation to do.
  bool Next() {
    if (mine_ == 0) {
      mine_ = std::clamp<Count>(left_.fetch_sub(kBatch), 0, kBatch);
      if (mine_ == 0) return false;
    }
    --mine_;
    return true;
  }

 private:
  static constexpr Count kBatch = 1000;
  std::atomic<Count>& left_;
  Count mine_ = 0;
};

// Runs body(share) in as many goroutines as there are Ps. Go: RunParallel.
template <class Body>
void InParallel(Count n, Body body) {
  std::atomic<Count> left{n};
  WaitGroup workers;
  for (int i = 0; i < MaxProcs(); ++i) {
    workers.Go([&] {
      Share share(left);
      body(share);
    });
  }
  workers.Wait();
}

// A goroutine that starts the next one and ends, `length` times.
inline void StartChain(Count length, WaitGroup& chain) {
  if (length == 0) return chain.Done();
  go([length, &chain] { StartChain(length - 1, chain); });
}

// Some work outside the library: about 25 ns for 100.
inline void Compute(int amount) {
  int x = 0;
  for (int i = 0; i < amount; ++i) benchmark::DoNotOptimize(x = x * 2 + i);
}

}  // namespace gorge::bench

#define GORGE_BENCHMARK(function) \
  BENCHMARK(function)->Arg(1)->Arg(2)->MeasureProcessCPUTime()->UseRealTime()

#endif  // GORGE_BENCH_MEASURE_H_
