// bench/goroutine_bench.cc -- starting goroutines, yielding, and many of them
// at once. Named after the benchmarks of Go that measure the same.

#include <numeric>
#include <vector>

#include "gorge/bench/measure.h"

namespace gorge::bench {
namespace {

// A chain of goroutines on each P.
void BenchmarkCreateGoroutines(benchmark::State& state) {
  Measure(state, [](Count n) {
    WaitGroup chains;
    for (int p = 0; p < MaxProcs(); ++p) {
      chains.Add(1);
      StartChain(n / MaxProcs(), chains);
    }
    chains.Wait();
  });
}
GORGE_BENCHMARK(BenchmarkCreateGoroutines);

// On every P somebody starts one goroutine after the other and waits for each.
void BenchmarkCreateGoroutinesParallel(benchmark::State& state) {
  Measure(state, [](Count n) {
    InParallel(n, [](Share& share) {
      WaitGroup ended;
      while (share.Next()) {
        ended.Add(1);
        go([&ended] { ended.Done(); });
        ended.Wait();
      }
    });
  });
}
GORGE_BENCHMARK(BenchmarkCreateGoroutinesParallel);

// Four goroutines that capture something, all of them started before they are
// waited for.
void BenchmarkCreateGoroutinesCapture(benchmark::State& state) {
  Measure(state, [](Count n) {
    for (Count i = 0; i < n; ++i) {
      WaitGroup ended;
      ended.Add(4);
      for (int k = 0; k < 4; ++k) {
        go([i, k, &ended] {
          benchmark::DoNotOptimize(i + k);
          ended.Done();
        });
      }
      ended.Wait();
    }
  });
}
GORGE_BENCHMARK(BenchmarkCreateGoroutinesCapture);

// n goroutines started at once.
void BenchmarkCreateGoroutinesBurst(benchmark::State& state) {
  Measure(state, [](Count n) {
    WaitGroup ended;
    for (Count i = 0; i < n; ++i) {
      ended.Add(1);
      go([&ended] { ended.Done(); });
      if (i % 1000 == 999) ended.Wait();
    }
    ended.Wait();
  });
}
GORGE_BENCHMARK(BenchmarkCreateGoroutinesBurst);

// A yield, with a thousand goroutines that do nothing else.
void BenchmarkYieldThousand(benchmark::State& state) {
  Measure(state, [](Count n) {
    constexpr int kGoroutines = 1000;
    WaitGroup all;
    for (int k = 0; k < kGoroutines; ++k) {
      all.Go([n, k] {
        for (Count i = k; i < n; i += kGoroutines) Gosched();
      });
    }
    all.Wait();
  });
}
GORGE_BENCHMARK(BenchmarkYieldThousand);

// There and back between two goroutines, on two channels.
void BenchmarkPingPong(benchmark::State& state) {
  Measure(state, [](Count n) {
    const Chan<int> ping = MakeChan<int>();
    const Chan<int> pong = MakeChan<int>();
    WaitGroup partner;
    partner.Go([=] {
      while (const auto ball = ping.Recv()) pong.Send(*ball);
    });
    for (Count i = 0; i < n; ++i) {
      ping.Send(0);
      pong.Recv();
    }
    ping.Close();
    partner.Wait();
  });
}
GORGE_BENCHMARK(BenchmarkPingPong);

// One step of a token through a ring of goroutines.
void PassAround(benchmark::State& state, int size) {
  Measure(state, [size](Count n) {
    std::vector<Chan<Count>> links;
    for (int i = 0; i < size; ++i) links.push_back(MakeChan<Count>());
    WaitGroup ring;
    for (int i = 0; i < size; ++i) {
      ring.Go([in = links[static_cast<std::size_t>(i)],
               out = links[static_cast<std::size_t>((i + 1) % size)], size] {
        // Once the steps are used up, the token goes round to end everybody.
        for (Count left = 1; left > 0;) {
          left = *in.Recv();
          if (left > 1 - size) out.Send(left - 1);
        }
      });
    }
    links[0].Send(n);
    ring.Wait();
  });
}
void BenchmarkRing10(benchmark::State& state) { PassAround(state, 10); }
void BenchmarkRing100(benchmark::State& state) { PassAround(state, 100); }
void BenchmarkRing1000(benchmark::State& state) { PassAround(state, 1000); }
void BenchmarkRing10000(benchmark::State& state) { PassAround(state, 10'000); }
GORGE_BENCHMARK(BenchmarkRing10);
GORGE_BENCHMARK(BenchmarkRing100);
GORGE_BENCHMARK(BenchmarkRing1000);
GORGE_BENCHMARK(BenchmarkRing10000);

// The sum of `size` numbers by a tree of goroutines, ten below each.
void Skynet(const Chan<long>& result, long first, long size) {
  if (size == 1) return result.Send(first);
  const Chan<long> parts = MakeChan<long>();
  for (long i = 0; i < 10; ++i) {
    go([parts, begin = first + i * (size / 10), size] {
      Skynet(parts, begin, size / 10);
    });
  }
  long sum = 0;
  for (int i = 0; i < 10; ++i) sum += *parts.Recv();
  result.Send(sum);
}

// A whole tree of 100,000 leaves.
void BenchmarkSkynet(benchmark::State& state) {
  Measure(state, [](Count n) {
    for (Count i = 0; i < n; ++i) {
      const Chan<long> result = MakeChan<long>();
      go([result] { Skynet(result, 0, 100'000); });
      benchmark::DoNotOptimize(result.Recv());
    }
  });
}
GORGE_BENCHMARK(BenchmarkSkynet)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gorge::bench
