#include "gorge/time/internal/func_timer.h"

#include "gorge/core/go.h"
#include "gorge/core/internal/idle.h"
#include "gorge/core/internal/lifecycle.h"

namespace gorge::internal {

const TimerActions FuncTimer::kActions = {
    // The queue's reference keeps it.
    .claim = [](TimerNode&) { return true; },
    .fire = &FuncTimer::Fire,
    .abandon = [](TimerNode& node) { Of(node).Unref(); },
};

FuncTimer& FuncTimer::Of(TimerNode& node) {
  return static_cast<Node&>(node).timer;
}

void FuncTimer::Fire(TimerNode& node, std::int64_t) {
  FuncTimer& timer = Of(node);
  Spawn({}, timer.location_,
        [ref = FuncTimerRef(&timer)] { ref.get()->Run(); });
}

bool FuncTimer::Stop() {
  if (!Disarm(node_)) return false;
  Unref();
  return true;
}

bool FuncTimer::Reset(std::int64_t nanos) {
  EnsureStartedByThread();
  const std::int64_t when = NanosFromNow(nanos);
  Ref();
  FuncTimerRef for_queue(this);
  const ArmResult armed = Arm(node_, when);
  if (!armed.was_armed) for_queue.Release();
  if (armed.is_next) WakeForTimer(when);
  return armed.was_armed;
}

}  // namespace gorge::internal
