#include "gorge/time/ticker.h"

#include "gorge/core/internal/check.h"
#include "gorge/time/internal/chan_timer.h"

namespace gorge {
namespace {

RecvChan<absl::Time> MakeTicker(absl::Duration d) {
  if (d <= absl::ZeroDuration()) {
    internal::RaisePanic("non-positive interval for NewTicker");
  }
  const std::int64_t period = internal::ToNanos(d);
  return internal::ChanTimer::Make(period, period);
}

}  // namespace

Ticker::Ticker(absl::Duration d) : chan_(MakeTicker(d)) {}

void Ticker::Stop() const { internal::ChanTimer::Of(chan_).Stop(); }

void Ticker::Reset(absl::Duration d) const {
  if (d <= absl::ZeroDuration()) {
    internal::RaisePanic("non-positive interval for Ticker.Reset");
  }
  const std::int64_t period = internal::ToNanos(d);
  internal::ChanTimer::Of(chan_).Reset(period, period);
}

}  // namespace gorge
