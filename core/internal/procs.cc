#include "gorge/core/internal/procs.h"

#include <sched.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <system_error>

namespace gorge::internal {

int CountCpus() {
  // Grown until it is as large as the kernel's own mask.
  for (int cpus = 1024; cpus <= (1 << 20); cpus *= 2) {
    cpu_set_t* mask = CPU_ALLOC(cpus);
    const std::size_t size = CPU_ALLOC_SIZE(cpus);
    const bool fits = ::sched_getaffinity(0, size, mask) == 0;
    const int count = fits ? CPU_COUNT_S(size, mask) : 0;
    CPU_FREE(mask);
    if (count > 0) return count;
  }
  const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? static_cast<int>(online) : 1;
}

int DefaultMaxProcs() {
  if (const char* text = std::getenv("GORGE_MAXPROCS")) {
    int value = 0;
    const char* end = text + std::strlen(text);
    const auto [stop, error] = std::from_chars(text, end, value);
    if (error == std::errc{} && stop == end && value >= 1 &&
        value <= kMaxProcsLimit) {
      return value;
    }
  }
  return CountCpus();
}

}  // namespace gorge::internal
