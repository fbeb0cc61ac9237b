// core/internal/location.h -- where in the program a goroutine was started.
//
// What std::source_location gives, for clang 14 too, which lacks its builtin.

#ifndef GORGE_CORE_INTERNAL_LOCATION_H_
#define GORGE_CORE_INTERNAL_LOCATION_H_

namespace gorge::internal {

struct Location {
  const char* file = "";
  int line = 0;
};

}  // namespace gorge::internal

#endif  // GORGE_CORE_INTERNAL_LOCATION_H_
