#include "gorge/sync/internal/read_bias.h"

namespace gorge::internal {

constinit ReadSlot read_slots[kThreadNumbers] = {};

// Returns whether somebody still reads without the lock.
bool ReadBias::IsRead() const {
  const int end = ThreadNumbersGiven();
  for (int i = 0; i < end; ++i) {
    // Acquire: pairs with the release in Leave.
    if (read_slots[i].reads.load(std::memory_order_acquire) == this) {
      return true;
    }
  }
  return false;
}

void ReadBias::RevokeSlow() {
  locked_reads_.store(0, std::memory_order_relaxed);
  // Relaxed, both: ordered by the fence; pairs with TryEnter and Leave.
  biased_.store(false, std::memory_order_relaxed);
  revoking_.store(true, std::memory_order_relaxed);
  HeavyFence();
  while (IsRead()) {
    SemAcquire(left_, SemQueue::kLast, WaitReason::kRWMutex, this);
  }
  revoking_.store(false, std::memory_order_relaxed);
}

}  // namespace gorge::internal
