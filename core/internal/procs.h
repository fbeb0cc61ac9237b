// core/internal/procs.h -- how many Ps there are.

#ifndef GORGE_CORE_INTERNAL_PROCS_H_
#define GORGE_CORE_INTERNAL_PROCS_H_

namespace gorge::internal {

inline constexpr int kMaxProcsLimit = 1 << 14;

// The CPUs that this process may run on, at least 1.
int CountCpus();

// GORGE_MAXPROCS if it is a number from 1 to kMaxProcsLimit, else CountCpus().
int DefaultMaxProcs();

}  // namespace gorge::internal

#endif  // GORGE_CORE_INTERNAL_PROCS_H_
