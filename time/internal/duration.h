// time/internal/duration.h -- durations, as the clock counts them.

#ifndef GORGE_TIME_INTERNAL_DURATION_H_
#define GORGE_TIME_INTERNAL_DURATION_H_

#include <chrono>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "absl/time/time.h"

namespace gorge::internal {

// Any std::chrono::duration; what is too large becomes infinite.
template <class Rep, class Period>
absl::Duration ToAbsl(std::chrono::duration<Rep, Period> d) {
  if constexpr (std::is_floating_point_v<Rep>) {
    return absl::Seconds(d.count()) * Period::num / Period::den;
  } else {
    if (std::cmp_greater(d.count(), INT64_MAX)) return absl::InfiniteDuration();
    return absl::Seconds(static_cast<std::int64_t>(d.count())) * Period::num /
           Period::den;
  }
}

// In nanoseconds, rounded up: no wait is too short. Saturates.
inline std::int64_t ToNanos(absl::Duration d) {
  const std::int64_t nanos = absl::ToInt64Nanoseconds(d);
  return nanos < INT64_MAX && absl::Nanoseconds(nanos) < d ? nanos + 1 : nanos;
}

}  // namespace gorge::internal

#endif  // GORGE_TIME_INTERNAL_DURATION_H_
