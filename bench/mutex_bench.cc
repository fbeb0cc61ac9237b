// bench/mutex_bench.cc -- Mutex, RWMutex, Once and Cond. Named after the
// benchmarks of Go that measure the same.

#include <mutex>
#include <shared_mutex>

#include "gorge/bench/measure.h"
#include "gorge/sync/cond.h"
#include "gorge/sync/mutex.h"
#include "gorge/sync/once.h"
#include "gorge/sync/rw_mutex.h"

namespace gorge::bench {
namespace {

void BenchmarkMutexUncontended(benchmark::State& state) {
  Measure(state, [](Count n) {
    InParallel(n, [](Share& share) {
      alignas(128) Mutex mutex;
      while (share.Next()) {
        mutex.lock();
        mutex.unlock();
      }
    });
  });
}
GORGE_BENCHMARK(BenchmarkMutexUncontended);

// `slack`: ten times as many goroutines as Ps. `work`: something to do between
// the unlock and the next lock.
void LockAndUnlock(benchmark::State& state, bool slack, bool work) {
  Measure(state, [=](Count n) {
    std::atomic<Count> left{n};
    Mutex mutex;
    WaitGroup workers;
    for (int i = 0; i < MaxProcs() * (slack ? 10 : 1); ++i) {
      workers.Go([&] {
        Share share(left);
        while (share.Next()) {
          mutex.lock();
          mutex.unlock();
          if (work) Compute(100);
        }
      });
    }
    workers.Wait();
  });
}

void BenchmarkMutex(benchmark::State& state) {
  LockAndUnlock(state, false, false);
}
GORGE_BENCHMARK(BenchmarkMutex);
void BenchmarkMutexSlack(benchmark::State& state) {
  LockAndUnlock(state, true, false);
}
GORGE_BENCHMARK(BenchmarkMutexSlack);
void BenchmarkMutexWork(benchmark::State& state) {
  LockAndUnlock(state, false, true);
}
GORGE_BENCHMARK(BenchmarkMutexWork);
void BenchmarkMutexWorkSlack(benchmark::State& state) {
  LockAndUnlock(state, true, true);
}
GORGE_BENCHMARK(BenchmarkMutexWorkSlack);

void BenchmarkRWMutexUncontended(benchmark::State& state) {
  Measure(state, [](Count n) {
    InParallel(n, [](Share& share) {
      alignas(128) RWMutex mutex;
      while (share.Next()) {
        mutex.lock_shared();
        mutex.lock_shared();
        mutex.unlock_shared();
        mutex.unlock_shared();
        mutex.lock();
        mutex.unlock();
      }
    });
  });
}
GORGE_BENCHMARK(BenchmarkRWMutexUncontended);

// One write for so many reads.
void ReadAndWrite(benchmark::State& state, Count ratio) {
  Measure(state, [ratio](Count n) {
    RWMutex mutex;
    InParallel(n, [&](Share& share) {
      Count i = 0;
      while (share.Next()) {
        if (++i % ratio == 0) {
          const std::unique_lock hold(mutex);
        } else {
          const std::shared_lock hold(mutex);
        }
      }
    });
  });
}

void BenchmarkRWMutexWrite100(benchmark::State& state) {
  ReadAndWrite(state, 100);
}
GORGE_BENCHMARK(BenchmarkRWMutexWrite100);
void BenchmarkRWMutexWrite10(benchmark::State& state) {
  ReadAndWrite(state, 10);
}
GORGE_BENCHMARK(BenchmarkRWMutexWrite10);

void BenchmarkOnce(benchmark::State& state) {
  Measure(state, [](Count n) {
    Once once;
    InParallel(n, [&](Share& share) {
      while (share.Next()) once.Do([] {});
    });
  });
}
GORGE_BENCHMARK(BenchmarkOnce);

// Waiters and one more that wake each other by turns.
void WakeEachOther(benchmark::State& state, int waiters) {
  Measure(state, [waiters](Count n) {
    Mutex mutex;
    Cond cond;
    int id = 0;
    WaitGroup all;
    for (int routine = 0; routine <= waiters; ++routine) {
      all.Go([&, routine] {
        for (Count i = 0; i < n; ++i) {
          std::unique_lock hold(mutex);
          if (id == -1) break;
          if (id == routine) {
            id = routine + 1 > waiters ? 0 : routine + 1;
            cond.Broadcast();
          }
          cond.Wait(hold);
        }
        const std::lock_guard hold(mutex);
        id = -1;
        cond.Broadcast();
      });
    }
    all.Wait();
  });
}

void BenchmarkCond1(benchmark::State& state) { WakeEachOther(state, 1); }
GORGE_BENCHMARK(BenchmarkCond1);
void BenchmarkCond8(benchmark::State& state) { WakeEachOther(state, 8); }
GORGE_BENCHMARK(BenchmarkCond8);
void BenchmarkCond32(benchmark::State& state) { WakeEachOther(state, 32); }
GORGE_BENCHMARK(BenchmarkCond32);

}  // namespace
}  // namespace gorge::bench
