#include "gorge/examples/pipeline/totals.h"

#include <algorithm>
#include <tuple>

namespace pipeline {
namespace {

bool Larger(const SizedFile& a, const SizedFile& b) {
  return a.bytes != b.bytes ? a.bytes > b.bytes : a.path < b.path;
}

}  // namespace

void Totals::Add(Finding finding) {
  if (auto* problem = std::get_if<Problem>(&finding)) {
    problems.push_back(std::move(*problem));
  } else {
    AddFile(std::get<FileCount>(std::move(finding)));
  }
}

void Totals::AddFile(FileCount file) {
  KindTotals& kind = kinds[file.kind];
  ++files;
  ++kind.files;
  bytes += file.bytes;
  kind.bytes += file.bytes;
  lines += file.lines;
  kind.lines += file.lines;
  for (const auto& [word, count] : file.words.counts()) {
    kind.words[word] += count;
  }

  SizedFile sized{file.bytes, std::move(file.path)};
  const auto place =
      std::upper_bound(largest.begin(), largest.end(), sized, Larger);
  largest.insert(place, std::move(sized));
  if (largest.size() > kLargest) largest.pop_back();
}

void Totals::Sort() { std::sort(problems.begin(), problems.end()); }

std::vector<std::pair<absl::string_view, std::int64_t>> MostFrequent(
    const Kind& kind, const KindTotals& totals, std::size_t n) {
  std::vector<std::pair<absl::string_view, std::int64_t>> all(
      totals.words.begin(), totals.words.end());
  // Enough to have n left when the keywords among them are gone.
  const std::size_t enough = std::min(n + kMaxKeywords, all.size());
  std::partial_sort(
      all.begin(), all.begin() + static_cast<std::ptrdiff_t>(enough), all.end(),
      [](const auto& a, const auto& b) {
        return std::tie(b.second, a.first) < std::tie(a.second, b.first);
      });
  all.resize(enough);
  std::erase_if(
      all, [&](const auto& entry) { return IsKeyword(kind, entry.first); });
  all.resize(std::min(n, all.size()));
  return all;
}

std::vector<const Kind*> BySize(const Totals& totals) {
  std::vector<const Kind*> kinds;
  for (const auto& [kind, of_kind] : totals.kinds) kinds.push_back(kind);
  std::sort(kinds.begin(), kinds.end(), [&](const Kind* a, const Kind* b) {
    return std::make_tuple(-totals.kinds.at(a).bytes, a->name) <
           std::make_tuple(-totals.kinds.at(b).bytes, b->name);
  });
  return kinds;
}

}  // namespace pipeline
