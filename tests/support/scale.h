// tests/support/scale.h -- how much slower this build is than a release build.
//
// A test that repeats something many times asks for Scaled(n) repetitions, and
// so takes about as long with a sanitizer, or with the forced migrations of the
// checked build.

#ifndef GORGE_TESTS_SUPPORT_SCALE_H_
#define GORGE_TESTS_SUPPORT_SCALE_H_

#include "gorge/core/internal/sanitizer.h"

namespace gorge::testing {

inline constexpr bool kChecked =
#if GORGE_CHECKED
    true;
#else
    false;
#endif

// 1 in a release build.
inline constexpr int kSlowdown =
    (GORGE_TSAN ? 16 : (GORGE_ASAN ? 4 : 1)) * (kChecked ? 25 : 1);

// n, divided by the slowdown; at least 1.
constexpr int Scaled(int n) { return n > kSlowdown ? n / kSlowdown : 1; }

}  // namespace gorge::testing

#endif  // GORGE_TESTS_SUPPORT_SCALE_H_
