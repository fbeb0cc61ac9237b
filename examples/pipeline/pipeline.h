// examples/pipeline/pipeline.h -- the same job, as a pipeline and in one loop.

#ifndef GORGE_EXAMPLES_PIPELINE_PIPELINE_H_
#define GORGE_EXAMPLES_PIPELINE_PIPELINE_H_

#include <string>
#include <variant>

#include "gorge/chan/chan.h"
#include "gorge/examples/pipeline/status.h"
#include "gorge/examples/pipeline/totals.h"

namespace pipeline {

// Never carries anything; closed when it is time to stop.
using Done = gorge::RecvChan<std::monostate>;

struct Result {
  Totals totals;
  int workers = 0;  // 0: serially.
  double seconds = 0;
  bool interrupted = false;  // The totals are those of a part of the files.
};

// Counts the files below `root` with `workers` goroutines, one that walks and
// one that merges. Call it in a goroutine.
Result CountConcurrently(const std::string& root, int workers, const Done& done,
                         Status& status);

// The same without any goroutine.
Result CountSerially(const std::string& root, const Done& done, Status& status);

}  // namespace pipeline

#endif  // GORGE_EXAMPLES_PIPELINE_PIPELINE_H_
