#include "gorge/time/internal/chan_timer.h"

#include <memory>
#include <new>
#include <optional>

#include "absl/time/clock.h"
#include "gorge/chan/internal/chan_ref.h"
#include "gorge/chan/internal/element.h"
#include "gorge/core/internal/check.h"
#include "gorge/core/internal/idle.h"
#include "gorge/core/internal/lifecycle.h"
#include "gorge/core/internal/park.h"

namespace gorge::internal {
namespace {

// The first of the instants when, when + period, ... that lies after `now`.
std::int64_t NextTick(std::int64_t when, std::int64_t period,
                      std::int64_t now) {
  const std::int64_t since_last = (now - when) % period;
  if (period >= kNever - now) return kNever;
  return now - since_last + period;
}

}  // namespace

const TimerActions ChanTimer::kActions = {
    .claim = [](TimerNode& node) { return Of(node).hchan_.TryRef(); },
    .fire = &ChanTimer::Fire,
    .abandon = [](TimerNode& node) { Of(node).hchan_.Unref(); },
};

const ElementType ChanTimer::kElement = [] {
  ElementType type = kElementType<absl::Time>;
  type.end = [](Hchan& hchan) {
    ChanTimer& timer = Of(hchan);
    Disarm(timer.node_);
    std::destroy_at(&timer);
  };
  return type;
}();

ChanTimer& ChanTimer::Of(Hchan& hchan) {
  return *std::launder(static_cast<ChanTimer*>(hchan.Trailer()));
}

ChanTimer& ChanTimer::Of(const RecvChan<absl::Time>& channel) {
  return Of(*ChanAccess::Ref(channel).get());
}

ChanTimer& ChanTimer::Of(TimerNode& node) {
  return static_cast<Node&>(node).timer;
}

RecvChan<absl::Time> ChanTimer::Make(std::int64_t nanos, std::int64_t period) {
  Hchan* hchan = Hchan::Make(kElement, 1, sizeof(ChanTimer));
  auto* timer = ::new (hchan->Trailer()) ChanTimer(*hchan);
  auto channel = ChanAccess::Make<RecvChan<absl::Time>>(ChanRef(hchan));
  timer->Reset(nanos, period);
  return channel;
}

bool ChanTimer::Clear() {
  const bool was_armed = armed_;
  armed_ = false;
  std::optional<absl::Time> stale;
  G* nobody;
  const bool was_sent =
      hchan_.RecvLocked(&stale, nobody) == RecvResult::kValue;
  return was_armed || was_sent;
}

ArmResult ChanTimer::ArmLocked() {
  armed_ = true;
  return Arm(node_, when_);
}

bool ChanTimer::Stop() {
  LockGuard hold(hchan_.lock());
  Disarm(node_);
  return Clear();
}

bool ChanTimer::Reset(std::int64_t nanos, std::int64_t period) {
  EnsureStartedByThread();
  const std::int64_t when = NanosFromNow(nanos);
  bool cleared;
  ArmResult armed;
  {
    LockGuard hold(hchan_.lock());
    cleared = Clear();
    when_ = when;
    period_ = period;
    armed = ArmLocked();
  }
  if (armed.is_next) WakeForTimer(when);
  return cleared;
}

void ChanTimer::Fire(TimerNode& node, std::int64_t now) {
  ChanTimer& timer = Of(node);
  const ChanRef claimed(&timer.hchan_);
  G* receiver = nullptr;
  std::int64_t next = kNever;
  ArmResult armed{};
  {
    LockGuard hold(timer.hchan_.lock());
    if (!timer.armed_ || timer.when_ > now) return;
    timer.armed_ = false;
    // When it was due, however late this is. A tick that nobody has received
    // yet stays, and this one is dropped.
    absl::Time value =
        absl::Now() - absl::Nanoseconds(MonotonicNanos() - timer.when_);
    static_cast<void>(timer.hchan_.SendLocked(&value, receiver));
    if (timer.period_ > 0) {
      timer.when_ = NextTick(timer.when_, timer.period_, now);
      armed = timer.ArmLocked();
      next = timer.when_;
    }
  }
  if (receiver != nullptr) Ready(*receiver);
  if (armed.is_next) WakeForTimer(next);
}

}  // namespace gorge::internal
