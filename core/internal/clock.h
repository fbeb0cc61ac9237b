// core/internal/clock.h -- the time that waits run on.

#ifndef GORGE_CORE_INTERNAL_CLOCK_H_
#define GORGE_CORE_INTERNAL_CLOCK_H_

#include <time.h>

#include <cstdint>

namespace gorge::internal {

// An instant that never comes.
inline constexpr std::int64_t kNever = INT64_MAX;

// Nanoseconds of CLOCK_MONOTONIC, which nobody sets. Some 20 ns.
inline std::int64_t MonotonicNanos() {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// The instant that far from now; at once if negative, kNever if too far.
inline std::int64_t NanosFromNow(std::int64_t nanos) {
  const std::int64_t now = MonotonicNanos();
  if (nanos <= 0) return now;
  return nanos >= kNever - now ? kNever : now + nanos;
}

}  // namespace gorge::internal

#endif  // GORGE_CORE_INTERNAL_CLOCK_H_
