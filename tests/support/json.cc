#include "gorge/tests/support/json.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

namespace gorge::testing {

// One function for each kind of value; each returns false if the text is no
// such thing, and else leaves rest_ behind what it has read.
class Json::Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  bool Value(Json& value) {
    SkipSpace();
    if (rest_.empty()) return false;
    switch (rest_[0]) {
      case '{':
        return Object(value);
      case '[':
        return Array(value);
      case '"':
        return String(value.string_);
      default:
        return Word(value) || Number(value);
    }
  }

  bool AtEnd() {
    SkipSpace();
    return rest_.empty();
  }

 private:
  void SkipSpace() {
    rest_.remove_prefix(
        std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
  }

  bool Take(std::string_view token) {
    SkipSpace();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  bool Object(Json& value) {
    Take("{");
    if (Take("}")) return true;
    do {
      std::string name;
      SkipSpace();
      if (!String(name) || !Take(":") || !Value(value.members_[name])) {
        return false;
      }
    } while (Take(","));
    return Take("}");
  }

  bool Array(Json& value) {
    Take("[");
    if (Take("]")) return true;
    do {
      if (!Value(value.elements_.emplace_back())) return false;
    } while (Take(","));
    return Take("]");
  }

  bool String(std::string& text) {
    if (!Take("\"")) return false;
    while (!rest_.empty() && rest_[0] != '"') {
      if (static_cast<unsigned char>(rest_[0]) < 0x20) return false;
      if (rest_[0] == '\\') {
        if (!Escape(text)) return false;
      } else {
        text += rest_[0];
        rest_.remove_prefix(1);
      }
    }
    return Take("\"");
  }

  // Of \u.... only what is one byte in UTF-8.
  bool Escape(std::string& text) {
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (rest_.size() < 2) return false;
    if (const std::size_t i = kNames.find(rest_[1]); i != kNames.npos) {
      text += kMeanings[i];
      rest_.remove_prefix(2);
      return true;
    }
    if (rest_.size() < 6 || rest_[1] != 'u') return false;
    unsigned code = 0;
    const char* const digits = rest_.data() + 2;
    const auto [end, error] = std::from_chars(digits, digits + 4, code, 16);
    if (end != digits + 4 || error != std::errc() || code > 0x7F) return false;
    text += static_cast<char>(code);
    rest_.remove_prefix(6);
    return true;
  }

  bool Word(Json& value) {
    for (const std::string_view word : {"true", "false", "null"}) {
      if (Take(word)) {
        value.word_ = word;
        return true;
      }
    }
    return false;
  }

  bool Number(Json& value) {
    const auto [end, error] = std::from_chars(
        rest_.data(), rest_.data() + rest_.size(), value.number_);
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return error == std::errc();
  }

  std::string_view rest_;
};

std::optional<Json> Json::Parse(std::string_view text) {
  Json value;
  Parser parser(text);
  if (!parser.Value(value) || !parser.AtEnd()) return std::nullopt;
  return value;
}

const Json& Json::operator[](const std::string& member) const {
  static const Json empty;
  const auto it = members_.find(member);
  return it == members_.end() ? empty : it->second;
}

const Json& Json::operator[](std::size_t index) const {
  static const Json empty;
  return index < elements_.size() ? elements_[index] : empty;
}

}  // namespace gorge::testing
