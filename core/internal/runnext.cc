#include "gorge/core/internal/runnext.h"

namespace gorge::internal {

G* RunNext::Steal(G* expected) {
  LockGuard alone(thieves_);
  // Relaxed: ordered by the fence; pairs with Exchange.
  thief_.store(1, std::memory_order_relaxed);
  HeavyFence();
  G* stolen = nullptr;
  // Acquire: pairs with the release at the end of Exchange.
  if (inside_.load(std::memory_order_acquire) == 0 &&
      slot_.load(std::memory_order_relaxed) == expected) {
    slot_.store(nullptr, std::memory_order_relaxed);
    stolen = expected;
  }
  // Release: the holder that reads 0 sees the slot as we leave it.
  thief_.store(0, std::memory_order_release);
  return stolen;
}

// There is, or was, a thief. He may be looking at inside_: it must not stay set
// while we wait for him, or every attempt of his would be in vain.
G* RunNext::ExchangeSlow(G* g) {
  inside_.store(0, std::memory_order_release);
  // Whoever holds this lock is alone: the holder itself is here.
  LockGuard alone(thieves_);
  G* const old = slot_.load(std::memory_order_relaxed);
  slot_.store(g, std::memory_order_release);
  return old;
}

}  // namespace gorge::internal
