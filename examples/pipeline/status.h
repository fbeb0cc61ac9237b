// examples/pipeline/status.h -- what a user sees on stderr meanwhile.

#ifndef GORGE_EXAMPLES_PIPELINE_STATUS_H_
#define GORGE_EXAMPLES_PIPELINE_STATUS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "gorge/examples/pipeline/totals.h"

namespace pipeline {

// Lines about problems and, on a terminal, a last line that shows how far the
// work has come. For one goroutine.
class Status {
 public:
  enum class Problems { kShow, kHide };

  // `label` stands before the last line.
  explicit Status(Problems problems, std::string label = "");
  ~Status();  // Takes the last line away.
  Status(const Status&) = delete;
  Status& operator=(const Status&) = delete;

  void Show(const Problem& problem);
  void Show(const Totals& totals);  // Not more often than a person can read.

 private:
  void Clear();

  const std::string label_;
  const bool show_problems_;
  const bool on_terminal_;
  const absl::Time begin_;
  absl::Time next_;
  bool visible_ = false;  // Whether the last line is there.
};

}  // namespace pipeline

#endif  // GORGE_EXAMPLES_PIPELINE_STATUS_H_
