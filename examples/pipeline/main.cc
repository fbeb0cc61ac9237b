// examples/pipeline/main.cc -- counts identifiers, lines and bytes of all files
// below a directory. See pipeline.cc for the pipeline itself.
//
// Exits with 0 for a complete report (files that cannot be read are part of
// it), 130 for one that Ctrl-C cut short, and 1 if there is none.

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "gorge/core/runtime.h"
#include "gorge/examples/pipeline/interrupt.h"
#include "gorge/examples/pipeline/json.h"
#include "gorge/examples/pipeline/options.h"
#include "gorge/examples/pipeline/pipeline.h"
#include "gorge/examples/pipeline/report.h"
#include "gorge/examples/pipeline/status.h"

namespace pipeline {
namespace {

constexpr int kFailed = 1;
constexpr int kInterrupted = 130;  // 128 + SIGINT, as shells count.

Result Serially(const Options& options, const Done& done,
                Status::Problems problems, const std::string& label = "") {
  Status status(problems, label);
  return CountSerially(options.root, done, status);
}

Result Concurrently(const Options& options, const Done& done,
                    Status::Problems problems, const std::string& label = "") {
  Status status(problems, label);
  Result result;
  gorge::Run([&] {
    const int workers =
        options.workers > 0 ? options.workers : gorge::MaxProcs();
    result = CountConcurrently(options.root, workers, done, status);
  });
  return result;
}

// Writes the report; the exit status.
int Print(const std::string& report, bool interrupted) {
  std::fwrite(report.data(), 1, report.size(), stdout);
  if (std::fflush(stdout) != 0) {
    std::fprintf(stderr, "pipeline: stdout: %s\n", std::strerror(errno));
    return kFailed;
  }
  return interrupted ? kInterrupted : 0;
}

int PrintOne(const Options& options, const Result& result) {
  return Print(options.json ? Json(options, result) : Report(options, result),
               result.interrupted);
}

// One run more to begin with, so that neither of the two that are compared has
// to wait for the disk.
int Compare(const Options& options, const Done& done) {
  constexpr auto kHide = Status::Problems::kHide;
  {
    const Result first =
        Concurrently(options, done, Status::Problems::kShow, "warming up: ");
    if (first.interrupted) return PrintOne(options, first);
  }
  const Result serial = Serially(options, done, kHide, "serially: ");
  if (serial.interrupted) return PrintOne(options, serial);
  const Result concurrent =
      Concurrently(options, done, kHide, "concurrently: ");
  if (concurrent.interrupted) return PrintOne(options, concurrent);
  if (serial.totals != concurrent.totals) {
    std::fputs("pipeline: the results differ: did the files change?\n", stderr);
    return kFailed;
  }
  return Print(options.json ? JsonRatio(options, serial, concurrent)
                            : absl::StrCat(Report(options, concurrent),
                                           ReportRatio(serial, concurrent)),
               false);
}

int Main(int argc, char** argv) {
  const Options options = ParseOptions(argc, argv);
  const Interrupt interrupt;
  const Done done = interrupt.done();
  switch (options.mode) {
    case Options::Mode::kSerial:
      return PrintOne(options,
                      Serially(options, done, Status::Problems::kShow));
    case Options::Mode::kConcurrent:
      return PrintOne(options,
                      Concurrently(options, done, Status::Problems::kShow));
    case Options::Mode::kCompare:
      return Compare(options, done);
  }
  return kFailed;
}

}  // namespace
}  // namespace pipeline

int main(int argc, char** argv) { return pipeline::Main(argc, argv); }
