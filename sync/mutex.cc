#include "gorge/sync/mutex.h"

#include <chrono>

#include "gorge/core/internal/check.h"
#include "gorge/core/internal/spin.h"

namespace gorge {

// The protocol. state_ says all: locked, woken, starving, how many wait.
//
// Who finds the lock taken spins a little if that can help, then counts himself
// as a waiter in the same step that finds it taken, and sleeps on wake_ups_.
//
// Unlock, in one step, clears kLocked and, if there are waiters and none of
// them is awake, counts one out and sets kWoken; only then does it release a
// wake-up. kWoken stays until somebody who is awake takes the lock or goes to
// sleep again; while it is set nobody else is woken. A spinner sets it too, so
// that an unlock leaves the sleepers alone.
//
// While kStarving is set, so are kLocked and at least one waiter: unlock
// changes nothing and releases a wake-up, and who takes that has the lock with
// it. It counts itself out, and ends the starving if it is the last or has
// waited for less than kPatience.
//
// So whoever comes out of the semaphore must know what the wake-up meant, and
// can see it by kStarving. It is set only by a waiter that has slept and is
// awake, to which kWoken belongs; so at that moment no other wake-up is under
// way, and none that means "try again" is released before kStarving is cleared,
// which only the lock's owner does.
//
// After the step that gives the lock away, unlock does not touch the mutex
// again, but for wake_ups_, and for that only while a waiter needs it. So the
// next owner may destroy it. The tempting variant subtracts kLocked first and
// then looks at whom to wake: by then somebody may have locked, unlocked and
// destroyed it.

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPatience{1};

}  // namespace

// One call of lock() that found the mutex taken.
class Mutex::Locking {
 public:
  explicit Locking(Mutex& mutex) : mutex_(mutex) {}

  void Run() {
    state_ = mutex_.state_.load(std::memory_order_relaxed);
    while (true) {
      if (TrySpin()) continue;
      if (TryEnter()) {
        if (entered_) return;
        Sleep();
        if (entered_) return;
      }
    }
  }

 private:
  // One turn of waiting awake; false if it is time to do something.
  bool TrySpin() {
    if ((state_ & (kLocked | kStarving)) != kLocked ||
        !internal::CanSpin(spins_)) {
      return false;
    }
    if (!woken_ && (state_ & kWoken) == 0 && state_ >= kWaiter &&
        mutex_.state_.compare_exchange_strong(state_, state_ | kWoken,
                                              std::memory_order_relaxed)) {
      woken_ = true;
    }
    internal::Spin(spins_);
    ++spins_;
    state_ = mutex_.state_.load(std::memory_order_relaxed);
    return true;
  }

  // Takes the lock, or joins the waiters if it is taken. False, with a newer
  // state_, if that has to be tried again.
  bool TryEnter() {
    const bool free = (state_ & kLocked) == 0;
    std::uint32_t next = free ? state_ | kLocked : state_ + kWaiter;
    if (starving_ && !free) next |= kStarving;
    if (woken_) next &= ~kWoken;
    // Acquire: pairs with the release in unlock.
    if (!mutex_.state_.compare_exchange_weak(state_, next,
                                             std::memory_order_acquire,
                                             std::memory_order_relaxed)) {
      return false;
    }
    entered_ = free;
    return true;
  }

  void Sleep() {
    const bool again = began_ != Clock::time_point{};
    if (!again) began_ = Clock::now();
    internal::SemAcquire(
        mutex_.wake_ups_,
        again ? internal::SemQueue::kFirst : internal::SemQueue::kLast,
        internal::WaitReason::kMutex, &mutex_);
    starving_ = starving_ || Clock::now() - began_ > kPatience;
    // Relaxed: ordered by the semaphore.
    state_ = mutex_.state_.load(std::memory_order_relaxed);
    if ((state_ & kStarving) != 0) {
      TakeOver();
      return;
    }
    // The unlock that woke us has counted us out and set kWoken.
    woken_ = true;
    spins_ = 0;
  }

  // The lock is ours: kLocked has stayed set.
  void TakeOver() {
    std::uint32_t next;
    do {
      next = state_ - kWaiter;
      if (!starving_ || next < kWaiter) next &= ~kStarving;
    } while (!mutex_.state_.compare_exchange_weak(
        state_, next, std::memory_order_acquire, std::memory_order_relaxed));
    entered_ = true;
  }

  Mutex& mutex_;
  std::uint32_t state_ = 0;  // As last seen.
  int spins_ = 0;
  bool woken_ = false;     // kWoken is set on our behalf.
  bool starving_ = false;  // We have waited for too long.
  bool entered_ = false;
  Clock::time_point began_{};  // When we first went to sleep.
};

void Mutex::LockSlow() { Locking(*this).Run(); }

bool Mutex::try_lock() {
  std::uint32_t state = state_.load(std::memory_order_relaxed);
  return (state & kLocked) == 0 &&
         state_.compare_exchange_strong(state, state | kLocked,
                                        std::memory_order_acquire,
                                        std::memory_order_relaxed);
}

void Mutex::UnlockSlow() {
  std::uint32_t state = state_.load(std::memory_order_relaxed);
  while (true) {
    if ((state & kLocked) == 0) {
      internal::Fatal("sync: unlock of unlocked mutex");
    }
    if ((state & kStarving) != 0) {
      internal::SemRelease(wake_ups_, internal::SemPermit::kHanded);
      return;
    }
    const bool wakes = state >= kWaiter && (state & kWoken) == 0;
    std::uint32_t next = state & ~kLocked;
    if (wakes) next = (next - kWaiter) | kWoken;
    if (state_.compare_exchange_weak(state, next, std::memory_order_release,
                                     std::memory_order_relaxed)) {
      if (wakes) {
        internal::SemRelease(wake_ups_, internal::SemPermit::kFree);
      }
      return;
    }
  }
}

}  // namespace gorge
