#include "gorge/sync/internal/map_shards.h"

#include <algorithm>
#include <bit>

#include "gorge/core/internal/procs.h"

namespace gorge::internal {

int MapShardBits() {
  // Eight for each CPU: two that write are in the same one an eighth of the
  // time at most. A shard is a cache line and its table.
  static const int bits = std::bit_width(
      std::clamp(8u * static_cast<unsigned>(CountCpus()), 16u, 512u) - 1);
  return bits;
}

}  // namespace gorge::internal
