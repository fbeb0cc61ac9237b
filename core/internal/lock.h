// core/internal/lock.h -- the runtime's own mutual exclusion: one word, short
// sections, blocks the thread.
//
// Always true:
//   (1) word_ is 1 while some thread holds the lock, else 0.
//   (2) A thread that sleeps in AcquireSlow is counted in LockWaiters(this),
//       and stays counted until it has the lock.
//   (3) Release touches nothing of the lock after its store to word_. So the
//       next owner may free the memory at once; channels rely on it.
//
// Why no wake-up is lost. Release stores 0 and then reads the waiter count; a
// waiter raises the count and then looks at the word. Each needs its store to
// be seen before its read, the pattern of fence.h: Release takes the light
// half, AcquireSlow the heavy one. After the waiter's heavy fence, either it
// sees the 0, or whoever holds the lock will read the raised count when it
// releases. It wakes one waiter; that one competes again, and whoever wins
// reads the count in turn.
//
// The count lies in a table hashed by address and not in the lock, because of
// (3): reading it after the store must be safe although the lock may be gone.
// Two locks that share an entry cost each other a needless system call while
// somebody sleeps, nothing else. The tempting variant, the usual three-state
// futex word, makes every release an atomic exchange: 6 ns, twice a message.
//
// A lock may be released on another stack than it was taken on, as a parking
// goroutine's is, but on the same thread.

#ifndef GORGE_CORE_INTERNAL_LOCK_H_
#define GORGE_CORE_INTERNAL_LOCK_H_

#include <atomic>
#include <cstdint>

#include "gorge/core/internal/annotations.h"
#include "gorge/core/internal/atomic.h"
#include "gorge/core/internal/fence.h"
#include "gorge/core/internal/lock_rank.h"

namespace gorge::internal {

struct alignas(kCacheLine) LockWaiterCount {
  std::atomic<std::uint32_t> count{0};
};
inline constexpr unsigned kLockWaiterShift = 58;  // 64 entries.
extern LockWaiterCount lock_waiter_counts[64];

class GORGE_CAPABILITY("lock") Lock {
 public:
  constexpr explicit Lock(LockRank rank) : rank_(rank) {}
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  // Blocks: the thread, for as long as another one holds the lock.
  void Acquire() GORGE_ACQUIRE() {
    NoteAcquire();
    // Acquire: pairs with the release store in Release.
    if (word_.exchange(1, std::memory_order_acquire) != 0) [[unlikely]] {
      AcquireSlow();
    }
  }

  void Release() GORGE_RELEASE() {
    NoteRelease();
    std::atomic<std::uint32_t>& waiters = WaiterCount();
    // Release: publishes the section to the next Acquire.
    word_.store(0, std::memory_order_release);
    LightFence();
    // Relaxed: ordered by the fence; pairs with AcquireSlow.
    if (waiters.load(std::memory_order_relaxed) != 0) [[unlikely]] {
      WakeWaiter();
    }
  }

  // True if somebody holds it, or did a moment ago.
  bool IsHeld() const { return word_.load(std::memory_order_relaxed) != 0; }

  // In the child of a fork: frees the lock, whose holder, if any, is no more.
  void ForgetHolder() { word_.store(0, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint32_t>& WaiterCount() const {
    const auto address = reinterpret_cast<std::uintptr_t>(this);
    return lock_waiter_counts[(address * 0x9e3779b97f4a7c15u) >>
                              kLockWaiterShift]
        .count;
  }

  void AcquireSlow();       // Pauses a few times, then sleeps.
  void WakeWaiter() const;  // Uses the address of word_ only, by (3).

#if GORGE_CHECKED
  void NoteAcquire() const;  // Verifies the rank.
  void NoteRelease() const;
#else
  void NoteAcquire() const {}
  void NoteRelease() const {}
#endif

  std::atomic<std::uint32_t> word_{0};
  [[maybe_unused]] const LockRank rank_;  // Looked at by checked builds.
};

// Holds a lock for the length of a scope.
class GORGE_SCOPED_CAPABILITY LockGuard {
 public:
  explicit LockGuard(Lock& lock) GORGE_ACQUIRE(lock) : lock_(lock) {
    lock_.Acquire();
  }
  ~LockGuard() GORGE_RELEASE() { lock_.Release(); }
  LockGuard(const LockGuard&) = delete;
  LockGuard& operator=(const LockGuard&) = delete;

 private:
  Lock& lock_;
};

}  // namespace gorge::internal

#endif  // GORGE_CORE_INTERNAL_LOCK_H_
