// tests/support/resources.h -- what the process uses, as the kernel counts it.

#ifndef GORGE_TESTS_SUPPORT_RESOURCES_H_
#define GORGE_TESTS_SUPPORT_RESOURCES_H_

#include <time.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

namespace gorge::testing {

// CPU time of all threads.
inline std::chrono::nanoseconds ProcessCpuTime() {
  timespec now;
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) +
         std::chrono::nanoseconds(now.tv_nsec);
}

inline long ResidentBytes() {
  long total = 0;
  long resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

}  // namespace gorge::testing

#endif  // GORGE_TESTS_SUPPORT_RESOURCES_H_
