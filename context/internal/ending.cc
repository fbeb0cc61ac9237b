#include <utility>

#include "absl/status/status.h"
#include "gorge/context/internal/cancel_node.h"

namespace gorge::internal {

// The errors are made once and never destroyed: contexts are usable after main.

Ending Ending::Canceled(absl::Status cause) {
  static const auto& error =
      *new absl::Status(absl::CancelledError("context canceled"));
  return Ending(error, std::move(cause));
}

Ending Ending::DeadlineExceeded(absl::Status cause) {
  static const auto& error = *new absl::Status(
      absl::DeadlineExceededError("context deadline exceeded"));
  return Ending(error, std::move(cause));
}

}  // namespace gorge::internal
