#include "gorge/examples/pipeline/json.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "gorge/examples/pipeline/text.h"

namespace pipeline {
namespace {

// A JSON string. What is no UTF-8, a name can be, becomes U+FFFD.
std::string Quote(absl::string_view text) {
  std::string quoted = "\"";
  while (!text.empty()) {
    const std::size_t length = CharLength(text);
    if (length == 0) {
      quoted += "\xEF\xBF\xBD";
    } else if (text[0] == '"' || text[0] == '\\') {
      absl::StrAppend(&quoted, "\\", text.substr(0, 1));
    } else if (static_cast<unsigned char>(text[0]) < 0x20) {
      absl::StrAppendFormat(&quoted, "\\u%04x", text[0]);
    } else {
      absl::StrAppend(&quoted, text.substr(0, length));
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return quoted + "\"";
}

absl::string_view Bool(bool value) { return value ? "true" : "false"; }

template <class Items, class F>
std::string Array(const Items& items, F&& to_json) {
  std::vector<std::string> elements;
  for (const auto& item : items) elements.push_back(to_json(item));
  if (elements.empty()) return "[]";
  return absl::StrCat("[\n", absl::StrJoin(elements, ",\n"), "\n]");
}

std::string KindJson(const Kind& kind, const KindTotals& totals, int top) {
  const auto words = MostFrequent(kind, totals, static_cast<std::size_t>(top));
  return absl::StrCat(R"({"kind": )", Quote(kind.name), R"(, "files": )",
                      totals.files, R"(, "bytes": )", totals.bytes,
                      R"(, "lines": )", totals.lines, R"(, "identifiers": )",
                      Array(words,
                            [](const auto& entry) {
                              return absl::StrCat(
                                  R"({"name": )", Quote(entry.first),
                                  R"(, "count": )", entry.second, "}");
                            }),
                      "}");
}

std::string Run(const Result& result) {
  return absl::StrCat(R"({"mode": )",
                      Quote(result.workers == 0 ? "serial" : "concurrent"),
                      R"(, "workers": )", result.workers, R"(, "seconds": )",
                      absl::StrFormat("%.6f", result.seconds), "}");
}

// The body of the object that both functions of the header return.
std::string Members(const Options& options, const Result& result) {
  const Totals& all = result.totals;
  return absl::StrCat(
      R"("root": )", Quote(options.root), ",\n", R"("interrupted": )",
      Bool(absl::IsCancelled(result.cause)), ",\n", R"("timed_out": )",
      Bool(absl::IsDeadlineExceeded(result.cause)), ",\n", R"("files": )",
      all.files, ",\n", R"("bytes": )", all.bytes, ",\n", R"("lines": )",
      all.lines, ",\n", R"("kinds": )",
      Array(BySize(all),
            [&](const Kind* kind) {
              return KindJson(*kind, all.kinds.at(kind), options.top);
            }),
      ",\n", R"("largest": )",
      Array(all.largest,
            [](const SizedFile& file) {
              return absl::StrCat(R"({"path": )", Quote(file.path),
                                  R"(, "bytes": )", file.bytes, "}");
            }),
      ",\n", R"("problems": )", Array(all.problems, [](const Problem& problem) {
        return absl::StrCat(R"({"path": )", Quote(problem.path),
                            R"(, "reason": )", Quote(problem.reason), "}");
      }));
}

}  // namespace

std::string Json(const Options& options, const Result& result) {
  return absl::StrCat("{\n", Members(options, result), ",\n", R"("runs": [)",
                      Run(result), "]\n}\n");
}

std::string JsonRatio(const Options& options, const Result& serial,
                      const Result& concurrent) {
  const double ratio = serial.seconds / std::max(concurrent.seconds, 1e-9);
  return absl::StrCat("{\n", Members(options, concurrent), ",\n",
                      R"("runs": [)", Run(serial), ", ", Run(concurrent),
                      "],\n", R"("ratio": )", absl::StrFormat("%.3f", ratio),
                      "\n}\n");
}

}  // namespace pipeline
