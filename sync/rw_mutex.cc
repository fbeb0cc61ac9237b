#include "gorge/sync/rw_mutex.h"

#include "gorge/core/internal/check.h"

namespace gorge {

// How a writer and the readers meet. The writer takes 2^30 off readers_ and
// learns in the same step how many readers were inside: from then on no other
// gets in, and each of those, when it leaves, finds readers_ negative and
// counts leaving_ down. The writer adds their number to leaving_. Whoever
// brings leaving_ to zero does so after both: if that is the writer it goes on
// at once, else the last reader wakes it.
//
// A reader that finds readers_ negative has counted itself already and sleeps.
// The writer's unlock adds the 2^30 again and learns in the same step how many
// have counted themselves meanwhile: it owes each of them one wake-up, and with
// it the lock. Only then does it let the next writer in, who finds them inside.

namespace {

constexpr std::int32_t kWriter = 1 << 30;

}  // namespace

void RWMutex::lock() {
  writers_.lock();
  // Acq_rel: acquire for what the readers did, which they release here or by
  // leaving_; release so that their count in leaving_ comes after it.
  const std::int32_t inside =
      readers_.fetch_sub(kWriter, std::memory_order_acq_rel);
  if (inside != 0 &&
      leaving_.fetch_add(inside, std::memory_order_acq_rel) + inside != 0) {
    internal::SemAcquire(writer_wake_up_, internal::SemQueue::kLast,
                         internal::WaitReason::kRWMutex, this);
  }
}

bool RWMutex::try_lock() {
  if (!writers_.try_lock()) return false;
  std::int32_t none = 0;
  if (readers_.compare_exchange_strong(none, -kWriter,
                                       std::memory_order_acquire)) {
    return true;
  }
  writers_.unlock();
  return false;
}

void RWMutex::unlock() {
  // Release: pairs with the acquire in lock_shared.
  const std::int32_t waiting =
      readers_.fetch_add(kWriter, std::memory_order_release) + kWriter;
  if (waiting >= kWriter) {
    internal::Fatal("sync: Unlock of unlocked RWMutex");
  }
  for (std::int32_t i = 0; i < waiting; ++i) {
    internal::SemRelease(reader_wake_ups_, internal::SemPermit::kFree);
  }
  writers_.unlock();
}

void RWMutex::LockSharedSlow() {
  internal::SemAcquire(reader_wake_ups_, internal::SemQueue::kLast,
                       internal::WaitReason::kRWMutex, this);
}

bool RWMutex::try_lock_shared() {
  std::int32_t readers = readers_.load(std::memory_order_relaxed);
  while (readers >= 0) {
    if (readers_.compare_exchange_weak(readers, readers + 1,
                                       std::memory_order_acquire,
                                       std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

void RWMutex::UnlockSharedSlow(std::int32_t before) {
  if (before == 0 || before == -kWriter) {
    internal::Fatal("sync: RUnlock of unlocked RWMutex");
  }
  // Acq_rel: release for the writer; acquire, so that the last hands on what
  // the others did.
  if (leaving_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    internal::SemRelease(writer_wake_up_, internal::SemPermit::kFree);
  }
}

}  // namespace gorge
