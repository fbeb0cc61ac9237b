// examples/pipeline/finding.h -- what the stages hand to each other.

#ifndef GORGE_EXAMPLES_PIPELINE_FINDING_H_
#define GORGE_EXAMPLES_PIPELINE_FINDING_H_

#include <algorithm>
#include <compare>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <string>
#include <variant>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "gorge/examples/pipeline/kind.h"

namespace pipeline {

// How often each word of a file occurs. The words lie side by side in a few
// blocks of memory: what one thread allocates and another one frees is dear.
class FileWords {
 public:
  using Counts = absl::flat_hash_map<absl::string_view, std::int64_t>;

  void Count(absl::string_view word) {
    const auto keep = [&](const Counts::constructor& construct) {
      construct(Keep(word), 0);
    };
    ++counts_.lazy_emplace(word, keep)->second;
  }

  const Counts& counts() const { return counts_; }

 private:
  absl::string_view Keep(absl::string_view word) {
    char* const copy = static_cast<char*>(memory_->allocate(word.size(), 1));
    std::copy(word.begin(), word.end(), copy);
    return {copy, word.size()};
  }

  std::unique_ptr<std::pmr::monotonic_buffer_resource> memory_ =
      std::make_unique<std::pmr::monotonic_buffer_resource>();
  Counts counts_;
};

// A file that was read to its end.
struct FileCount {
  std::string path;
  const Kind* kind = nullptr;
  std::int64_t bytes = 0;
  std::int64_t lines = 0;
  FileWords words;
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
