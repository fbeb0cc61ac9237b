#include "absl/status/status.h"
#include "gorge/context/internal/cancel_node.h"

namespace gorge::internal {

Ending Ending::Canceled(absl::Status cause) {
  Ending ending;
  ending.cause_ = std::move(cause);
  return ending;
}

Ending Ending::DeadlineExceeded(absl::Status cause) {
  Ending ending;
  ending.kind_ = Kind::kDeadlineExceeded;
  ending.cause_ = std::move(cause);
  return ending;
}

Ending Ending::Of(absl::Status error, absl::Status cause) {
  Ending ending;
  ending.kind_ = Kind::kOther;
  ending.other_ = std::move(error);
  ending.cause_ = std::move(cause);
  return ending;
}

absl::Status Ending::Err() const {
  // Made once, and never destroyed: contexts are usable after main.
  static const auto& canceled =
      *new absl::Status(absl::CancelledError("context canceled"));
  static const auto& deadline_exceeded = *new absl::Status(
      absl::DeadlineExceededError("context deadline exceeded"));
  switch (kind_) {
    case Kind::kCanceled:
      return canceled;
    case Kind::kDeadlineExceeded:
      return deadline_exceeded;
    case Kind::kOther:
      break;
  }
  return other_;
}

}  // namespace gorge::internal
