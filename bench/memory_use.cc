// bench/memory_use.cc -- what many parked goroutines cost.
//
//   memory_use [COUNT]
//
// Starts COUNT goroutines (100,000) that park on one channel, closes it, waits
// for all to end, and gives their memory back. Prints how long each step took,
// and the process's resident memory and number of mappings after it. The twin
// for Go: compare/go/memory/main.go.

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <variant>

#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/wait_group.h"

namespace {

using Clock = std::chrono::steady_clock;

// Resident memory of this process, in bytes.
double ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  double total = 0;
  double resident = 0;
  statm >> total >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

int CountMappings() {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);) ++count;
  return count;
}

// Prints the state after a step that began at `start`.
void Report(const char* step, Clock::time_point start, double resident_before,
            int count) {
  const auto took = Clock::now() - start;
  const double resident = ResidentBytes();
  std::printf(
      "%-6s %10.1f ms %8.0f ns each  RSS %8.1f MB %8.0f B each  "
      "%5d VMAs\n",
      step, std::chrono::duration<double, std::milli>(took).count(),
      std::chrono::duration<double, std::nano>(took).count() / count,
      resident / 1e6, (resident - resident_before) / count, CountMappings());
}

void ParkAndWake(int count) {
  const double before = ResidentBytes();
  const gorge::Chan<std::monostate> gate = gorge::MakeChan<std::monostate>();
  std::atomic<int> arrived{0};
  gorge::WaitGroup ended;

  auto start = Clock::now();
  for (int i = 0; i < count; ++i) {
    ended.Go([&] {
      arrived.fetch_add(1, std::memory_order_relaxed);
      gate.Recv();
    });
  }
  while (arrived.load(std::memory_order_relaxed) < count) gorge::Gosched();
  Report("start", start, before, count);

  start = Clock::now();
  gate.Close();
  Report("wake", start, before, count);
  start = Clock::now();
  ended.Wait();
  Report("end", start, before, count);

  start = Clock::now();
  gorge::FreeOSMemory();
  Report("free", start, before, count);
}

}  // namespace

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 100'000;
  if (count <= 0) {
    std::fprintf(stderr, "usage: %s [COUNT]\n", argv[0]);
    return 2;
  }
  return gorge::Run([count] { ParkAndWake(count); });
}
