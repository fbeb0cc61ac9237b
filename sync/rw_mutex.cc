#include "gorge/sync/rw_mutex.h"

#include "gorge/core/internal/check.h"

namespace gorge {

// How a writer and the readers meet. The writer takes kWriter off readers_ and
// learns in the same step how many readers were inside: from then on no other
// gets in, and each of those, when it leaves, finds readers_ negative and
// counts leaving_ down. The writer adds their number to leaving_. Whoever
// brings leaving_ to zero does so after both: if that is the writer it goes on
// at once, else the last reader wakes it.
//
// A reader that finds readers_ negative has counted itself already and sleeps.
// The writer's unlock adds kWriter again and learns in the same step how many
// have counted themselves meanwhile: it owes each of them one wake-up, and with
// it the lock. Only then does it let the next writer in, who finds them inside.
// The wake-up is given to a reader that sleeps: if it were anybody's, one that
// came after the next writer could take it and go first. One that has counted
// itself but does not sleep yet can lose it so; it goes in after that writer.
//
// A *solo* writer, who finds readers_ zero, takes the lock in that one step.
// One that holds writers_ may come while the solo is inside; it finds readers_
// negative, takes its own kWriter off, and sleeps. The solo's unlock finds it
// there, for readers_ stays negative. To that writer, the readers that it lets
// in are readers inside, so it adds their number to leaving_ on its behalf, and
// wakes it if that makes zero. So of two writers at most one is solo, and one
// that is next is next: no other solo gets in before it.

void RWMutex::LockSlow() {
  writers_.lock();
  // Acq_rel: acquire for what the readers did, which they release here or by
  // leaving_; release so that their count in leaving_ comes after it.
  const std::int32_t inside =
      readers_.fetch_sub(kWriter, std::memory_order_acq_rel);
  const bool waits =
      inside < 0 ||
      (inside > 0 &&
       leaving_.fetch_add(inside, std::memory_order_acq_rel) + inside != 0);
  if (waits) {
    internal::SemAcquire(writer_wake_up_, internal::SemQueue::kLast,
                         internal::WaitReason::kRWMutex, this);
  }
  is_solo_ = false;
}

void RWMutex::unlock() {
  const bool solo = is_solo_;
  // Release: pairs with the acquire in lock_shared and lock. Acquire: readers
  // that are let in have counted themselves.
  const std::int32_t now =
      readers_.fetch_add(kWriter, std::memory_order_acq_rel) + kWriter;
  if (now == 0 && solo) return;
  if (now >= kWriter) internal::Fatal("sync: Unlock of unlocked RWMutex");
  const bool next_waits = now < 0;
  const std::int32_t waiting = next_waits ? now + kWriter : now;
  for (std::int32_t i = 0; i < waiting; ++i) {
    internal::SemRelease(reader_wake_ups_, internal::SemPermit::kGiven);
  }
  if (next_waits) {
    AddLeaving(waiting);
  } else if (!solo) {
    writers_.unlock();
  }
}

// For the writer that sleeps.
void RWMutex::AddLeaving(std::int32_t readers) {
  // Acq_rel: as in UnlockSharedSlow.
  if (leaving_.fetch_add(readers, std::memory_order_acq_rel) + readers == 0) {
    internal::SemRelease(writer_wake_up_, internal::SemPermit::kFree);
  }
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
  if (before == 0 || before == -kWriter || before == -2 * kWriter) {
    internal::Fatal("sync: RUnlock of unlocked RWMutex");
  }
  // Release for the writer; acquire, so that the last hands on what the others
  // did.
  AddLeaving(-1);
}

}  // namespace gorge
