#include "gorge/time/timer.h"

#include "gorge/core/internal/check.h"
#include "gorge/time/internal/chan_timer.h"

namespace gorge {

Timer::Timer(absl::Duration d)
    : chan_(internal::ChanTimer::Make(internal::ToNanos(d), 0)) {}

bool Timer::Stop() const {
  if (func_.get() != nullptr) return func_.get()->Stop();
  if (!chan_) {
    internal::RaisePanic("time: Stop called on uninitialized Timer");
  }
  return internal::ChanTimer::Of(chan_).Stop();
}

bool Timer::Reset(absl::Duration d) const {
  const std::int64_t nanos = internal::ToNanos(d);
  if (func_.get() != nullptr) return func_.get()->Reset(nanos);
  if (!chan_) {
    internal::RaisePanic("time: Reset called on uninitialized Timer");
  }
  return internal::ChanTimer::Of(chan_).Reset(nanos, 0);
}

namespace internal {

Timer StartFuncTimer(FuncTimerRef func, std::int64_t nanos) {
  func.get()->Reset(nanos);
  return Timer(std::move(func));
}

}  // namespace internal
}  // namespace gorge
