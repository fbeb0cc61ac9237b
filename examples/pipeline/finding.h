// examples/pipeline/finding.h -- what the stages hand to each other.

#ifndef GORGE_EXAMPLES_PIPELINE_FINDING_H_
#define GORGE_EXAMPLES_PIPELINE_FINDING_H_

#include <compare>
#include <cstdint>
#include <string>
#include <variant>

#include "absl/container/flat_hash_map.h"
#include "gorge/examples/pipeline/kind.h"

namespace pipeline {

// How often each word occurs.
using Words = absl::flat_hash_map<std::string, std::int64_t>;

// A file that was read to its end.
struct FileCount {
  std::string path;
  const Kind* kind = nullptr;
  std::int64_t bytes = 0;
  std::int64_t lines = 0;
  Words words;
};

// Something that is left out, and why.
struct Problem {
  std::string path;
  std::string reason;

  friend auto operator<=>(const Problem&, const Problem&) = default;
};

using Finding = std::variant<FileCount, Problem>;

}  // namespace pipeline

#endif  // GORGE_EXAMPLES_PIPELINE_FINDING_H_
