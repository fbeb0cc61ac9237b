#include "gorge/examples/pipeline/report.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gorge/examples/pipeline/text.h"

namespace pipeline {
namespace {

// Kinds whose identifiers stand side by side, and how wide each is.
constexpr std::size_t kAbreast = 3;
constexpr std::size_t kNameWidth = 15;

std::string Workers(const Result& result) {
  return result.workers == 0 ? "serially" : Plural(result.workers, "worker");
}

std::string Summary(const Options& options, const Result& result) {
  const Totals& all = result.totals;
  return absl::StrCat(
      Printable(options.root),
      result.cause.ok()
          ? ""
          : absl::StrCat(", ", result.cause.message(), ": a part of the files"),
      "\n", Plural(all.files, "file"), ", ", Size(all.bytes), ", ",
      Plural(all.lines, "line"), " in ",
      absl::StrFormat("%.2f s, ", result.seconds),
      Speed(all.bytes, result.seconds), ", ", Workers(result), "\n");
}

std::string KindTable(const Totals& all) {
  std::string text = absl::StrFormat("\n%-15s %9s %12s %14s\n", "kind", "files",
                                     "size", "lines");
  for (const Kind* kind : BySize(all)) {
    const KindTotals& totals = all.kinds.at(kind);
    absl::StrAppendFormat(&text, "%-15s %9s %12s %14s\n", kind->name,
                          WithCommas(totals.files), Size(totals.bytes),
                          WithCommas(totals.lines));
  }
  return text;
}

using Column = std::vector<std::string>;

// The most frequent identifiers of one kind; empty if it has none.
Column Identifiers(const Kind& kind, const KindTotals& totals,
                   std::size_t top) {
  Column column;
  for (const auto& [word, count] : MostFrequent(kind, totals, top)) {
    column.push_back(
        absl::StrFormat("%9s %s", WithCommas(count), Fit(word, kNameWidth)));
  }
  if (!column.empty()) {
    column.insert(column.begin(),
                  absl::StrFormat("%10s%s", "", Fit(kind.name, kNameWidth)));
  }
  return column;
}

std::string SideBySide(absl::Span<const Column> columns) {
  std::size_t rows = 0;
  for (const Column& column : columns) rows = std::max(rows, column.size());
  const std::string blank(10 + kNameWidth, ' ');
  std::string text = "\n";
  for (std::size_t row = 0; row < rows; ++row) {
    std::string line;
    for (const Column& column : columns) {
      absl::StrAppend(&line, row < column.size() ? column[row] : blank, " ");
    }
    absl::StrAppend(&text, absl::StripTrailingAsciiWhitespace(line), "\n");
  }
  return text;
}

std::string IdentifierTable(const Totals& all, std::size_t top) {
  std::vector<Column> columns;
  for (const Kind* kind : BySize(all)) {
    Column column = Identifiers(*kind, all.kinds.at(kind), top);
    if (!column.empty()) columns.push_back(std::move(column));
  }
  std::string text;
  const absl::Span<const Column> span(columns);
  for (std::size_t i = 0; i < columns.size(); i += kAbreast) {
    text += SideBySide(span.subspan(i, kAbreast));
  }
  return text;
}

std::string Largest(const Options& options, const Totals& all) {
  std::string text = "\nlargest files\n";
  for (const SizedFile& file : all.largest) {
    absl::StrAppendFormat(&text, "%10s %s\n", Size(file.bytes),
                          Printable(Below(options.root, file.path)));
  }
  return text;
}

// What is left out, by reason; which ones is on stderr.
std::string Problems(const Totals& all) {
  if (all.problems.empty()) return "";
  std::map<absl::string_view, std::int64_t> reasons;
  for (const Problem& problem : all.problems) ++reasons[problem.reason];
  std::string text = "\nleft out\n";
  for (const auto& [reason, count] : reasons) {
    absl::StrAppendFormat(&text, "%10s %s\n", WithCommas(count), reason);
  }
  return text;
}

std::string Line(absl::string_view name, const Result& result) {
  return absl::StrFormat("%-12s %6.2f s %12s", name, result.seconds,
                         Speed(result.totals.bytes, result.seconds));
}

}  // namespace

std::string Report(const Options& options, const Result& result) {
  const Totals& all = result.totals;
  std::string text = Summary(options, result);
  if (all.files > 0) {
    text += KindTable(all);
    text += IdentifierTable(all, static_cast<std::size_t>(options.top));
    text += Largest(options, all);
  }
  return text + Problems(all);
}

std::string ReportRatio(const Result& serial, const Result& concurrent) {
  return absl::StrCat(
      "\n", Line("serial", serial), "\n", Line("concurrent", concurrent), "   ",
      Workers(concurrent),
      absl::StrFormat("\n%.2f times as fast, with the same result\n",
                      serial.seconds / std::max(concurrent.seconds, 1e-9)));
}

}  // namespace pipeline
