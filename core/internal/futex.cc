#include "gorge/core/internal/futex.h"

namespace gorge::internal {

constinit std::atomic<bool> in_fork_child{false};

}  // namespace gorge::internal
