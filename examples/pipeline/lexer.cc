#include "gorge/examples/pipeline/lexer.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"

namespace pipeline {
namespace {

enum class Class : unsigned char { kOther, kLetter, kDigit, kSpecial };

// Bytes of UTF-8 count as letters.
constexpr std::array<Class, 256> kClasses = [] {
  std::array<Class, 256> classes{};
  for (int c = 0; c < 256; ++c) {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
        c >= 0x80) {
      classes[c] = Class::kLetter;
    } else if (c >= '0' && c <= '9') {
      classes[c] = Class::kDigit;
    } else if (c == '"' || c == '\'' || c == '/' || c == '#') {
      classes[c] = Class::kSpecial;
    }
  }
  return classes;
}();

Class ClassOf(char c) { return kClasses[static_cast<unsigned char>(c)]; }
bool InWord(char c) {
  return ClassOf(c) == Class::kLetter || ClassOf(c) == Class::kDigit;
}

}  // namespace

void Lexer::Feed(absl::string_view piece, WordFn word) {
  const char* p = piece.data();
  const char* const end = p + piece.size();
  while (p != end) p = Step(p, end, word);
}

void Lexer::Finish(WordFn word) {
  constexpr char kEnd = '\n';
  Feed({&kEnd, 1}, word);
}

const char* Lexer::Step(const char* p, const char* end, WordFn word) {
  switch (state_) {
    case State::kCode:
      p = std::find_if(p, end,
                       [](char c) { return ClassOf(c) != Class::kOther; });
      if (p == end) return p;
      state_ = AfterCode(*p);
      if (state_ == State::kWord) return p;
      quote_ = *p;
      return p + 1;
    case State::kWord:
      return Word(p, end, word);
    case State::kNumber:
      // As in 0x1F, 1.5e3 and 1'000'000.
      p = std::find_if(
          p, end, [](char c) { return !InWord(c) && c != '.' && c != '\''; });
      if (p != end) state_ = State::kCode;
      return p;
    case State::kSlash:
      state_ = *p == '/'   ? State::kLineComment
               : *p == '*' ? State::kBlockComment
                           : State::kCode;
      return state_ == State::kCode ? p : p + 1;
    case State::kString:
      p = std::find_if(p, end, [this](char c) {
        return c == quote_ || c == '\\' || c == '\n';
      });
      if (p == end) return p;
      state_ = *p == '\\' ? State::kEscape : State::kCode;
      return p + 1;
    case State::kEscape:
      state_ = State::kString;
      return p + 1;
    case State::kLineComment:
      p = std::find(p, end, '\n');
      if (p != end) state_ = State::kCode;
      return p;
    case State::kBlockComment:
      p = std::find(p, end, '*');
      if (p == end) return p;
      state_ = State::kStar;
      return p + 1;
    case State::kStar:
      if (*p != '*') {
        state_ = *p == '/' ? State::kCode : State::kBlockComment;
      }
      return p + 1;
  }
  return end;
}

const char* Lexer::Word(const char* p, const char* end, WordFn word) {
  const char* const begin = p;
  p = std::find_if_not(p, end, InWord);
  const absl::string_view read(begin, static_cast<std::size_t>(p - begin));
  const bool cut = p == end;
  if (cut || !begun_.empty()) {
    // One character over the limit is enough to know.
    absl::StrAppend(&begun_, read.substr(0, kLongestWord + 1));
    if (begun_.size() > kLongestWord + 1) begun_.resize(kLongestWord + 1);
    if (cut) return p;
  }
  const absl::string_view whole = begun_.empty() ? read : begun_;
  if (whole.size() <= kLongestWord) word(whole);
  begun_.clear();
  state_ = State::kCode;
  // An apostrophe, not a quote.
  return *p == '\'' ? p + 1 : p;
}

// The state in which the first character that is of interest is read.
Lexer::State Lexer::AfterCode(char c) const {
  if (ClassOf(c) == Class::kLetter) return State::kWord;
  if (ClassOf(c) == Class::kDigit) return State::kNumber;
  if (syntax_ == Syntax::kProse) return State::kCode;
  if (c == '/') {
    return syntax_ == Syntax::kSlash ? State::kSlash : State::kCode;
  }
  if (c == '#') {
    return syntax_ == Syntax::kHash ? State::kLineComment : State::kCode;
  }
  return State::kString;
}

}  // namespace pipeline
