// examples/pipeline/json.h -- results for programs.

#ifndef GORGE_EXAMPLES_PIPELINE_JSON_H_
#define GORGE_EXAMPLES_PIPELINE_JSON_H_

#include <string>

#include "gorge/examples/pipeline/options.h"
#include "gorge/examples/pipeline/pipeline.h"

namespace pipeline {

// All that `result` says, as one JSON object.
std::string Json(const Options& options, const Result& result);

// Both results, which agree, and the ratio.
std::string JsonRatio(const Options& options, const Result& serial,
                      const Result& concurrent);

}  // namespace pipeline

#endif  // GORGE_EXAMPLES_PIPELINE_JSON_H_
