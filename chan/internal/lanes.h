// chan/internal/lanes.h -- where the receivers of a DoneChan wait.
//
// Nobody sends on such a channel, but thousands of goroutines may listen to
// one, each time that they wait for something else as well. In one queue under
// one lock they would take turns. So once two threads are seen to meet at a
// DoneChan it gets lanes: a lock and a queue each, on cache lines of their own.
// From then on a receiver waits in the lane of its thread, and Close comes by
// all lanes. While nobody closes, the threads only read what they share.
//
// Always true:
//   (1) Lanes are made under the channel's lock, while it is open, and stay as
//       long as its memory. So a Close, which marks the channel closed under
//       that lock, finds all lanes that there will ever be.
//   (2) A receiver looks at the mark with its lane locked, and joins the queue
//       before it lets go. Close marks, and then locks the lanes in turn. So
//       either it finds the receiver in the queue, or the receiver locks the
//       lane after it, and finds the mark. Who waits at the channel itself,
//       from before there were lanes, is found under the channel's lock.
//   (3) A select counts itself in the lane when it joins, and off when it has
//       left, both under the lane's lock.
//
// Lifetime. At any other channel a parked select holds a reference; here that
// would be one word that all threads write. Instead the counts are gathered
// when the last handle has gone: with all lanes locked, the channel's count of
// references becomes their sum and the lanes are orphaned. A select that leaves
// an orphaned lane gives a reference back, and the last one frees the channel.
// A plain receive never leaves such a lane: it counts for ever, and keeps the
// memory, as at any channel whose last handle has gone.
//
// The tempting variant, a receive case that joins nothing while nobody closes,
// needs a Close that finds the selects without a queue. Whatever they leave for
// it to find them by is a queue again.

#ifndef GORGE_CHAN_INTERNAL_LANES_H_
#define GORGE_CHAN_INTERNAL_LANES_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "gorge/core/internal/annotations.h"
#include "gorge/core/internal/atomic.h"
#include "gorge/core/internal/lock.h"
#include "gorge/core/internal/sudog.h"
#include "gorge/core/internal/thread_number.h"

namespace gorge::internal {

struct alignas(kCacheLine) Lane {
  // By a select that has joined. True if it owes the channel a reference.
  [[nodiscard]] bool Leave() GORGE_REQUIRES(lock) {
    --selects;
    return orphaned;
  }

  Lock lock{LockRank::kChan};
  WaitQueue recvq;  // Changed under lock. Parked, oldest first.
  std::uint32_t selects GORGE_GUARDED_BY(lock) = 0;
  bool orphaned GORGE_GUARDED_BY(lock) = false;
};

class Lanes {
 public:
  // The calling thread's. Two threads may have the same.
  Lane& Mine() {
    return lanes_[static_cast<std::size_t>(ThreadNumber()) % lanes_.size()];
  }

  auto begin() { return lanes_.begin(); }
  auto end() { return lanes_.end(); }

 private:
  std::array<Lane, 16> lanes_;  // Locked in this order.
};

}  // namespace gorge::internal

#endif  // GORGE_CHAN_INTERNAL_LANES_H_
