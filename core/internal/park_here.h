// core/internal/park_here.h -- Park for those who do little else: the whole way
// down to the switch, inlined. For .cc files only; park.h has the contract.

#ifndef GORGE_CORE_INTERNAL_PARK_HERE_H_
#define GORGE_CORE_INTERNAL_PARK_HERE_H_

#include "gorge/core/internal/annotations.h"
#include "gorge/core/internal/goroutine_state.h"
#include "gorge/core/internal/park.h"
#include "gorge/core/internal/pick.h"

namespace gorge::internal {

// A plain thread waits on its futex.
void ParkThread(G& self, AfterSwitch unlock, void* argument);

// As Park.
GORGE_ALWAYS_INLINE void ParkHere(AfterSwitch unlock, void* argument,
                                  WaitReason reason, const void* object) {
  G& self = *Self();
  self.wait_reason.store(reason, std::memory_order_relaxed);
  self.wait_object.store(object, std::memory_order_relaxed);
  Transition(self.state, State::kRunning, State::kWaiting);
  if (self.is_thread) [[unlikely]] {
    ParkThread(self, unlock, argument);
  } else {
    SwitchAway(self, unlock, argument);
  }
}

// As ParkAndRelease. The lock is released by another stack, which the analysis
// cannot see.
GORGE_ALWAYS_INLINE void ParkAndReleaseHere(Lock& lock, WaitReason reason,
                                            const void* object)
    GORGE_RELEASE(lock) GORGE_NO_THREAD_SAFETY_ANALYSIS {
  const AfterSwitch release = [](void* l) GORGE_NO_THREAD_SAFETY_ANALYSIS {
    static_cast<Lock*>(l)->Release();
  };
  ParkHere(release, &lock, reason, object);
}

}  // namespace gorge::internal

#endif  // GORGE_CORE_INTERNAL_PARK_HERE_H_
