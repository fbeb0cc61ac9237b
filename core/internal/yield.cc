#include "gorge/core/internal/yield.h"

#include <sched.h>

#include "gorge/core/internal/goroutine.h"
#include "gorge/core/internal/idle.h"
#include "gorge/core/internal/pick.h"
#include "gorge/core/internal/scheduler.h"

namespace gorge::internal {
namespace {

void EnqueueYielded(void* g) { EnqueueGlobal(*static_cast<G*>(g)); }

void ReleaseSchedulerLock(void*) GORGE_NO_THREAD_SAFETY_ANALYSIS {
  sched.lock.Release();
  WakeForQueue();
}

// Changes places with the head of the global queue, in one hold of its lock:
// the lock is dropped on the far side, so nobody can take `self` out of the
// queue before its registers are saved. Returns false, having done nothing,
// if the queue is empty or the runtime stops.
bool SwapWithGlobalHead(G& self) GORGE_NO_THREAD_SAFETY_ANALYSIS {
  sched.lock.Acquire();
  G* next = IsCurrent(*self.machine->processor) ? sched.queue.Pop() : nullptr;
  if (next == nullptr) {
    sched.lock.Release();
    return false;
  }
  Transition(self.state, State::kRunning, State::kRunnable);
  sched.queue.Push(self);
  SwitchAwayTo(self, next, &ReleaseSchedulerLock, nullptr);
  return true;
}

}  // namespace

void Yield() {
  G& self = *Self();
  if (self.is_thread) {
    ::sched_yield();
    return;
  }
  Processor& p = *self.machine->processor;
  G* next = nullptr;
  if (IsCurrent(p) && !ForcesMigration(p) && !TimersFirst(p)) [[likely]] {
    next = PickOwn(p);
    if (next == nullptr &&
        (sched.queue.Size() == 0 || SwapWithGlobalHead(self))) {
      return;
    }
  }
  Transition(self.state, State::kRunning, State::kRunnable);
  SwitchAwayTo(self, next, &EnqueueYielded, &self);
}

}  // namespace gorge::internal
