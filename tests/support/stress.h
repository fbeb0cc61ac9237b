// tests/support/stress.h -- the frame of the programs in tests/stress/.
//
//   int main(int argc, char** argv) {
//     return gorge::testing::RunStress(argc, argv, [](StressRound& round) {
//       ...
//       if (count != expected) Fail("%d of %d tasks ran", count, expected);
//     });
//   }
//
// A program repeats rounds of some hundred milliseconds, each with a runtime
// that was stopped and started again, until its time is up:
//
//   --seconds=N  how long (60)
//   --seed=N     what every choice is drawn from (random; printed first)
//   --procs=N    the number of Ps (1, 2, 4 and 16 in turn)
//   --hold       waits for a debugger where it would abort
//
// A violation, or no progress for half a minute (two in instrumented builds),
// is printed with seed, round and the state of the scheduler; then abort().

#ifndef GORGE_TESTS_SUPPORT_STRESS_H_
#define GORGE_TESTS_SUPPORT_STRESS_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "gorge/core/internal/random.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/wait_group.h"

namespace gorge::testing {

using internal::Random;

// One round: what it is to work with.
class StressRound {
 public:
  using Clock = std::chrono::steady_clock;

  StressRound(std::uint64_t seed, int number, int procs, Clock::time_point end)
      : seed_(seed), number_(number), procs_(procs), end_(end) {}

  int number() const { return number_; }  // From 0.
  std::uint64_t seed() const { return seed_; }
  int procs() const { return procs_; }
  // True once the program should come to its end.
  bool TimeIsUp() const { return Clock::now() >= end_; }
  double SecondsLeft() const {
    return std::chrono::duration<double>(end_ - Clock::now()).count();
  }

  // A generator for the caller alone. Callable by anyone.
  Random NewRandom() {
    return Random(seed_ +
                  0x9e3779b97f4a7c15u * (1 + next_random_.fetch_add(1)));
  }

 private:
  const std::uint64_t seed_;
  const int number_;
  const int procs_;
  const Clock::time_point end_;
  std::atomic<std::uint64_t> next_random_{0};
};

// True once in n times.
inline bool OneIn(std::uint32_t n, Random& random) {
  return random.Below(n) == 0;
}

// One of several values.
template <class T, std::size_t N>
const T& OneOf(const T (&values)[N], Random& random) {
  return values[random.Below(N)];
}

// The body of main().
int RunStress(int argc, char** argv,
              const std::function<void(StressRound&)>& round);

// Tells the watchdog that something was achieved.
void Progress();

// Reports a violation and ends the process.
[[noreturn]] __attribute__((format(printf, 1, 2))) void Fail(const char* format,
                                                             ...);

// Returns once condition() is true, yielding in between.
void Await(const std::function<bool()>& condition);

// Goroutines and plain threads that work at the same time.
class Crowd {
 public:
  template <class F>
  void Start(bool as_thread, F f) {
    if (!as_thread) {
      working_.Go(std::move(f));
      return;
    }
    working_.Add(1);
    threads_.emplace_back([this, f = std::move(f)]() mutable {
      f();
      working_.Done();
    });
  }

  // Returns once all have ended.
  void Join() {
    // Only then: join() blocks the machine of a goroutine, which those that
    // still work may need.
    working_.Wait();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  WaitGroup working_;
  std::vector<std::thread> threads_;
};

}  // namespace gorge::testing

#endif  // GORGE_TESTS_SUPPORT_STRESS_H_
