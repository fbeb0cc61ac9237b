// examples/pipeline/report.h -- results for people.

#ifndef GORGE_EXAMPLES_PIPELINE_REPORT_H_
#define GORGE_EXAMPLES_PIPELINE_REPORT_H_

#include <string>

#include "gorge/examples/pipeline/options.h"
#include "gorge/examples/pipeline/pipeline.h"

namespace pipeline {

// All that `result` says, as text of less than 80 columns.
std::string Report(const Options& options, const Result& result);

// How the two times compare. The results agree.
std::string ReportRatio(const Result& serial, const Result& concurrent);

}  // namespace pipeline

#endif  // GORGE_EXAMPLES_PIPELINE_REPORT_H_
