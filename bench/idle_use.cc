// bench/idle_use.cc -- what an idle process costs, and how soon it is awake.
//
//   idle_use [COUNT] [SECONDS]
//
// Parks COUNT goroutines (10,000) and does nothing for SECONDS (10): prints the
// CPU time and the context switches of that. Then the thread of main, which is
// no goroutine, sends to one of them 5,000 times with a pause in between, so
// that all machines sleep at each: prints how long the sends took to arrive.

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <variant>
#include <vector>

#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/wait_group.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kWakeUps = 5'000;
constexpr std::chrono::microseconds kPause{1'000};

struct Usage {
  double cpu_ms;
  long switches;
};

Usage ReadUsage() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto ms = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e3 +
           static_cast<double>(t.tv_usec) / 1e3;
  };
  return {ms(usage.ru_utime) + ms(usage.ru_stime),
          usage.ru_nvcsw + usage.ru_nivcsw};
}

void ReportIdle(int count, int seconds) {
  const Usage before = ReadUsage();
  std::this_thread::sleep_for(std::chrono::seconds(seconds));
  const Usage after = ReadUsage();
  std::printf("idle with %d parked, %d s: %.2f ms of CPU, %ld switches\n",
              count, seconds, after.cpu_ms - before.cpu_ms,
              after.switches - before.switches);
}

void ReportWakeUps() {
  const auto sends = gorge::MakeChan<Clock::time_point>();
  std::vector<double> took;  // In microseconds.
  gorge::WaitGroup receiver;
  receiver.Go([&] {
    for (const Clock::time_point sent : sends) {
      took.push_back(
          std::chrono::duration<double, std::micro>(Clock::now() - sent)
              .count());
    }
  });
  for (int i = 0; i < kWakeUps; ++i) {
    std::this_thread::sleep_for(kPause);
    sends.Send(Clock::now());
  }
  sends.Close();
  receiver.Wait();
  std::sort(took.begin(), took.end());
  const auto at = [&](double part) {
    return took[static_cast<std::size_t>(part * (kWakeUps - 1))];
  };
  std::printf(
      "%d wake-ups by a plain thread: median %.1f us, 99 %% %.1f us, 99.9 %% "
      "%.1f us, longest %.1f us\n",
      kWakeUps, at(0.5), at(0.99), at(0.999), took.back());
}

}  // namespace

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 10'000;
  const int seconds = argc > 2 ? std::atoi(argv[2]) : 10;
  if (count <= 0 || seconds <= 0) {
    std::fprintf(stderr, "usage: %s [COUNT] [SECONDS]\n", argv[0]);
    return 2;
  }
  const auto gate = gorge::MakeChan<std::monostate>();
  gorge::WaitGroup parked;
  for (int i = 0; i < count; ++i) {
    parked.Go([&] { gate.Recv(); });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  ReportIdle(count, seconds);
  ReportWakeUps();
  gate.Close();
  parked.Wait();
  gorge::Shutdown();
}
