#include "gorge/core/internal/park.h"

#include <sched.h>

#include "gorge/core/internal/check.h"
#include "gorge/core/internal/futex.h"
#include "gorge/core/internal/park_here.h"
#include "gorge/core/internal/pick.h"
#include "gorge/core/internal/scheduler.h"

namespace gorge::internal {

// A plain thread's stack is its own: nothing to save before `unlock`.
void ParkThread(G& self, AfterSwitch unlock, void* argument) {
  if (unlock != nullptr) unlock(argument);
  // Acquire: pairs with the release in Ready.
  while (self.futex.load(std::memory_order_acquire) == 0) {
    FutexWait(self.futex, 0);
  }
  self.futex.store(0, std::memory_order_relaxed);
  Transition(self.state, State::kRunnable, State::kRunning);
}

void Park(AfterSwitch unlock, void* argument, WaitReason reason,
          const void* object) {
  ParkHere(unlock, argument, reason, object);
}

void ParkAndRelease(Lock& lock, WaitReason reason, const void* object) {
  ParkAndReleaseHere(lock, reason, object);
}

void ParkForever(WaitReason reason) {
  Park(nullptr, nullptr, reason, nullptr);
  GORGE_CHECK(false, "nobody readies a goroutine that is parked for ever");
}

void Ready(G& g) {
  Transition(g.state, State::kWaiting, State::kRunnable);
  if (!g.is_thread) {
    Enqueue(g);
    return;
  }
  // Release: pairs with the acquire in ParkThread. After the store the thread
  // may be gone; the kernel is only told an address.
  g.futex.store(1, std::memory_order_release);
  FutexWake(g.futex, 1);
}

}  // namespace gorge::internal
