#include "gorge/tests/support/stress.h"

#include <unistd.h>

#include <charconv>
#include <cinttypes>
#include <condition_variable>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <random>
#include <string_view>

#include "gorge/tests/support/census.h"
#include "gorge/tests/support/scale.h"

namespace gorge::testing {
namespace {

constexpr int kPatience = kSlowdown > 1 ? 120 : 30;  // Seconds.

struct Options {
  double seconds = 60;
  std::uint64_t seed = 0;
  int procs = 0;  // 0: in turn.
  bool hold = false;
};

// The process as a whole, for reports.
std::atomic<std::uint64_t> progress{0};
std::atomic<bool> holds{false};
std::atomic<std::uint64_t> current_seed{0};
std::atomic<int> current_round{0};
std::atomic<int> current_procs{0};

[[noreturn]] void ReportAndEnd() {
  std::fprintf(stderr, "seed %" PRIu64 ", round %d, %d Ps\n",
               current_seed.load(), current_round.load(), current_procs.load());
  PrintScheduler(stderr);
  while (holds.load()) {
    std::fprintf(stderr, "held for a debugger: process %d\n", ::getpid());
    ::pause();
  }
  std::abort();
}

// Ends the process if nothing is achieved for a while.
class Watchdog {
 public:
  Watchdog() : thread_([this] { Guard(); }) {}
  ~Watchdog() {
    {
      const std::lock_guard<std::mutex> hold(mutex_);
      done_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void Guard() {
    std::unique_lock<std::mutex> hold(mutex_);
    std::uint64_t seen = progress.load();
    int idle = 0;
    // Second by second: while the process is stopped, time does not count.
    while (!changed_.wait_for(hold, std::chrono::seconds(1),
                              [this] { return done_; })) {
      const std::uint64_t now = progress.load();
      idle = now == seen ? idle + 1 : 0;
      seen = now;
      if (idle < kPatience) continue;
      std::fprintf(stderr, "FAILED: no progress for %d s\n", idle);
      ReportAndEnd();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread thread_;
};

template <class T>
bool ParseNumber(std::string_view argument, std::string_view name, T& value) {
  if (!argument.starts_with(name)) return false;
  argument.remove_prefix(name.size());
  const char* end = argument.data() + argument.size();
  const auto [stopped, error] = std::from_chars(argument.data(), end, value);
  return error == std::errc() && stopped == end;
}

Options Parse(int argc, char** argv) {
  Options options;
  std::random_device device;
  options.seed = (std::uint64_t{device()} << 32) | device();
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (ParseNumber(argument, "--seconds=", options.seconds) ||
        ParseNumber(argument, "--seed=", options.seed) ||
        ParseNumber(argument, "--procs=", options.procs)) {
      continue;
    }
    if (argument == "--hold") {
      options.hold = true;
      continue;
    }
    std::fprintf(stderr,
                 "usage: %s [--seconds=N] [--seed=N] [--procs=N] "
                 "[--hold]\n",
                 argv[0]);
    std::exit(2);
  }
  return options;
}

// Starts the runtime with that many Ps. Threads that a round left behind may
// have started it already: then their choice stands.
void Restart(int procs) {
  Shutdown();
  Configure({.max_procs = procs});
}

}  // namespace

int RunStress(int argc, char** argv,
              const std::function<void(StressRound&)>& round) {
  constexpr int kProcs[] = {1, 2, 4, 16};
  const Options options = Parse(argc, argv);
  holds = options.hold;
  const auto end = StressRound::Clock::now() +
                   std::chrono::duration_cast<std::chrono::nanoseconds>(
                       std::chrono::duration<double>(options.seconds));
  std::printf("seed %" PRIu64 "\n", options.seed);
  std::fflush(stdout);
  const Watchdog watchdog;
  int number = 0;
  while (StressRound::Clock::now() < end) {
    const int procs = options.procs > 0 ? options.procs : kProcs[number % 4];
    // Each round has a seed of its own, so that one can be run alone: with
    // this seed as the program's, it is round 0.
    const std::uint64_t seed = options.seed + static_cast<unsigned>(number);
    current_seed = seed;
    current_round = number;
    current_procs = procs;
    Restart(procs);
    StressRound next(seed, number, procs, end);
    round(next);
    Progress();
    ++number;
  }
  Shutdown();
  std::printf("%d rounds\n", number);
  return 0;
}

void Progress() { progress.fetch_add(1, std::memory_order_relaxed); }

void Fail(const char* format, ...) {
  std::fprintf(stderr, "FAILED: ");
  std::va_list arguments;
  va_start(arguments, format);
  std::vfprintf(stderr, format, arguments);
  va_end(arguments);
  std::fprintf(stderr, "\n");
  ReportAndEnd();
}

void Await(const std::function<bool()>& condition) {
  while (!condition()) Gosched();
}

}  // namespace gorge::testing
