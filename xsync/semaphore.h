// xsync/semaphore.h -- permits, several at a time, first come, first served.
//
//   gorge::Semaphore memory(1 << 20);
//   if (absl::Status s = memory.Acquire(ctx, size); !s.ok()) return s;
//   ...
//   memory.Release(size);

#ifndef GORGE_XSYNC_SEMAPHORE_H_
#define GORGE_XSYNC_SEMAPHORE_H_

#include <cstdint>
#include <list>

#include "absl/status/status.h"
#include "gorge/chan/done_chan.h"
#include "gorge/context/context.h"
#include "gorge/sync/mutex.h"

namespace gorge {

// A number of permits. Those who wait are served in the order in which they
// came: one that wants few does not overtake one that wants many. May be
// destroyed when all calls have returned. Neither copyable nor movable.
//
// Ordering: what precedes a Release happens before the return of an Acquire
//           that it serves.
// Go:       golang.org/x/sync/semaphore.
class Semaphore {
 public:
  // Panics: "semaphore: negative size".
  explicit Semaphore(std::int64_t size);
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;

  // Takes `count` permits. Returns the Err of `ctx`, and takes none, if that
  // ends before it has them, or has ended already. More than there are it never
  // gets: it waits for the end of `ctx` then, and is in nobody's way.
  //
  // Blocks: until then.
  // Panics: "semaphore: negative count".
  [[nodiscard]] absl::Status Acquire(const Context& ctx,
                                     std::int64_t count = 1);

  // Takes them if they are there and nobody waits for any.
  //
  // Blocks: never.
  // Panics: "semaphore: negative count".
  [[nodiscard]] bool TryAcquire(std::int64_t count = 1);

  // Gives them back, whoever has taken them.
  //
  // Blocks: never.
  // Panics: "semaphore: released more than held", "semaphore: negative count".
  void Release(std::int64_t count = 1);

 private:
  // On the stack of who waits.
  struct Waiter {
    const std::int64_t count;
    const DoneChan served = MakeDoneChan();
  };
  using Waiters = std::list<const Waiter*>;

  bool TryTake(std::int64_t count);  // With mutex_ held; likewise the next two.
  void ServeWaiters();
  // Of a waiter that has given up: off the list, or its permits given back.
  void Withdraw(const Waiter& waiter, Waiters::iterator place);

  const std::int64_t size_;
  Mutex mutex_;
  std::int64_t taken_ = 0;  // Guarded by mutex_.
  Waiters waiters_;         // Guarded by mutex_; oldest first.
};

}  // namespace gorge

#endif  // GORGE_XSYNC_SEMAPHORE_H_
