// examples/pipeline/read.h -- the work on one file.

#ifndef GORGE_EXAMPLES_PIPELINE_READ_H_
#define GORGE_EXAMPLES_PIPELINE_READ_H_

#include <optional>
#include <string>

#include "absl/functional/function_ref.h"
#include "gorge/examples/pipeline/finding.h"

namespace pipeline {

// Reads the file at `path` and counts its words. What goes wrong is a Problem,
// and so is a file that is not text. Asks `stopped` before each piece of it;
// returns nullopt once that says yes.
std::optional<Finding> ReadFile(const std::string& path,
                                absl::FunctionRef<bool()> stopped);

}  // namespace pipeline

#endif  // GORGE_EXAMPLES_PIPELINE_READ_H_
