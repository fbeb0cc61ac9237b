// bench/select_bench.cc -- select. Named after the benchmarks of Go that
// measure the same.

#include "gorge/bench/measure.h"
#include "gorge/select/select.h"
#include "gorge/select/selector.h"

namespace gorge::bench {
namespace {

// Two cases of which one is ready; what is received makes the other one ready.
void BenchmarkSelectUncontended(benchmark::State& state) {
  Measure(state, [](Count n) {
    InParallel(n, [](Share& share) {
      const Chan<int> a = MakeChan<int>(1);
      const Chan<int> b = MakeChan<int>(1);
      a.Send(0);
      while (share.Next()) {
        Select(OnRecv(a, [&](int) { b.Send(0); }),
               OnRecv(b, [&](int) { a.Send(0); }));
      }
    });
  });
}
GORGE_BENCHMARK(BenchmarkSelectUncontended);

// Selects that wait: several goroutines receive from three common channels, a
// goroutine for each of them sends to all.
void BenchmarkSelectSyncContended(benchmark::State& state) {
  Measure(state, [](Count n) {
    const Chan<int> a = MakeChan<int>();
    const Chan<int> b = MakeChan<int>();
    const Chan<int> c = MakeChan<int>();
    const Chan<int> done = MakeChan<int>();
    WaitGroup senders;
    InParallel(n, [&](Share& share) {
      senders.Go([&] {
        bool more = true;
        while (more) {
          Select(OnSend(a, 0), OnSend(b, 0), OnSend(c, 0),
                 OnRecv(done, [&] { more = false; }));
        }
      });
      while (share.Next()) Select(OnRecv(a), OnRecv(b), OnRecv(c));
    });
    done.Close();
    senders.Wait();
  });
}
GORGE_BENCHMARK(BenchmarkSelectSyncContended);

// Selects between a channel of each goroutine, which is ready, and a common
// one, which never is.
void BenchmarkSelectAsyncContended(benchmark::State& state) {
  Measure(state, [](Count n) {
    const Chan<int> never = MakeChan<int>(1);
    InParallel(n, [&](Share& share) {
      const Chan<int> mine = MakeChan<int>(1);
      mine.Send(0);
      while (share.Next()) {
        Select(OnRecv(mine, [&](int) { mine.Send(0); }), OnRecv(never));
      }
    });
  });
}
GORGE_BENCHMARK(BenchmarkSelectAsyncContended);

// Four selects with a default: that would send and receive, without a buffer
// and with one.
void BenchmarkSelectNonblock(benchmark::State& state) {
  Measure(state, [](Count n) {
    const Chan<int> unbuffered_in = MakeChan<int>();
    const Chan<int> unbuffered_out = MakeChan<int>();
    const Chan<int> buffered = MakeChan<int>(1);
    const Chan<int> full = MakeChan<int>(1);
    full.Send(0);
    InParallel(n, [&](Share& share) {
      while (share.Next()) {
        Select(OnRecv(unbuffered_in), OnDefault());
        Select(OnSend(unbuffered_out, 0), OnDefault());
        Select(OnRecv(buffered), OnDefault());
        Select(OnSend(full, 0), OnDefault());
      }
    });
  });
}
GORGE_BENCHMARK(BenchmarkSelectNonblock);

// Producers and consumers as in BenchmarkChanProdCons100, each operation a
// select with a second case that never happens.
void BenchmarkSelectProdCons(benchmark::State& state) {
  Measure(state, [](Count n) {
    const Chan<int> c = MakeChan<int>(128);
    const Chan<int> never = MakeChan<int>();
    WaitGroup producers;
    WaitGroup consumers;
    std::atomic<Count> left{n};
    for (int p = 0; p < MaxProcs(); ++p) {
      producers.Go([&] {
        Share share(left);
        while (share.Next()) Select(OnSend(c, 1), OnRecv(never));
      });
      consumers.Go([&] {
        for (bool more = true; more;) {
          int value;
          Select(OnRecv(c, &value, &more), OnRecv(never));
        }
      });
    }
    producers.Wait();
    c.Close();
    consumers.Wait();
  });
}
GORGE_BENCHMARK(BenchmarkSelectProdCons);

// One of ten channels, each ready in turn; the cases are made once.
void BenchmarkSelector(benchmark::State& state) {
  Measure(state, [](Count n) {
    constexpr std::size_t kChannels = 10;
    std::vector<Chan<int>> channels;
    Selector selector;
    for (std::size_t i = 0; i < kChannels; ++i) {
      channels.push_back(MakeChan<int>(1));
      selector.AddRecv(channels[i]);
    }
    for (Count i = 0; i < n; ++i) {
      channels[static_cast<std::size_t>(i) % kChannels].Send(0);
      selector.Run();
    }
  });
}
GORGE_BENCHMARK(BenchmarkSelector);

}  // namespace
}  // namespace gorge::bench
