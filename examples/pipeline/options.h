// examples/pipeline/options.h -- the command line.

#ifndef GORGE_EXAMPLES_PIPELINE_OPTIONS_H_
#define GORGE_EXAMPLES_PIPELINE_OPTIONS_H_

#include <string>

#include "absl/time/time.h"

namespace pipeline {

struct Options {
  enum class Mode { kConcurrent, kSerial, kCompare };

  std::string root;
  Mode mode = Mode::kConcurrent;
  int workers = 0;  // 0: as many as can run at a time.
  int top = 10;
  absl::Duration timeout = absl::InfiniteDuration();  // Positive.
  bool json = false;
};

// Reads the command line. If there is nothing sensible to do with it, says why
// in one line on stderr and exits.
Options ParseOptions(int argc, char** argv);

}  // namespace pipeline

#endif  // GORGE_EXAMPLES_PIPELINE_OPTIONS_H_
