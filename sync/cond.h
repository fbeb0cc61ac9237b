// sync/cond.h -- waiting for something to become true.
//
//   gorge::Mutex mutex;
//   gorge::Cond changed;
//   std::deque<Job> jobs;
//
//   std::unique_lock hold(mutex);
//   changed.Wait(hold, [&] { return !jobs.empty(); });

#ifndef GORGE_SYNC_COND_H_
#define GORGE_SYNC_COND_H_

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

#include "gorge/core/internal/annotations.h"
#include "gorge/core/internal/check.h"
#include "gorge/core/internal/lock.h"
#include "gorge/core/internal/sudog.h"

namespace gorge {

// A condition variable for any lock. Waiters are woken in the order in which
// they came, and only by Signal or Broadcast: there are no spurious wake-ups.
// But when Wait returns, another may have made the condition false again.
//
// May be destroyed when nobody waits and all calls have returned.
// Constant-initialisable; neither copyable nor movable. Go: sync.Cond.
class Cond {
 public:
  constexpr Cond() = default;
  Cond(const Cond&) = delete;
  Cond& operator=(const Cond&) = delete;

  // Unlocks `lock`, waits for a Signal or Broadcast that comes after that, and
  // locks it again.
  //
  // Blocks:   the goroutine, never its worker thread; in a plain thread, the
  //           thread.
  // Panics:   if `lock` does not own its lock.
  // Ordering: what precedes the Signal happens before the return of the Wait
  //           that it ends.
  template <class L>
  void Wait(std::unique_lock<L>& lock) {
    if (!lock.owns_lock()) internal::RaisePanic("sync: Wait without the lock");
    const std::uint32_t ticket = TakeTicket();
    lock.unlock();
    WaitFor(ticket);
    lock.lock();
  }

  // The same until predicate() is true, which is called with the lock held.
  template <class L, class Predicate>
  void Wait(std::unique_lock<L>& lock, Predicate predicate) {
    while (!predicate()) Wait(lock);
  }

  // Wakes the one that has waited longest, if any. The lock may be held or not.
  //
  // Blocks: never.
  void Signal();

  // Wakes all who wait.
  //
  // Blocks: never.
  void Broadcast();

 private:
  std::uint32_t TakeTicket() {
    // Relaxed: the user's lock orders it before what a signaller has changed.
    return next_.fetch_add(1, std::memory_order_relaxed);
  }
  void WaitFor(std::uint32_t ticket);

  // Tickets are served in order: those from served_ on are waiting, or about
  // to. They wrap around.
  std::atomic<std::uint32_t> next_{0};
  std::atomic<std::uint32_t> served_{0};  // Changed under lock_.
  internal::Lock lock_{internal::LockRank::kCond};
  internal::WaitQueue waiters_ GORGE_GUARDED_BY(lock_);  // Not in order.
};

}  // namespace gorge

#endif  // GORGE_SYNC_COND_H_
