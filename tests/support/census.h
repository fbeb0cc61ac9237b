// tests/support/census.h -- what the goroutines and the scheduler are doing,
// for tests that wait for a state and for reports of tests that hang.

#ifndef GORGE_TESTS_SUPPORT_CENSUS_H_
#define GORGE_TESTS_SUPPORT_CENSUS_H_

#include <cstdio>

namespace gorge::testing {

// The goroutines of the current epoch.
struct Census {
  int waiting = 0;
  int active = 0;  // Runnable or running.
};

Census TakeCensus();

// True if no machine runs or looks for work: all Ps are idle.
bool AllPsAreIdle();

// Writes down the scheduler's counters, each P's queues, and the first few
// goroutines with what they wait for. Takes no lock of the scheduler, which may
// be what hangs.
void PrintScheduler(std::FILE* out);

}  // namespace gorge::testing

#endif  // GORGE_TESTS_SUPPORT_CENSUS_H_
