// examples/pipeline/pipeline.h -- the same job, as a pipeline and in one loop.

#ifndef GORGE_EXAMPLES_PIPELINE_PIPELINE_H_
#define GORGE_EXAMPLES_PIPELINE_PIPELINE_H_

#include <string>

#include "absl/status/status.h"
#include "gorge/context/context.h"
#include "gorge/examples/pipeline/status.h"
#include "gorge/examples/pipeline/totals.h"

namespace pipeline {

struct Result {
  Totals totals;
  int workers = 0;  // 0: serially.
  double seconds = 0;
  // OK: they are those of all files. Else why of only a part: the Cause of the
  // context, which ended first.
  absl::Status cause;
};

// Counts the files below `root` with `workers` goroutines, one that walks and
// one that merges, until there are no more or `ctx` ends. Call it in a
// goroutine.
Result CountConcurrently(const gorge::Context& ctx, const std::string& root,
                         int workers, Status& status);

// The same without any goroutine.
Result CountSerially(const gorge::Context& ctx, const std::string& root,
                     Status& status);

}  // namespace pipeline

#endif  // GORGE_EXAMPLES_PIPELINE_PIPELINE_H_
