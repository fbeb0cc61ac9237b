#include "gorge/examples/pipeline/status.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "gorge/core/runtime.h"
#include "gorge/examples/pipeline/text.h"

namespace pipeline {
namespace {

constexpr absl::Duration kInterval = absl::Milliseconds(100);

// In one go, so that lines of different programs do not mix.
void Write(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace

Status::Status(Problems problems, std::string label)
    : label_(std::move(label)),
      show_problems_(problems == Problems::kShow),
      on_terminal_(isatty(STDERR_FILENO) != 0),
      begin_(absl::Now()),
      next_(begin_ + kInterval) {}

Status::~Status() { Clear(); }

void Status::Show(const Problem& problem) {
  if (!show_problems_) return;
  Clear();
  Write(absl::StrCat("pipeline: ", Printable(problem.path), ": ",
                     problem.reason, "\n"));
}

void Status::Show(const Totals& totals) {
  if (!on_terminal_) return;
  const absl::Time now = absl::Now();
  if (now < next_) return;
  next_ = now + kInterval;
  Write(
      absl::StrFormat("\r%s%s   %s   %s   %d goroutines\x1b[K", label_,
                      Plural(totals.files, "file"), Size(totals.bytes),
                      Speed(totals.bytes, absl::ToDoubleSeconds(now - begin_)),
                      gorge::NumGoroutine()));
  visible_ = true;
}

void Status::Clear() {
  if (visible_) Write("\r\x1b[K");
  visible_ = false;
}

}  // namespace pipeline
