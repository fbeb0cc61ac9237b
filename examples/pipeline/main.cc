// examples/pipeline/main.cc -- counts identifiers, lines and bytes of all files
// below a directory. See pipeline.cc for the pipeline itself.
//
// Exits with 0 for a complete report (files that cannot be read are part of
// it), 130 for one that Ctrl-C cut short, 124 for one that --timeout did, and 1
// if there is none.

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gorge/context/context.h"
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
constexpr int kTimedOut = 124;     // As of timeout(1).

// What all runs of the program have in common.
struct Job {
  const Options& options;
  gorge::Context ctx;  // Ends with Ctrl-C.
  absl::Time deadline = absl::Now() + options.timeout;
};

// For one run: gorge::Run stops all timers when it returns, and so a deadline
// does not outlive it.
gorge::Cancelable WithDeadline(const Job& job) {
  const std::string duration = absl::FormatDuration(job.options.timeout);
  return gorge::WithDeadlineCause(
      job.ctx, job.deadline,
      absl::DeadlineExceededError(absl::StrCat("timed out after ", duration)));
}

Result Serially(const Job& job, Status::Problems problems,
                const std::string& label = "") {
  Status status(problems, label);
  const auto [ctx, cancel] = WithDeadline(job);
  return CountSerially(ctx, job.options.root, status);
}

Result Concurrently(const Job& job, Status::Problems problems,
                    const std::string& label = "") {
  Status status(problems, label);
  Result result;
  gorge::Run([&] {
    const auto [ctx, cancel] = WithDeadline(job);
    const int workers =
        job.options.workers > 0 ? job.options.workers : gorge::MaxProcs();
    result = CountConcurrently(ctx, job.options.root, workers, status);
  });
  return result;
}

int ExitStatus(const absl::Status& cause) {
  if (cause.ok()) return 0;
  return absl::IsDeadlineExceeded(cause) ? kTimedOut : kInterrupted;
}

// Writes the report; the exit status.
int Print(const std::string& report, const absl::Status& cause) {
  std::fwrite(report.data(), 1, report.size(), stdout);
  if (std::fflush(stdout) != 0) {
    std::fprintf(stderr, "pipeline: stdout: %s\n", std::strerror(errno));
    return kFailed;
  }
  return ExitStatus(cause);
}

int PrintOne(const Options& options, const Result& result) {
  return Print(options.json ? Json(options, result) : Report(options, result),
               result.cause);
}

// One run more to begin with, so that neither of the two that are compared has
// to wait for the disk.
int Compare(const Job& job) {
  constexpr auto kHide = Status::Problems::kHide;
  const Options& options = job.options;
  {
    const Result first =
        Concurrently(job, Status::Problems::kShow, "warming up: ");
    if (!first.cause.ok()) return PrintOne(options, first);
  }
  const Result serial = Serially(job, kHide, "serially: ");
  if (!serial.cause.ok()) return PrintOne(options, serial);
  const Result concurrent = Concurrently(job, kHide, "concurrently: ");
  if (!concurrent.cause.ok()) return PrintOne(options, concurrent);
  if (serial.totals != concurrent.totals) {
    std::fputs("pipeline: the results differ: did the files change?\n", stderr);
    return kFailed;
  }
  return Print(options.json ? JsonRatio(options, serial, concurrent)
                            : absl::StrCat(Report(options, concurrent),
                                           ReportRatio(serial, concurrent)),
               concurrent.cause);
}

int Main(int argc, char** argv) {
  const Options options = ParseOptions(argc, argv);
  const Interrupt interrupt;
  const Job job{options, interrupt.ctx()};
  switch (options.mode) {
    case Options::Mode::kSerial:
      return PrintOne(options, Serially(job, Status::Problems::kShow));
    case Options::Mode::kConcurrent:
      return PrintOne(options, Concurrently(job, Status::Problems::kShow));
    case Options::Mode::kCompare:
      return Compare(job);
  }
  return kFailed;
}

}  // namespace
}  // namespace pipeline

int main(int argc, char** argv) { return pipeline::Main(argc, argv); }
