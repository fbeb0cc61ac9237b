// bench/timer_bench.cc -- timers and sleeping. Named after the benchmarks of Go
// that measure the same.

#include <vector>

#include "absl/time/time.h"
#include "gorge/bench/measure.h"
#include "gorge/time/time.h"

namespace gorge::bench {
namespace {

template <class Body>
void InEachP(benchmark::State& state, Body body) {
  Measure(state, [body](Count n) { InParallel(n, body); });
}

void BenchmarkAfter(benchmark::State& state) {
  InEachP(state, [](Share& share) {
    while (share.Next()) {
      static_cast<void>(After(absl::Nanoseconds(1)).Recv());
    }
  });
}
GORGE_BENCHMARK(BenchmarkAfter);

void BenchmarkNewTimerStop(benchmark::State& state) {
  InEachP(state, [](Share& share) {
    while (share.Next()) Timer(absl::Seconds(1)).Stop();
  });
}
GORGE_BENCHMARK(BenchmarkNewTimerStop);

void BenchmarkReset(benchmark::State& state) {
  InEachP(state, [](Share& share) {
    const Timer timer(absl::Hours(1));
    while (share.Next()) timer.Reset(absl::Hours(1));
    timer.Stop();
  });
}
GORGE_BENCHMARK(BenchmarkReset);

void BenchmarkTimerFuncStop(benchmark::State& state) {
  InEachP(state, [](Share& share) {
    while (share.Next()) AfterFunc(absl::Seconds(1), [] {}).Stop();
  });
}
GORGE_BENCHMARK(BenchmarkTimerFuncStop);

void BenchmarkStartStop1000(benchmark::State& state) {
  Measure(state, [](Count n) {
    std::vector<Timer> timers(1000);
    for (Count i = 0; i < n; ++i) {
      for (Timer& timer : timers) timer = AfterFunc(absl::Hours(1), [] {});
      for (const Timer& timer : timers) timer.Stop();
    }
  });
}
GORGE_BENCHMARK(BenchmarkStartStop1000);

void BenchmarkAfterFunc1000(benchmark::State& state) {
  Measure(state, [](Count n) {
    for (Count i = 0; i < n; ++i) {
      WaitGroup all;
      all.Add(1000);
      for (int k = 0; k < 1000; ++k) {
        AfterFunc(absl::ZeroDuration(), [&all] { all.Done(); });
      }
      all.Wait();
    }
  });
}
GORGE_BENCHMARK(BenchmarkAfterFunc1000);

void BenchmarkSleep1000(benchmark::State& state) {
  Measure(state, [](Count n) {
    for (Count i = 0; i < n; ++i) {
      WaitGroup all;
      for (int k = 0; k < 1000; ++k) {
        all.Go([] { Sleep(absl::Nanoseconds(50)); });
      }
      all.Wait();
    }
  });
}
GORGE_BENCHMARK(BenchmarkSleep1000);

}  // namespace
}  // namespace gorge::bench
