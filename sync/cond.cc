#include "gorge/sync/cond.h"

#include "gorge/core/internal/goroutine.h"
#include "gorge/core/internal/park.h"

namespace gorge {

// Why no signal is lost. A waiter takes its ticket while it holds the user's
// lock, and only then drops that lock and queues. A Signal in between serves
// the ticket although nobody is queued with it; the waiter sees that when it
// comes, under lock_, and does not sleep. Tickets are taken in the order in
// which Waits begin, so who comes later cannot take an earlier one's signal.
//
// Signal looks at the two counters without lock_ first: if they are equal then
// nobody waited at some moment during the call. A Wait that must be seen has
// taken its ticket under the user's lock, which the signaller, who has changed
// something under it, has held since.

namespace {

// Tickets wrap around: `a` before `b`, if they are less than 2^31 apart.
bool Before(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::int32_t>(a - b) < 0;
}

}  // namespace

// The lock is dropped on both paths, on one of them by ParkAndRelease.
void Cond::WaitFor(std::uint32_t ticket) GORGE_NO_THREAD_SAFETY_ANALYSIS {
  lock_.Acquire();
  if (Before(ticket, served_.load(std::memory_order_relaxed))) {
    lock_.Release();
    return;
  }
  internal::Sudog self;
  self.g = internal::Self();
  self.index = ticket;
  waiters_.Push(self);
  internal::ParkAndRelease(lock_, internal::WaitReason::kCond, this);
}

void Cond::Signal() {
  if (served_.load(std::memory_order_relaxed) ==
      next_.load(std::memory_order_relaxed)) {
    return;
  }
  internal::WakeList woken;
  {
    internal::LockGuard hold(lock_);
    const std::uint32_t ticket = served_.load(std::memory_order_relaxed);
    if (ticket == next_.load(std::memory_order_relaxed)) return;
    served_.store(ticket + 1, std::memory_order_relaxed);
    // It is the first, or near it: tickets are taken in nearly that order.
    if (internal::Sudog* waiter = waiters_.Find(ticket)) {
      waiters_.Remove(*waiter);
      woken.Add(*waiter, true);
    }
  }
  woken.ReadyAll();
}

void Cond::Broadcast() {
  if (served_.load(std::memory_order_relaxed) ==
      next_.load(std::memory_order_relaxed)) {
    return;
  }
  internal::WakeList woken;
  {
    internal::LockGuard hold(lock_);
    served_.store(next_.load(std::memory_order_relaxed),
                  std::memory_order_relaxed);
    while (internal::Sudog* waiter = waiters_.Pop()) woken.Add(*waiter, true);
  }
  woken.ReadyAll();
}

}  // namespace gorge
