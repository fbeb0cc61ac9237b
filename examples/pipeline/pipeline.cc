// Stages, and the channels between them:
//
//   Produce --paths--> Work, n of them --findings--> Merge
//      \_________________problems________/
//
// Both channels have a small buffer, so that a stage that is ahead waits for
// the next one instead of filling the memory. A stage ends when the channel it
// reads from is closed, and everybody ends when the context does: each waits in
// a select that listens to it, and so nobody is left behind on a full channel.
//
// The first two stages are one ErrGroup. A file that cannot be read is a
// finding like any other: an error of the group means that a stage gave up,
// since the context ended, and that files are missing.

#include "gorge/examples/pipeline/pipeline.h"

#include <cstddef>
#include <optional>
#include <utility>
#include <variant>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/core/runtime.h"
#include "gorge/examples/pipeline/read.h"
#include "gorge/examples/pipeline/walk.h"
#include "gorge/select/select.h"
#include "gorge/xsync/err_group.h"

namespace pipeline {
namespace {

constexpr int kPathsAhead = 256;
constexpr int kFindingsAhead = 64;

bool HasEnded(const gorge::Context& ctx) { return !ctx.Err().ok(); }

// The same for goroutines that may not block for long: they should yield.
bool HasEndedYielding(const gorge::Context& ctx) {
  gorge::Gosched();
  return HasEnded(ctx);
}

// Sends `value`, unless `ctx` ends first: then its Err.
template <class T>
absl::Status Send(const gorge::Context& ctx, const gorge::SendChan<T>& to,
                  T value) {
  const std::size_t chosen = gorge::Select(gorge::OnRecv(ctx.Done()),
                                           gorge::OnSend(to, std::move(value)));
  return chosen == 0 ? ctx.Err() : absl::OkStatus();
}

// Calls f(value) -> absl::Status for each value that comes, until there are no
// more, f has an error, or `ctx` ends: then its Err.
template <class T, class F>
absl::Status ForEach(const gorge::Context& ctx, const gorge::RecvChan<T>& from,
                     F f) {
  while (true) {
    std::optional<T> value;
    const std::size_t chosen =
        gorge::Select(gorge::OnRecv(ctx.Done()), gorge::OnRecv(from, &value));
    if (chosen == 0) return ctx.Err();
    if (!value.has_value()) return absl::OkStatus();
    if (absl::Status status = f(*std::move(value)); !status.ok()) return status;
  }
}

// Stage 1: finds the files.
absl::Status Produce(const gorge::Context& ctx, const std::string& root,
                     const gorge::SendChan<std::string>& paths,
                     const gorge::SendChan<Finding>& problems) {
  const bool all = Walk(
      root, [&ctx] { return HasEndedYielding(ctx); },
      [&](std::string path) { return Send(ctx, paths, std::move(path)).ok(); },
      [&](Problem problem) {
        return Send(ctx, problems, Finding(std::move(problem))).ok();
      });
  paths.Close();
  return all ? absl::OkStatus() : ctx.Err();
}

// Stage 2: reads them.
absl::Status Work(const gorge::Context& ctx,
                  const gorge::RecvChan<std::string>& paths,
                  const gorge::SendChan<Finding>& findings) {
  const auto stopped = [&ctx] { return HasEndedYielding(ctx); };
  return ForEach(ctx, paths, [&](const std::string& path) {
    std::optional<Finding> finding = ReadFile(path, stopped);
    return finding.has_value() ? Send(ctx, findings, *std::move(finding))
                               : ctx.Err();
  });
}

// What both ways of counting do with a finding.
void Note(Finding finding, Totals& totals, Status& status) {
  if (const auto* problem = std::get_if<Problem>(&finding)) {
    status.Show(*problem);
  }
  totals.Add(std::move(finding));
  status.Show(totals);
}

// Stage 3: adds up what they find.
absl::Status Merge(const gorge::Context& ctx,
                   const gorge::RecvChan<Finding>& findings, Totals& totals,
                   Status& status) {
  return ForEach(ctx, findings, [&](Finding finding) {
    Note(std::move(finding), totals, status);
    return absl::OkStatus();
  });
}

Result Finish(Totals totals, int workers, absl::Time begin,
              absl::Status cause) {
  Result result{std::move(totals), workers,
                absl::ToDoubleSeconds(absl::Now() - begin), std::move(cause)};
  result.totals.Sort();
  return result;
}

}  // namespace

Result CountConcurrently(const gorge::Context& ctx, const std::string& root,
                         int workers, Status& status) {
  const absl::Time begin = absl::Now();
  const auto paths = gorge::MakeChan<std::string>(kPathsAhead);
  const auto findings = gorge::MakeChan<Finding>(kFindingsAhead);

  auto senders = gorge::ErrGroup::WithContext(ctx);
  senders.group.Go([&] { return Produce(senders.ctx, root, paths, findings); });
  for (int i = 0; i < workers; ++i) {
    senders.group.Go([&] { return Work(senders.ctx, paths, findings); });
  }
  gorge::go([&senders, findings] {
    static_cast<void>(senders.group.Wait());
    findings.Close();
  });
  // Not the context of the senders: that ends with them, and the last findings
  // are on their way then.
  Totals totals;
  const absl::Status merged = Merge(ctx, findings, totals, status);
  // If it was cut short, more is still coming in. Once this channel is closed,
  // nobody uses the variables of this function any more.
  while (findings.Recv().has_value()) continue;
  const bool all = merged.ok() && senders.group.Wait().ok();
  return Finish(std::move(totals), workers, begin,
                all ? absl::OkStatus() : gorge::Cause(ctx));
}

Result CountSerially(const gorge::Context& ctx, const std::string& root,
                     Status& status) {
  const absl::Time begin = absl::Now();
  Totals totals;
  const auto stopped = [&ctx] { return HasEnded(ctx); };
  const auto note = [&](Finding finding) {
    Note(std::move(finding), totals, status);
    return true;
  };
  const bool all = Walk(
      root, stopped,
      [&](const std::string& path) {
        std::optional<Finding> finding = ReadFile(path, stopped);
        return finding.has_value() && note(*std::move(finding));
      },
      [&](Problem problem) { return !stopped() && note(std::move(problem)); });
  return Finish(std::move(totals), 0, begin,
                all ? absl::OkStatus() : gorge::Cause(ctx));
}

}  // namespace pipeline
