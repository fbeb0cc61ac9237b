#include "gorge/sync/wait_group.h"

#include "gorge/core/internal/check.h"
#include "gorge/core/internal/park.h"

namespace gorge {

// How a Wait and the Add that ends it meet. The number of waiters is changed
// only under lock_, together with waiters_. A Wait that finds the counter off
// zero counts itself with a compare-and-swap on both: so the Add that brings
// the counter to zero either sees it counted, or it sees zero and does not
// park. An Add that sees waiters takes lock_, behind which they all are queued
// by then. After it has dropped lock_ it does not touch the group again: the
// first to wake may destroy it.

namespace {

std::int32_t CounterOf(std::uint64_t state) {
  return static_cast<std::int32_t>(state >> 32);
}

}  // namespace

void WaitGroup::AddSlow(int delta, std::int32_t counter) {
  const bool negative = counter < 0;
  if (negative || (delta > 0 && counter == delta)) {
    // Taken back: others go on with a group that is in order.
    const std::uint64_t added = static_cast<std::uint64_t>(std::int64_t{delta})
                                << 32;
    const std::uint64_t state =
        state_.fetch_sub(added, std::memory_order_relaxed) - added;
    // A Wait that came in between has parked for a count that never was.
    if (CounterOf(state) == 0 && state != 0) WakeAll();
    internal::RaisePanic(
        negative ? "sync: negative WaitGroup counter"
                 : "sync: WaitGroup misuse: Add called concurrently with Wait");
  }
  if (counter == 0) WakeAll();
}

void WaitGroup::WakeAll() {
  internal::WakeList woken;
  {
    internal::LockGuard hold(lock_);
    while (internal::Sudog* waiter = waiters_.Pop()) {
      woken.Add(*waiter, true);
      // Relaxed: the lock orders it.
      state_.fetch_sub(1, std::memory_order_relaxed);
    }
  }
  woken.ReadyAll();
}

// The lock is dropped on both paths, on one of them by ParkAndRelease.
void WaitGroup::WaitSlow() GORGE_NO_THREAD_SAFETY_ANALYSIS {
  lock_.Acquire();
  std::uint64_t state = state_.load(std::memory_order_acquire);
  do {
    if (CounterOf(state) == 0) {
      lock_.Release();
      return;
    }
    // Acquire: what a failure reads may be the zero that we return on.
  } while (!state_.compare_exchange_weak(state, state + 1,
                                         std::memory_order_acquire));
  internal::Sudog self;
  self.g = internal::Self();
  waiters_.Push(self);
  internal::ParkAndRelease(lock_, internal::WaitReason::kWaitGroup, this);
  if (state_.load(std::memory_order_relaxed) != 0) {
    internal::RaisePanic(
        "sync: WaitGroup is reused before previous Wait has returned");
  }
}

}  // namespace gorge
