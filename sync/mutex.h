// sync/mutex.h -- mutual exclusion of goroutines and threads.
//
//   gorge::Mutex mutex;
//   {
//     std::lock_guard hold(mutex);
//     ...
//   }

#ifndef GORGE_SYNC_MUTEX_H_
#define GORGE_SYNC_MUTEX_H_

#include <atomic>
#include <cstdint>

#include "gorge/core/internal/semaphore.h"

namespace gorge {

// A lock that may be held while its goroutine blocks, and released by another
// goroutine or thread than the one that took it. Not recursive. Fits
// std::lock_guard, std::unique_lock and std::scoped_lock.
//
// Normally whoever comes first gets it, which is fast: a running goroutine
// before one that has to be woken. One that has waited for more than a
// millisecond makes the lock starving: from then on it is handed from the
// holder to the oldest waiter, until one of them has waited less than that or
// none is left. So nobody waits for long while others keep taking it.
//
// May be destroyed as soon as nobody holds it or waits for it, also by the one
// who held it last, while the unlock before that is still about to return.
// Constant-initialisable; neither copyable nor movable.
//
// Ordering: what precedes an unlock happens before the return of each later
//           lock, and of each later try_lock that returns true.
// Go:       sync.Mutex.
class Mutex {
 public:
  constexpr Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  // Blocks: until it is free: the goroutine, never its worker thread; in a
  //         plain thread, the thread. For ever if the caller holds it.
  void lock() {
    std::uint32_t free = 0;
    // Acquire: pairs with the release in unlock.
    if (!state_.compare_exchange_strong(free, kLocked,
                                        std::memory_order_acquire)) {
      LockSlow();
    }
  }

  // Takes it if it is free and nobody starves. Blocks: never.
  [[nodiscard]] bool try_lock();

  // Blocks: never; but if the lock is starving, the goroutine it is handed to
  //         runs first.
  // Fatal:  "sync: unlock of unlocked mutex".
  void unlock() {
    std::uint32_t alone = kLocked;
    // Release: pairs with the acquires in lock.
    if (!state_.compare_exchange_strong(alone, 0, std::memory_order_release,
                                        std::memory_order_relaxed)) {
      UnlockSlow();
    }
  }

 private:
  class Locking;

  static constexpr std::uint32_t kLocked = 1;
  static constexpr std::uint32_t kWoken = 2;  // Somebody awake wants it.
  static constexpr std::uint32_t kStarving = 4;
  static constexpr std::uint32_t kWaiter = 8;  // One; the rest is their number.

  void LockSlow();
  void UnlockSlow();

  std::atomic<std::uint32_t> state_{0};
  internal::Permits wake_ups_{0};
};

}  // namespace gorge

#endif  // GORGE_SYNC_MUTEX_H_
