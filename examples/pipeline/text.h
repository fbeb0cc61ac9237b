// examples/pipeline/text.h -- numbers and names as people read them.

#ifndef GORGE_EXAMPLES_PIPELINE_TEXT_H_
#define GORGE_EXAMPLES_PIPELINE_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace pipeline {

std::string WithCommas(std::int64_t n);                   // 1,234,567
std::string Size(std::int64_t bytes);                     // 1.2 MB
std::string Speed(std::int64_t bytes, double seconds);    // 123 MB/s
std::string Plural(std::int64_t n, absl::string_view s);  // 1 file, 2 files

// The length of the UTF-8 character that `text` opens with; 0 if none does.
// `text` is not empty.
std::size_t CharLength(absl::string_view text);

// `name` with whatever could upset a terminal written as \n, \x1b and so on.
std::string Printable(absl::string_view name);

// The same in `width` columns, filled up or cut; at least two.
std::string Fit(absl::string_view name, std::size_t width);

// The end of `path`, below `root`.
absl::string_view Below(absl::string_view root, absl::string_view path);

}  // namespace pipeline

#endif  // GORGE_EXAMPLES_PIPELINE_TEXT_H_
