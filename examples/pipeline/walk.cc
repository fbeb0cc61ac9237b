#include "gorge/examples/pipeline/walk.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

namespace pipeline {
namespace {

namespace fs = std::filesystem;

using Entries = std::vector<fs::directory_entry>;

// What a directory holds, by name. On an error: what was read before it.
Entries List(const fs::path& directory, std::error_code& error) {
  Entries entries;
  fs::directory_iterator it(directory, error);
  while (!error && it != fs::directory_iterator()) {
    entries.push_back(*it);
    it.increment(error);
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

// The walk has seen it; if it is not there any more, that is worth its own
// words.
std::string Reason(const std::error_code& error) {
  return error == std::errc::no_such_file_or_directory ? "deleted meanwhile"
                                                       : error.message();
}

// Why an entry is left out; nullopt for a file to read. No directory.
std::optional<std::string> ReasonToSkip(const fs::directory_entry& entry) {
  std::error_code error;
  const bool is_link = entry.is_symlink(error);
  const fs::file_type type = entry.status(error).type();
  if (type == fs::file_type::regular) return std::nullopt;
  if (type == fs::file_type::not_found && is_link) return "broken link";
  if (error) return Reason(error);
  return "not a regular file";
}

}  // namespace

bool Walk(const std::string& root, absl::FunctionRef<bool()> stopped,
          absl::FunctionRef<bool(std::string)> file,
          absl::FunctionRef<bool(Problem)> problem) {
  // Not by recursion: a path may be thousands of directories long.
  std::vector<fs::path> directories{root};
  while (!directories.empty()) {
    if (stopped()) return false;
    const fs::path directory = std::move(directories.back());
    directories.pop_back();
    std::error_code error;
    const Entries entries = List(directory, error);
    if (error && !problem({directory, Reason(error)})) return false;

    const std::size_t first = directories.size();
    for (const fs::directory_entry& entry : entries) {
      if (entry.is_directory(error)) {
        if (!entry.is_symlink(error)) directories.push_back(entry.path());
      } else if (std::optional<std::string> reason = ReasonToSkip(entry)) {
        if (!problem({entry.path(), *std::move(reason)})) return false;
      } else if (!file(entry.path())) {
        return false;
      }
    }
    // The last is taken first.
    std::reverse(directories.begin() + static_cast<std::ptrdiff_t>(first),
                 directories.end());
  }
  return true;
}

}  // namespace pipeline
