// sync/rw_mutex.h -- many readers or one writer.
//
//   gorge::RWMutex mutex;
//   { std::shared_lock hold(mutex); ... }   // reads
//   { std::unique_lock hold(mutex); ... }   // writes

#ifndef GORGE_SYNC_RW_MUTEX_H_
#define GORGE_SYNC_RW_MUTEX_H_

#include <atomic>
#include <cstdint>

#include "gorge/core/internal/annotations.h"
#include "gorge/core/internal/semaphore.h"
#include "gorge/sync/mutex.h"

namespace gorge {

// A lock that either any number of readers or one writer holds. May be held
// while its goroutine blocks, and released by another goroutine or thread than
// the one that took it. Has the names of std::shared_mutex and fits
// std::shared_lock and std::unique_lock.
//
// A writer that waits keeps new readers out, and the readers that wait when it
// is done go before the next writer: neither side waits for ever. So a reader
// must not take it twice: between the two a writer may have come.
//
// Up to 2^30 - 1 readers. May be destroyed when all calls have returned.
// Constant-initialisable; neither copyable nor movable.
//
// Ordering: what precedes an unlock happens before the return of each later
//           lock and lock_shared, what precedes an unlock_shared before that of
//           each later lock.
// Go:       sync.RWMutex.
class RWMutex {
 public:
  constexpr RWMutex() = default;
  RWMutex(const RWMutex&) = delete;
  RWMutex& operator=(const RWMutex&) = delete;

  // For writing.
  //
  // Blocks: until no writer and no reader holds it.
  void lock() {
    if (!try_lock()) LockSlow();
  }
  // May be false if somebody waits for it. Blocks: never.
  [[nodiscard]] bool try_lock() {
    std::int32_t nobody = 0;
    // Acquire: pairs with the releases in unlock and unlock_shared.
    if (!readers_.compare_exchange_strong(nobody, -kWriter,
                                          std::memory_order_acquire,
                                          std::memory_order_relaxed)) {
      return false;
    }
    is_solo_ = true;
    return true;
  }
  // Fatal:  "sync: Unlock of unlocked RWMutex".
  void unlock();

  // For reading.
  //
  // Blocks: until no writer holds it or has been waiting for it.
  void lock_shared() {
    // Acquire: pairs with the release in unlock.
    if (readers_.fetch_add(1, std::memory_order_acquire) < 0) [[unlikely]] {
      LockSharedSlow();
    }
  }
  // False also if a writer waits. Blocks: never.
  [[nodiscard]] bool try_lock_shared();
  // Fatal:  "sync: RUnlock of unlocked RWMutex".
  void unlock_shared() {
    // Release: pairs with the acquire in lock.
    const std::int32_t before =
        readers_.fetch_sub(1, std::memory_order_release);
    if (before <= 0) [[unlikely]] {
      UnlockSharedSlow(before);
    }
  }

 private:
  static constexpr std::int32_t kWriter = 1 << 30;

  void LockSlow();
  void LockSharedSlow();
  void UnlockSharedSlow(std::int32_t before);
  void AddLeaving(std::int32_t readers);

  // Readers, those that a writer keeps out included; less kWriter for a writer
  // that has the lock, and for one that is next.
  std::atomic<std::int32_t> readers_{0};
  // The holder's own: it found nobody and took the lock without writers_.
  bool is_solo_ = false;
  Mutex writers_;  // Held by the other writer: who has the lock or is next.
  // Readers that the writer in writers_ still waits for. Those that leave
  // before it was said how many they are make it negative.
  std::atomic<std::int32_t> leaving_{0};
  internal::Permits writer_wake_up_{0};
  internal::Permits reader_wake_ups_{0};
};

}  // namespace gorge

#endif  // GORGE_SYNC_RW_MUTEX_H_
