// examples/pipeline/totals.h -- what all files amount to.

#ifndef GORGE_EXAMPLES_PIPELINE_TOTALS_H_
#define GORGE_EXAMPLES_PIPELINE_TOTALS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "gorge/examples/pipeline/finding.h"

namespace pipeline {

// How often each word occurs.
using Words = absl::flat_hash_map<std::string, std::int64_t>;

struct KindTotals {
  std::int64_t files = 0;
  std::int64_t bytes = 0;
  std::int64_t lines = 0;
  Words words;

  friend bool operator==(const KindTotals&, const KindTotals&) = default;
};

struct SizedFile {
  std::int64_t bytes = 0;
  std::string path;

  friend bool operator==(const SizedFile&, const SizedFile&) = default;
};

struct Totals {
  static constexpr std::size_t kLargest = 10;

  std::int64_t files = 0;
  std::int64_t bytes = 0;
  std::int64_t lines = 0;
  std::map<const Kind*, KindTotals> kinds;
  std::vector<SizedFile> largest;  // At most kLargest, the largest first.
  std::vector<Problem> problems;

  // Adds one more file, or problem.
  void Add(Finding finding);

  // Brings the order of arrival, which differs from run to run, to an end.
  void Sort();

  friend bool operator==(const Totals&, const Totals&) = default;

 private:
  void AddFile(FileCount file);
};

// The `n` most frequent identifiers, the most frequent first, then by name.
std::vector<std::pair<absl::string_view, std::int64_t>> MostFrequent(
    const Kind& kind, const KindTotals& totals, std::size_t n);

// The kinds that occur, the one with most bytes first.
std::vector<const Kind*> BySize(const Totals& totals);

}  // namespace pipeline

#endif  // GORGE_EXAMPLES_PIPELINE_TOTALS_H_
