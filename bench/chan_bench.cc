// bench/chan_bench.cc -- channels. Named after the benchmarks of Go that
// measure the same.

#include <array>
#include <atomic>
#include <vector>

#include "gorge/bench/measure.h"
#include "gorge/select/select.h"

namespace gorge::bench {
namespace {

template <class T>
void MakeAndDrop(benchmark::State& state) {
  Measure(state, [](Count n) {
    for (Count i = 0; i < n; ++i) benchmark::DoNotOptimize(MakeChan<T>(8));
  });
}
void BenchmarkMakeChanByte(benchmark::State& state) {
  MakeAndDrop<char>(state);
}
void BenchmarkMakeChanInt(benchmark::State& state) { MakeAndDrop<long>(state); }
void BenchmarkMakeChanStruct0(benchmark::State& state) {
  MakeAndDrop<Signal>(state);
}
void BenchmarkMakeChanStruct40(benchmark::State& state) {
  MakeAndDrop<std::array<long, 5>>(state);
}
GORGE_BENCHMARK(BenchmarkMakeChanByte);
GORGE_BENCHMARK(BenchmarkMakeChanInt);
GORGE_BENCHMARK(BenchmarkMakeChanStruct0);
GORGE_BENCHMARK(BenchmarkMakeChanStruct40);

// A receive that would block.
void BenchmarkChanNonblocking(benchmark::State& state) {
  Measure(state, [](Count n) {
    const Chan<int> c = MakeChan<int>();
    InParallel(n, [&](Share& share) {
      while (share.Next()) benchmark::DoNotOptimize(c.TryRecv().ready);
    });
  });
}
GORGE_BENCHMARK(BenchmarkChanNonblocking);

// An element in and out; a hundred in, then a hundred out.
void FillAndDrain(Share& share, const Chan<int>& c) {
  constexpr int kElements = 100;
  int in = 0;
  while (share.Next()) {
    c.Send(0);
    if (++in < kElements) continue;
    for (; in > 0; --in) benchmark::DoNotOptimize(c.Recv());
  }
  for (; in > 0; --in) benchmark::DoNotOptimize(c.Recv());
}

void BenchmarkChanUncontended(benchmark::State& state) {
  Measure(state, [](Count n) {
    InParallel(n,
               [](Share& share) { FillAndDrain(share, MakeChan<int>(100)); });
  });
}
GORGE_BENCHMARK(BenchmarkChanUncontended);

void BenchmarkChanContended(benchmark::State& state) {
  Measure(state, [](Count n) {
    const Chan<int> c = MakeChan<int>(100 * MaxProcs());
    InParallel(n, [&](Share& share) { FillAndDrain(share, c); });
  });
}
GORGE_BENCHMARK(BenchmarkChanContended);

// Two goroutines that send to each other by turns, with some work in between.
void PassMessages(benchmark::State& state, int work) {
  Measure(state, [work](Count n) {
    const Chan<int> c = MakeChan<int>();
    WaitGroup both;
    both.Go([=] {
      for (Count i = 0; i < n; i += 2) {
        c.Send(0);
        Compute(work);
        c.Recv();
        Compute(work);
      }
    });
    both.Go([=] {
      for (Count i = 0; i < n; i += 2) {
        c.Recv();
        Compute(work);
        c.Send(0);
        Compute(work);
      }
    });
    both.Wait();
  });
}
void BenchmarkChanSync(benchmark::State& state) { PassMessages(state, 0); }
void BenchmarkChanSyncWork(benchmark::State& state) {
  PassMessages(state, 1000);
}
GORGE_BENCHMARK(BenchmarkChanSync);
GORGE_BENCHMARK(BenchmarkChanSyncWork);

// As many producers as Ps, as many consumers, one channel.
void ProduceAndConsume(benchmark::State& state, int capacity, int work) {
  Measure(state, [=](Count n) {
    const Chan<int> c = MakeChan<int>(capacity);
    WaitGroup producers;
    WaitGroup consumers;
    std::atomic<Count> left{n};
    for (int p = 0; p < MaxProcs(); ++p) {
      producers.Go([&, work] {
        Share share(left);
        while (share.Next()) {
          Compute(work);
          c.Send(1);
        }
      });
      consumers.Go([&, work] {
        while (c.Recv()) Compute(work);
      });
    }
    producers.Wait();
    c.Close();
    consumers.Wait();
  });
}
void BenchmarkChanProdCons0(benchmark::State& state) {
  ProduceAndConsume(state, 0, 0);
}
void BenchmarkChanProdCons10(benchmark::State& state) {
  ProduceAndConsume(state, 10, 0);
}
void BenchmarkChanProdCons100(benchmark::State& state) {
  ProduceAndConsume(state, 100, 0);
}
void BenchmarkChanProdConsWork0(benchmark::State& state) {
  ProduceAndConsume(state, 0, 100);
}
void BenchmarkChanProdConsWork10(benchmark::State& state) {
  ProduceAndConsume(state, 10, 100);
}
void BenchmarkChanProdConsWork100(benchmark::State& state) {
  ProduceAndConsume(state, 100, 100);
}
GORGE_BENCHMARK(BenchmarkChanProdCons0);
GORGE_BENCHMARK(BenchmarkChanProdCons10);
GORGE_BENCHMARK(BenchmarkChanProdCons100);
GORGE_BENCHMARK(BenchmarkChanProdConsWork0);
GORGE_BENCHMARK(BenchmarkChanProdConsWork10);
GORGE_BENCHMARK(BenchmarkChanProdConsWork100);

// A channel made for one message of a goroutine started for it.
void BenchmarkChanCreation(benchmark::State& state) {
  Measure(state, [](Count n) {
    InParallel(n, [](Share& share) {
      while (share.Next()) {
        const Chan<int> c = MakeChan<int>();
        go([c] { c.Send(0); });
        benchmark::DoNotOptimize(c.Recv());
      }
    });
  });
}
GORGE_BENCHMARK(BenchmarkChanCreation);

// A buffered channel as a semaphore.
void BenchmarkChanSem(benchmark::State& state) {
  Measure(state, [](Count n) {
    const Chan<Signal> c = MakeChan<Signal>(MaxProcs());
    InParallel(n, [&](Share& share) {
      while (share.Next()) {
        c.Send({});
        c.Recv();
      }
    });
  });
}
GORGE_BENCHMARK(BenchmarkChanSem);

// A thousand messages, each to a goroutine of its own; all of these wait for a
// common channel besides.
void BenchmarkChanPopular(benchmark::State& state) {
  Measure(state, [](Count n) {
    constexpr int kGoroutines = 1000;
    const Chan<bool> popular = MakeChan<bool>();
    std::vector<Chan<bool>> own;
    WaitGroup receivers;
    for (int i = 0; i < kGoroutines; ++i) {
      own.push_back(MakeChan<bool>());
      receivers.Go([&popular, mine = own.back(), n] {
        for (Count k = 0; k < n; ++k) Select(OnRecv(popular), OnRecv(mine));
      });
    }
    for (Count k = 0; k < n; ++k) {
      for (const Chan<bool>& c : own) c.Send(true);
    }
    receivers.Wait();
  });
}
GORGE_BENCHMARK(BenchmarkChanPopular);

// A receive from a closed channel, and one that does not block.
void BenchmarkReceiveFromClosed(benchmark::State& state) {
  Measure(state, [](Count n) {
    const Chan<int> c = MakeChan<int>(10);
    c.Close();
    for (Count i = 0; i < n; ++i) benchmark::DoNotOptimize(c.Recv());
  });
}
GORGE_BENCHMARK(BenchmarkReceiveFromClosed);

void BenchmarkChanClosed(benchmark::State& state) {
  Measure(state, [](Count n) {
    const Chan<Signal> c = MakeChan<Signal>();
    c.Close();
    InParallel(n, [&](Share& share) {
      while (share.Next()) benchmark::DoNotOptimize(c.TryRecv().ready);
    });
  });
}
GORGE_BENCHMARK(BenchmarkChanClosed);

}  // namespace
}  // namespace gorge::bench
