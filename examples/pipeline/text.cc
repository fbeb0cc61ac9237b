#include "gorge/examples/pipeline/text.h"

#include <algorithm>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"

namespace pipeline {

std::string WithCommas(std::int64_t n) {
  const std::string digits = absl::StrCat(n);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string Size(std::int64_t bytes) {
  const auto size = static_cast<double>(bytes);
  if (size < 1e3) return absl::StrCat(bytes, " B");
  if (size < 1e6) return absl::StrFormat("%.1f kB", size / 1e3);
  if (size < 1e9) return absl::StrFormat("%.1f MB", size / 1e6);
  return absl::StrFormat("%.1f GB", size / 1e9);
}

std::string Speed(std::int64_t bytes, double seconds) {
  const double speed = static_cast<double>(bytes) / std::max(seconds, 1e-6);
  return absl::StrCat(Size(static_cast<std::int64_t>(speed)), "/s");
}

std::string Plural(std::int64_t n, absl::string_view s) {
  return absl::StrCat(WithCommas(n), " ", s, n == 1 ? "" : "s");
}

std::size_t CharLength(absl::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = lead < 0x80                   ? 1
                             : lead >= 0xC2 && lead < 0xE0 ? 2
                             : lead >= 0xE0 && lead < 0xF0 ? 3
                             : lead >= 0xF0 && lead < 0xF5 ? 4
                                                           : 0;
  if (length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 0;
  }
  return length;
}

std::string Printable(absl::string_view name) {
  std::string text;
  while (!name.empty()) {
    const std::size_t length = std::max<std::size_t>(CharLength(name), 1);
    const absl::string_view c = name.substr(0, length);
    // U+0080 to U+009F are control characters too.
    const bool plain = length == 1 ? c[0] >= ' ' && c[0] < 0x7F && c[0] != '\\'
                                   : c > "\xC2\x9F";
    absl::StrAppend(&text, plain ? std::string(c) : absl::CHexEscape(c));
    name.remove_prefix(length);
  }
  return text;
}

std::string Fit(absl::string_view name, std::size_t width) {
  const std::string text = Printable(name);
  std::vector<std::size_t> begins;  // Of each character.
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) {
      begins.push_back(i);
    }
  }
  if (begins.size() > width) {
    return absl::StrCat(text.substr(0, begins[width - 2]), "..");
  }
  return absl::StrCat(text, std::string(width - begins.size(), ' '));
}

absl::string_view Below(absl::string_view root, absl::string_view path) {
  if (!absl::ConsumePrefix(&path, root)) return path;
  path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
  return path;
}

}  // namespace pipeline
