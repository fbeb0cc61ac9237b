// bench/context_bench.cc -- contexts. Named after the benchmarks of Go that
// measure the same.

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "gorge/bench/measure.h"
#include "gorge/context/context.h"
#include "gorge/select/select.h"

namespace gorge::bench {
namespace {

constexpr Key<int> kKey("key");
constexpr Key<int> kOther("other");

// A context below one that all share: made, used, cancelled.
void BenchmarkCommonParentCancel(benchmark::State& state) {
  Measure(state, [](Count n) {
    const Context root = WithValue(Background(), kKey, 1);
    const auto [shared, cancel_shared] = WithCancel(root);
    InParallel(n, [&shared = shared](Share& share) {
      while (share.Next()) {
        auto [ctx, cancel] = WithCancel(shared);
        benchmark::DoNotOptimize(ctx.Value(kKey));
        cancel();
      }
    });
  });
}
GORGE_BENCHMARK(BenchmarkCommonParentCancel);

void BenchmarkWithCancel(benchmark::State& state) {
  Measure(state, [](Count n) {
    const auto [parent, cancel_parent] = WithCancel(Background());
    for (Count i = 0; i < n; ++i) {
      auto [ctx, cancel] = WithCancel(parent);
      cancel();
    }
  });
}
GORGE_BENCHMARK(BenchmarkWithCancel);

// Ten at a time, besides `alive` others.
void MakeAndCancelTimeouts(benchmark::State& state, int alive) {
  std::vector<Cancelable> others;
  Measure(state, [&](Count n) {
    state.PauseTiming();
    while (others.size() < static_cast<std::size_t>(alive)) {
      others.push_back(WithTimeout(Background(), absl::Hours(1)));
    }
    state.ResumeTiming();
    InParallel(n, [](Share& share) {
      std::array<CancelFunc, 10> cancels;
      while (share.Next()) {
        for (CancelFunc& cancel : cancels) {
          cancel = WithTimeout(Background(), absl::Hours(1)).cancel;
        }
        for (CancelFunc& cancel : cancels) cancel();
      }
    });
  });
}

void BenchmarkWithTimeout40(benchmark::State& state) {
  MakeAndCancelTimeouts(state, 40);
}
GORGE_BENCHMARK(BenchmarkWithTimeout40);
void BenchmarkWithTimeout4000(benchmark::State& state) {
  MakeAndCancelTimeouts(state, 4'000);
}
GORGE_BENCHMARK(BenchmarkWithTimeout4000);
void BenchmarkWithTimeout400000(benchmark::State& state) {
  MakeAndCancelTimeouts(state, 400'000);
}
GORGE_BENCHMARK(BenchmarkWithTimeout400000);

// A chain below a context that is cancelled when the chain is complete.
void CancelChain(benchmark::State& state, int depth) {
  Measure(state, [depth](Count n) {
    std::vector<CancelFunc> cancels(static_cast<std::size_t>(depth));
    for (Count i = 0; i < n; ++i) {
      auto [ctx, cancel] = WithCancel(Background());
      for (CancelFunc& next_cancel : cancels) {
        Cancelable next = WithCancel(ctx);
        next_cancel = std::move(next.cancel);
        ctx = std::move(next.ctx);
      }
      cancel();
    }
  });
}

void BenchmarkCancelTree1(benchmark::State& state) { CancelChain(state, 1); }
GORGE_BENCHMARK(BenchmarkCancelTree1);
void BenchmarkCancelTree10(benchmark::State& state) { CancelChain(state, 10); }
GORGE_BENCHMARK(BenchmarkCancelTree10);
void BenchmarkCancelTree100(benchmark::State& state) {
  CancelChain(state, 100);
}
GORGE_BENCHMARK(BenchmarkCancelTree100);
void BenchmarkCancelTree1000(benchmark::State& state) {
  CancelChain(state, 1'000);
}
GORGE_BENCHMARK(BenchmarkCancelTree1000);

// Many below one.
void BenchmarkCancelChildren1000(benchmark::State& state) {
  Measure(state, [](Count n) {
    std::vector<CancelFunc> cancels(1'000);
    for (Count i = 0; i < n; ++i) {
      const auto [ctx, cancel] = WithCancel(Background());
      for (CancelFunc& child : cancels) child = WithCancel(ctx).cancel;
      cancel();
    }
  });
}
GORGE_BENCHMARK(BenchmarkCancelChildren1000);

void BenchmarkCancelChildren100000(benchmark::State& state) {
  Measure(state, [&state](Count n) {
    std::vector<Cancelable> children(100'000);
    for (Count i = 0; i < n; ++i) {
      state.PauseTiming();
      const auto [ctx, cancel] = WithCancel(Background());
      for (Cancelable& child : children) {
        child = WithCancel(ctx);
        static_cast<void>(child.ctx.Done());
      }
      state.ResumeTiming();
      cancel();
    }
  });
}
GORGE_BENCHMARK(BenchmarkCancelChildren100000);

void BenchmarkCheckCanceledErr(benchmark::State& state) {
  Measure(state, [](Count n) {
    const auto [ctx, cancel] = WithCancel(Background());
    cancel();
    for (Count i = 0; i < n; ++i) benchmark::DoNotOptimize(ctx.Err().ok());
  });
}
GORGE_BENCHMARK(BenchmarkCheckCanceledErr);

void BenchmarkCheckCanceledDone(benchmark::State& state) {
  Measure(state, [](Count n) {
    const auto [ctx, cancel] = WithCancel(Background());
    cancel();
    for (Count i = 0; i < n; ++i) {
      Select(OnRecv(ctx.Done()), OnDefault());
    }
  });
}
GORGE_BENCHMARK(BenchmarkCheckCanceledDone);

void BenchmarkErr(benchmark::State& state) {
  Measure(state, [](Count n) {
    const auto [ctx, cancel] = WithCancel(Background());
    InParallel(n, [&ctx = ctx](Share& share) {
      while (share.Next()) benchmark::DoNotOptimize(ctx.Err().ok());
    });
  });
}
GORGE_BENCHMARK(BenchmarkErr);

void BenchmarkContextCancelDone(benchmark::State& state) {
  Measure(state, [](Count n) {
    const auto [ctx, cancel] = WithCancel(Background());
    InParallel(n, [&ctx = ctx](Share& share) {
      while (share.Next()) Select(OnRecv(ctx.Done()), OnDefault());
    });
  });
}
GORGE_BENCHMARK(BenchmarkContextCancelDone);

// A key that none of `depth` contexts has.
Context Deep(int depth) {
  Context ctx = Background();
  for (int i = 0; i < depth; ++i) ctx = WithValue(ctx, kOther, i);
  return ctx;
}

void LookUp(benchmark::State& state, int depth) {
  Measure(state, [depth](Count n) {
    const Context ctx = Deep(depth);
    InParallel(n, [&ctx](Share& share) {
      while (share.Next()) benchmark::DoNotOptimize(ctx.Value(kKey));
    });
  });
}

void BenchmarkDeepValueSameGoRoutine10(benchmark::State& state) {
  LookUp(state, 10);
}
GORGE_BENCHMARK(BenchmarkDeepValueSameGoRoutine10);
void BenchmarkDeepValueSameGoRoutine30(benchmark::State& state) {
  LookUp(state, 30);
}
GORGE_BENCHMARK(BenchmarkDeepValueSameGoRoutine30);
void BenchmarkDeepValueSameGoRoutine100(benchmark::State& state) {
  LookUp(state, 100);
}
GORGE_BENCHMARK(BenchmarkDeepValueSameGoRoutine100);

void BenchmarkDeepValueNewGoRoutine30(benchmark::State& state) {
  Measure(state, [](Count n) {
    const Context ctx = Deep(30);
    InParallel(n, [&ctx](Share& share) {
      while (share.Next()) {
        WaitGroup lookup;
        lookup.Go([&ctx] { benchmark::DoNotOptimize(ctx.Value(kKey)); });
        lookup.Wait();
      }
    });
  });
}
GORGE_BENCHMARK(BenchmarkDeepValueNewGoRoutine30);

void BenchmarkAfterFuncStop(benchmark::State& state) {
  Measure(state, [](Count n) {
    const auto [ctx, cancel] = WithCancel(Background());
    for (Count i = 0; i < n; ++i) AfterFunc(ctx, [] {})();
  });
}
GORGE_BENCHMARK(BenchmarkAfterFuncStop);

// 500 pairs pass messages to and fro, with selects that also listen to a Done:
// one of all, or one of each.
void PassMessages(benchmark::State& state, bool share_done) {
  Measure(state, [share_done](Count n) {
    constexpr Count kPairs = 500;
    std::vector<Cancelable> contexts;
    for (Count i = 0; i < (share_done ? 1 : 2 * kPairs); ++i) {
      contexts.push_back(WithCancel(Background()));
    }
    std::atomic<Count> left{n};
    WaitGroup all;
    for (Count i = 0; i < kPairs; ++i) {
      const auto ping = MakeChan<int>();
      const auto pong = MakeChan<int>();
      const auto done_of = [&](Count k) {
        return contexts[share_done ? 0 : static_cast<std::size_t>(k)]
            .ctx.Done();
      };
      all.Go([&left, ping, pong, done = done_of(2 * i)] {
        while (left.fetch_sub(1, std::memory_order_relaxed) > 0) {
          Select(OnRecv(done), OnSend(ping, 1));
          Select(OnRecv(done), OnRecv(pong));
        }
        ping.Close();
      });
      all.Go([ping, pong, done = done_of(2 * i + 1)] {
        bool open = true;
        while (open) {
          int value = 0;
          Select(OnRecv(done), OnRecv(ping, &value, &open));
          if (open) Select(OnRecv(done), OnSend(pong, value));
        }
      });
    }
    all.Wait();
  });
}

void BenchmarkSelectSharedDone(benchmark::State& state) {
  PassMessages(state, true);
}
GORGE_BENCHMARK(BenchmarkSelectSharedDone);
void BenchmarkSelectOwnDone(benchmark::State& state) {
  PassMessages(state, false);
}
GORGE_BENCHMARK(BenchmarkSelectOwnDone);

}  // namespace
}  // namespace gorge::bench
