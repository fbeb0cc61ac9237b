// bench/basic_bench.cc -- the five things that everything else is made of.

#include "gorge/bench/measure.h"
#include "gorge/select/select.h"

namespace gorge::bench {
namespace {

// A message from one goroutine to another, through a channel without buffer.
void BenchmarkMessage(benchmark::State& state) {
  Measure(state, [](Count n) {
    const Chan<int> c = MakeChan<int>();
    WaitGroup receiver;
    receiver.Go([c] {
      while (c.Recv()) {
      }
    });
    for (Count i = 0; i < n; ++i) c.Send(1);
    c.Close();
    receiver.Wait();
  });
}
GORGE_BENCHMARK(BenchmarkMessage);

// An element into a buffer and out again, by one goroutine.
void BenchmarkBufferedPair(benchmark::State& state) {
  Measure(state, [](Count n) {
    const Chan<int> c = MakeChan<int>(1);
    for (Count i = 0; i < n; ++i) {
      c.Send(1);
      benchmark::DoNotOptimize(*c.Recv());
    }
  });
}
GORGE_BENCHMARK(BenchmarkBufferedPair);

// A goroutine that only starts the next one, from its start to its end.
void BenchmarkGoAndFinish(benchmark::State& state) {
  Measure(state, [](Count n) {
    WaitGroup chain;
    chain.Add(1);
    StartChain(n, chain);
    chain.Wait();
  });
}
GORGE_BENCHMARK(BenchmarkGoAndFinish);

// One of two goroutines that yield to each other.
void BenchmarkYield(benchmark::State& state) {
  Measure(state, [](Count n) {
    WaitGroup both;
    for (int k = 0; k < 2; ++k) {
      both.Go([n, k] {
        for (Count i = k; i < n; i += 2) Gosched();
      });
    }
    both.Wait();
  });
}
GORGE_BENCHMARK(BenchmarkYield);

// A select of two cases of which one, first the one and then the other, can
// proceed at once: its send fills the buffer that its receive empties.
void BenchmarkSelectReady(benchmark::State& state) {
  Measure(state, [](Count n) {
    const Chan<int> full = MakeChan<int>(1);
    const Chan<int> empty = MakeChan<int>(1);
    for (Count i = 0; i < n; ++i) {
      full.Send(1);
      Select(OnRecv(full), OnRecv(empty));
    }
  });
}
GORGE_BENCHMARK(BenchmarkSelectReady);

}  // namespace
}  // namespace gorge::bench
