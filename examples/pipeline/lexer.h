// examples/pipeline/lexer.h -- finds the words of a text, piece by piece.

#ifndef GORGE_EXAMPLES_PIPELINE_LEXER_H_
#define GORGE_EXAMPLES_PIPELINE_LEXER_H_

#include <cstddef>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "gorge/examples/pipeline/kind.h"

namespace pipeline {

// Skips comments, strings and numbers, and leaves it at that: it knows no raw
// strings and no line continuations, and a string ends with its line. Good
// enough to count identifiers; the pieces may be cut anywhere.
class Lexer {
 public:
  using WordFn = absl::FunctionRef<void(absl::string_view word)>;

  // A longer word is no identifier of anybody's, and is skipped.
  static constexpr std::size_t kLongestWord = 256;

  explicit Lexer(Syntax syntax) : syntax_(syntax) {}

  // Goes on with the next piece; calls `word` for each word that ends in it.
  void Feed(absl::string_view piece, WordFn word);

  // The text ends here.
  void Finish(WordFn word);

 private:
  enum class State {
    kCode,
    kWord,
    kNumber,
    kSlash,         // After a slash that may open a comment.
    kString,        // Up to quote_.
    kEscape,        // After a backslash in a string.
    kLineComment,   // Up to the end of the line.
    kBlockComment,  // Up to a star and a slash.
    kStar,          // After a star in such a comment.
  };

  // One step of Feed: reads from p on, at least one character, up to where the
  // state changes or to `end`; returns how far it came.
  const char* Step(const char* p, const char* end, WordFn word);
  const char* Word(const char* p, const char* end, WordFn word);
  State AfterCode(char c) const;

  const Syntax syntax_;
  State state_ = State::kCode;
  char quote_ = '"';
  std::string begun_;  // The part of a word that earlier pieces ended with.
};

}  // namespace pipeline

#endif  // GORGE_EXAMPLES_PIPELINE_LEXER_H_
