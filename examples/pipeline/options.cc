#include "gorge/examples/pipeline/options.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "gorge/examples/pipeline/text.h"

namespace pipeline {
namespace {

constexpr char kUsage[] =
    R"(Counts identifiers, lines and bytes of all files below a directory.

  pipeline [flags] [directory]    without a directory: /usr/include

  --workers=N   goroutines that read files; else as many as can run at a time
  --top=N       identifiers to report of each kind of file; else 10
  --json        report as JSON
  --serial      without goroutines, one file after the other
  --compare     both ways, and how much faster the goroutines are
  --timeout=T   ends it after a time such as 500ms, 2s or 1m30s

Ctrl-C ends it early, and so does the timeout, with a report of what it has
counted until then. The exit status is 130 or 124 then.
)";

constexpr int kBadUsage = 2;
constexpr int kMaxWorkers = 10'000;
constexpr int kMaxTop = 1000;

[[noreturn]] void Refuse(absl::string_view why) {
  std::fputs(absl::StrCat("pipeline: ", why, "\n").c_str(), stderr);
  std::exit(kBadUsage);
}

// Takes --<flag> off `word`, and leaves =<value>; false if it is another flag.
bool ConsumeFlag(absl::string_view* word, absl::string_view flag) {
  absl::string_view rest = *word;
  if (!absl::ConsumePrefix(&rest, absl::StrCat("--", flag))) return false;
  if (!rest.empty() && rest[0] != '=') return false;
  *word = rest;
  return true;
}

// If `word` is --<flag>=<number>, stores the number.
bool ReadNumber(absl::string_view word, absl::string_view flag, int low,
                int high, int* number) {
  if (!ConsumeFlag(&word, flag)) return false;
  if (!absl::ConsumePrefix(&word, "=") || !absl::SimpleAtoi(word, number) ||
      *number < low || *number > high) {
    Refuse(
        absl::StrCat("--", flag, "=N needs a number from ", low, " to ", high));
  }
  return true;
}

// If `word` is --<flag>=<duration>, stores that.
bool ReadDuration(absl::string_view word, absl::string_view flag,
                  absl::Duration* duration) {
  if (!ConsumeFlag(&word, flag)) return false;
  if (!absl::ConsumePrefix(&word, "=") ||
      !absl::ParseDuration(word, duration) ||
      *duration <= absl::ZeroDuration()) {
    Refuse(absl::StrCat("--", flag,
                        "=T needs a time above zero, such as 500ms or 2s"));
  }
  return true;
}

// Takes one word that begins with a dash; whether it is a flag.
bool ReadFlag(absl::string_view word, Options& options) {
  const auto set_mode = [&options](Options::Mode mode) {
    if (options.mode != Options::Mode::kConcurrent && options.mode != mode) {
      Refuse("--serial and --compare exclude each other");
    }
    options.mode = mode;
    return true;
  };
  if (word == "--serial") return set_mode(Options::Mode::kSerial);
  if (word == "--compare") return set_mode(Options::Mode::kCompare);
  if (word == "--json") return options.json = true;
  return ReadNumber(word, "workers", 1, kMaxWorkers, &options.workers) ||
         ReadNumber(word, "top", 0, kMaxTop, &options.top) ||
         ReadDuration(word, "timeout", &options.timeout);
}

void CheckDirectory(const std::string& path) {
  std::error_code error;
  const auto type = std::filesystem::status(path, error).type();
  if (error) Refuse(absl::StrCat(Printable(path), ": ", error.message()));
  if (type != std::filesystem::file_type::directory) {
    Refuse(absl::StrCat(Printable(path), ": Not a directory"));
  }
}

}  // namespace

Options ParseOptions(int argc, char** argv) {
  Options options;
  bool flags_end = false;
  for (int i = 1; i < argc; ++i) {
    const absl::string_view word = argv[i];
    if (flags_end || word.empty() || word[0] != '-') {
      if (!options.root.empty()) Refuse("more than one directory");
      if (word.empty()) Refuse("the directory's name is empty");
      options.root = argv[i];
    } else if (word == "--") {
      flags_end = true;
    } else if (word == "--help" || word == "-h") {
      std::fputs(kUsage, stdout);
      std::exit(0);
    } else if (!ReadFlag(word, options)) {
      Refuse(absl::StrCat(Printable(word), ": no such flag; see --help"));
    }
  }
  if (options.root.empty()) options.root = "/usr/include";
  CheckDirectory(options.root);
  return options;
}

}  // namespace pipeline
