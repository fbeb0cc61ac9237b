// bench/lock_latency.cc -- how long a lock keeps one out.
//
//   lock_latency [SECONDS]
//
// With 1, 2, 4 and 16 Ps, SECONDS (5) for each line:
//   - hogs take a Mutex, compute for 100 us, release it and are back at once;
//     another one wants it every 100 us. The waits of that one. Not with 1 P:
//     before there is preemption, a hog that never blocks keeps it.
//   - the same with a hog that sleeps for 100 us with the Mutex held.
//   - 16 readers and 16 writers of an RWMutex, each with it for 10 us and
//     without it for 10 us, after which it yields. The waits of readers and of
//     writers.
// The twin for Go: compare/go/latency/main.go.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "absl/time/time.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/mutex.h"
#include "gorge/sync/rw_mutex.h"
#include "gorge/sync/wait_group.h"
#include "gorge/time/time.h"

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

void Compute(microseconds length) {
  const auto end = Clock::now() + length;
  while (Clock::now() < end) {
  }
}

// How long lock() took, each time.
class Waits {
 public:
  template <class L>
  void Take(L& lock) {
    const auto start = Clock::now();
    lock.lock();
    waits_.push_back(
        std::chrono::duration<double, std::milli>(Clock::now() - start)
            .count());
  }

  void Append(const Waits& other) {
    waits_.insert(waits_.end(), other.waits_.begin(), other.waits_.end());
  }

  void Print(const char* what) {
    if (waits_.empty()) {
      std::printf("%2d Ps  %-32s never got it\n", gorge::MaxProcs(), what);
      return;
    }
    std::sort(waits_.begin(), waits_.end());
    const auto at = [&](double part) {
      return waits_[static_cast<std::size_t>(
          part * static_cast<double>(waits_.size() - 1))];
    };
    std::printf(
        "%2d Ps  %-32s %8zu waits  median %7.3f ms  99.9 %% %7.3f ms  longest "
        "%7.3f ms\n",
        gorge::MaxProcs(), what, waits_.size(), at(0.5), at(0.999),
        waits_.back());
  }

 private:
  std::vector<double> waits_;
};

template <class Hold>
void Hog(const char* what, int hogs, std::chrono::seconds length, Hold hold) {
  gorge::Mutex mutex;
  std::atomic<bool> over{false};
  gorge::WaitGroup all;
  for (int i = 0; i < hogs; ++i) {
    all.Go([&] {
      while (!over) {
        const std::lock_guard locked(mutex);
        hold();
      }
    });
  }
  Waits waits;
  all.Go([&] {
    const auto end = Clock::now() + length;
    while (Clock::now() < end) {
      gorge::Sleep(absl::Microseconds(100));
      waits.Take(mutex);
      mutex.unlock();
    }
    over = true;
  });
  all.Wait();
  waits.Print(what);
}

void ReadAndWrite(std::chrono::seconds length) {
  constexpr int kEach = 16;
  gorge::RWMutex mutex;
  std::vector<Waits> reads(kEach);
  std::vector<Waits> writes(kEach);
  const auto end = Clock::now() + length;
  gorge::WaitGroup all;
  const auto work = [&](auto lock, Waits& waits) {
    while (Clock::now() < end) {
      waits.Take(lock);
      Compute(microseconds(10));
      lock.unlock();
      Compute(microseconds(10));
      gorge::Gosched();
    }
  };
  for (std::size_t i = 0; i < kEach; ++i) {
    all.Go(
        [&, i] { work(std::shared_lock(mutex, std::defer_lock), reads[i]); });
    all.Go(
        [&, i] { work(std::unique_lock(mutex, std::defer_lock), writes[i]); });
  }
  all.Wait();
  for (std::size_t i = 1; i < kEach; ++i) {
    reads[0].Append(reads[i]);
    writes[0].Append(writes[i]);
  }
  reads[0].Print("16 readers among 16 writers");
  writes[0].Print("16 writers among 16 readers");
}

}  // namespace

int main(int argc, char** argv) {
  const int seconds = argc > 1 ? std::atoi(argv[1]) : 5;
  if (seconds <= 0) {
    std::fprintf(stderr, "usage: %s [SECONDS]\n", argv[0]);
    return 2;
  }
  const std::chrono::seconds length(seconds);
  for (const int procs : {1, 2, 4, 16}) {
    gorge::Configure({.max_procs = procs});
    gorge::Run([&] {
      const auto compute = [] { Compute(microseconds(100)); };
      if (procs > 1) {
        Hog("against a hog that computes", 1, length, compute);
        Hog("against 8 hogs that compute", 8, length, compute);
      }
      Hog("against a hog that sleeps", 1, length,
          [] { gorge::Sleep(absl::Microseconds(100)); });
      ReadAndWrite(length);
    });
    gorge::Shutdown();
  }
}
