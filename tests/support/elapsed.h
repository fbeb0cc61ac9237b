// tests/support/elapsed.h -- for tests that nothing is too early.

#ifndef GORGE_TESTS_SUPPORT_ELAPSED_H_
#define GORGE_TESTS_SUPPORT_ELAPSED_H_

#include <chrono>

#include "absl/time/time.h"

namespace gorge::testing {

// The time of day may be set, by as much as this, while a test runs: instants
// are compared no closer.
inline constexpr absl::Duration kAdjusted = absl::Milliseconds(5);

class Elapsed {
 public:
  // Since it was made.
  absl::Duration operator()() const {
    return absl::FromChrono(std::chrono::steady_clock::now() - start_);
  }

 private:
  const std::chrono::steady_clock::time_point start_ =
      std::chrono::steady_clock::now();
};

}  // namespace gorge::testing

#endif  // GORGE_TESTS_SUPPORT_ELAPSED_H_
