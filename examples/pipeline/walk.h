// examples/pipeline/walk.h -- finds the files below a directory.

#ifndef GORGE_EXAMPLES_PIPELINE_WALK_H_
#define GORGE_EXAMPLES_PIPELINE_WALK_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "gorge/examples/pipeline/finding.h"

namespace pipeline {

// Calls `file` with the path of each regular file below `root`, directory by
// directory, by name within each; and `problem` for whatever cannot be looked
// at. Follows links to files, not those to directories. Asks `stopped` before
// each directory. True at the end; false as soon as that says yes, or one of
// the others no.
bool Walk(const std::string& root, absl::FunctionRef<bool()> stopped,
          absl::FunctionRef<bool(std::string)> file,
          absl::FunctionRef<bool(Problem)> problem);

}  // namespace pipeline

#endif  // GORGE_EXAMPLES_PIPELINE_WALK_H_
