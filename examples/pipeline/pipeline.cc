// Stages, and the channels between them:
//
//   Produce --paths--> Work, n of them --findings--> Merge
//      \_________________problems________/
//
// Both channels have a small buffer, so that a stage that is ahead waits for
// the next one instead of filling the memory. A stage ends when the channel it
// reads from is closed, and everybody ends when `done` is: each waits in a
// select that listens to it, and so nobody is left behind on a full channel.

#include "gorge/examples/pipeline/pipeline.h"

#include <optional>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gorge/core/go.h"
#include "gorge/core/runtime.h"
#include "gorge/examples/pipeline/read.h"
#include "gorge/examples/pipeline/walk.h"
#include "gorge/select/select.h"
#include "gorge/sync/wait_group.h"

namespace pipeline {
namespace {

constexpr int kPathsAhead = 256;
constexpr int kFindingsAhead = 64;

bool IsClosed(const Done& done) { return done.TryRecv().ready; }

// Sends `value` unless `done` is closed first; says whether it did.
template <class T>
bool SendOr(const Done& done, const gorge::SendChan<T>& to, T value) {
  return gorge::Select(gorge::OnRecv(done),
                       gorge::OnSend(to, std::move(value))) == 1;
}

// Receives a value; nullopt once there is none left, or `done` is closed.
template <class T>
std::optional<T> RecvOr(const Done& done, const gorge::RecvChan<T>& from) {
  std::optional<T> value;
  gorge::Select(gorge::OnRecv(done), gorge::OnRecv(from, &value));
  return value;
}

// Stage 1: finds the files.
void Produce(const std::string& root, const Done& done,
             const gorge::SendChan<std::string>& paths,
             const gorge::SendChan<Finding>& problems) {
  Walk(
      root,
      [&](std::string path) { return SendOr(done, paths, std::move(path)); },
      [&](Problem problem) {
        return SendOr(done, problems, Finding(std::move(problem)));
      });
  paths.Close();
}

// Stage 2: reads them.
void Work(const Done& done, const gorge::RecvChan<std::string>& paths,
          const gorge::SendChan<Finding>& findings) {
  const auto stopped = [&done] {
    gorge::Gosched();  // Goroutines that never block should yield at times.
    return IsClosed(done);
  };
  while (std::optional<std::string> path = RecvOr(done, paths)) {
    std::optional<Finding> finding = ReadFile(*path, stopped);
    if (!finding.has_value()) return;
    if (!SendOr(done, findings, *std::move(finding))) return;
  }
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
Totals Merge(const Done& done, const gorge::RecvChan<Finding>& findings,
             Status& status) {
  Totals totals;
  while (std::optional<Finding> finding = RecvOr(done, findings)) {
    Note(*std::move(finding), totals, status);
  }
  return totals;
}

Result Finish(Totals totals, int workers, absl::Time begin, const Done& done) {
  Result result{std::move(totals), workers,
                absl::ToDoubleSeconds(absl::Now() - begin), IsClosed(done)};
  result.totals.Sort();
  return result;
}

}  // namespace

Result CountConcurrently(const std::string& root, int workers, const Done& done,
                         Status& status) {
  const absl::Time begin = absl::Now();
  const auto paths = gorge::MakeChan<std::string>(kPathsAhead);
  const auto findings = gorge::MakeChan<Finding>(kFindingsAhead);

  gorge::WaitGroup senders;
  senders.Go([&] { Produce(root, done, paths, findings); });
  for (int i = 0; i < workers; ++i) {
    senders.Go([&] { Work(done, paths, findings); });
  }
  gorge::go([&senders, findings] {
    senders.Wait();
    findings.Close();
  });
  Totals totals = Merge(done, findings, status);
  // If it was cut short, more is still coming in. Once this channel is closed,
  // nobody uses the variables of this function any more.
  while (findings.Recv().has_value()) continue;
  return Finish(std::move(totals), workers, begin, done);
}

Result CountSerially(const std::string& root, const Done& done,
                     Status& status) {
  const absl::Time begin = absl::Now();
  Totals totals;
  const auto note = [&](Finding finding) {
    Note(std::move(finding), totals, status);
    return !IsClosed(done);
  };
  Walk(
      root,
      [&](const std::string& path) {
        std::optional<Finding> finding =
            ReadFile(path, [&] { return IsClosed(done); });
        return finding.has_value() && note(*std::move(finding));
      },
      note);
  return Finish(std::move(totals), 0, begin, done);
}

}  // namespace pipeline
