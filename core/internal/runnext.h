// core/internal/runnext.h -- the one goroutine that a P runs next.
//
// The holder of the P puts and takes at every message between goroutines; a
// thief comes by when the P has been busy for microseconds. So the slot has a
// lock that is biased towards the holder: it pays two plain stores and a load,
// the thief a heavy fence.
//
//   holder: inside_ = 1; light fence; thief_ is 0? use the slot; inside_ = 0
//   thief:  thief_ = 1; heavy fence; inside_ is 0? use the slot; thief_ = 0
//
// Why they are never both inside. By fence.h, either the holder's inside_ = 1
// is visible to the thief after its heavy fence, or the thief's thief_ = 1 is
// visible to the holder after its light fence. A holder that finds a thief
// waits at the thieves' lock until he is gone; a thief that finds the holder
// inside gives up. So whoever goes on does so alone.
//
// Tempting and wrong: an exchange by the thief alone, with plain accesses by
// the holder. He may have read the goroutine and not yet cleared the slot.

#ifndef GORGE_CORE_INTERNAL_RUNNEXT_H_
#define GORGE_CORE_INTERNAL_RUNNEXT_H_

#include <atomic>
#include <cstdint>

#include "gorge/core/internal/annotations.h"
#include "gorge/core/internal/fence.h"
#include "gorge/core/internal/lock.h"

namespace gorge::internal {

struct G;

class RunNext {
 public:
  // Any thread: a look, out of date as soon as it is taken.
  G* Peek() const {
    // Acquire: a thief compares the P's tick after this.
    return slot_.load(std::memory_order_acquire);
  }

  // Puts `g`, null included, and returns what was there. Holder only.
  GORGE_ALWAYS_INLINE G* Exchange(G* g) {
    // Relaxed: ordered by the fence; pairs with Steal.
    inside_.store(1, std::memory_order_relaxed);
    LightFence();
    // Acquire: pairs with the release at the end of Steal.
    if (thief_.load(std::memory_order_acquire) != 0) [[unlikely]] {
      return ExchangeSlow(g);
    }
    // Relaxed: we are alone. Release: publishes *g to Peek's reader.
    G* const old = slot_.load(std::memory_order_relaxed);
    slot_.store(g, std::memory_order_release);
    // Release: pairs with the acquire in Steal.
    inside_.store(0, std::memory_order_release);
    return old;
  }

  // Takes what is there, if it is `expected`; else returns null. Any thread but
  // the holder's.
  [[nodiscard]] G* Steal(G* expected);

 private:
  G* ExchangeSlow(G* g);

  // Slot and inside_ are the holder's; a thief reads them once in a long while.
  std::atomic<G*> slot_{nullptr};
  std::atomic<std::uint32_t> inside_{0};
  std::atomic<std::uint32_t> thief_{0};
  Lock thieves_{LockRank::kRunNext};  // One thief at a time.
};

}  // namespace gorge::internal

#endif  // GORGE_CORE_INTERNAL_RUNNEXT_H_
