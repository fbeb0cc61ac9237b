// examples/pipeline/kind.h -- the kinds of file that are told apart.

#ifndef GORGE_EXAMPLES_PIPELINE_KIND_H_
#define GORGE_EXAMPLES_PIPELINE_KIND_H_

#include "absl/strings/string_view.h"

namespace pipeline {

// Which comments and strings there are to skip.
enum class Syntax {
  kSlash,  // "..." '...' // and /* */
  kHash,   // "..." '...' and #
  kProse,  // None: every word counts.
};

// No kind has more keywords.
inline constexpr int kMaxKeywords = 128;

struct Kind {
  absl::string_view name;
  Syntax syntax;
  absl::string_view extensions;  // Each between two spaces: " .c .h ".
  absl::string_view keywords;    // Likewise; no identifiers, so not reported.
};

// The kind of the file at `path`, told by its extension. Lives for ever; two
// files are of one kind if the pointers are equal.
const Kind* KindOf(absl::string_view path);

// Whether `word` is a keyword there.
bool IsKeyword(const Kind& kind, absl::string_view word);

}  // namespace pipeline

#endif  // GORGE_EXAMPLES_PIPELINE_KIND_H_
