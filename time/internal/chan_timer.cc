#include "gorge/time/internal/chan_timer.h"

#include <time.h>

#include <memory>
#include <new>
#include <optional>

#include "absl/time/time.h"
#include "gorge/chan/internal/chan_ref.h"
#include "gorge/chan/internal/element.h"
#include "gorge/core/internal/check.h"
#include "gorge/core/internal/idle.h"
#include "gorge/core/internal/lifecycle.h"
#include "gorge/core/internal/park.h"

namespace gorge::internal {
namespace {

// As absl::Now(), which takes twice as long.
absl::Time TimeOfDay() {
  timespec now;
  ::clock_gettime(CLOCK_REALTIME, &now);
  return absl::TimeFromTimespec(now);
}

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

const TimerHooks ChanTimer::kHooks = {
    .is_due = &ChanTimer::IsDue,
    .look = &ChanTimer::Look,
    .end =
        [](Hchan& hchan) {
          ChanTimer& timer = Of(hchan);
          Disarm(timer.node_);
          std::destroy_at(&timer);
        },
};

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
  Hchan* hchan =
      Hchan::MakeForTimer(kElementType<absl::Time>, kHooks, sizeof(ChanTimer));
  auto* timer = ::new (hchan->Trailer()) ChanTimer(*hchan);
  auto channel = ChanAccess::Make<RecvChan<absl::Time>>(ChanRef(hchan));
  timer->Reset(nanos, period);
  return channel;
}

bool ChanTimer::Clear() {
  const bool was_armed = armed_;
  armed_ = false;
  // First, so that the receive sends itself nothing.
  when_.store(kNever, std::memory_order_relaxed);
  std::optional<absl::Time> stale;
  G* nobody;
  const bool was_sent = hchan_.RecvLocked(&stale, nobody) == RecvResult::kValue;
  return was_armed || was_sent;
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
  ArmResult result;
  {
    LockGuard hold(hchan_.lock());
    cleared = Clear();
    result = Arm(node_, when);
    armed_ = true;
    when_.store(when, std::memory_order_relaxed);
    period_ = period;
  }
  if (result.is_next) WakeForTimer(when);
  return cleared;
}

void ChanTimer::SendIfDue(std::int64_t now, G*& receiver) {
  const std::int64_t when = when_.load(std::memory_order_relaxed);
  if (when > now || when == kNever) return;
  // The instant it was due, however late this is. A tick that nobody has
  // received yet stays, and this one is dropped.
  absl::Time value = TimeOfDay() - absl::Nanoseconds(now - when);
  static_cast<void>(hchan_.SendLocked(&value, receiver));
  armed_ = period_ > 0;
  when_.store(armed_ ? NextTick(when, period_, now) : kNever,
              std::memory_order_relaxed);
}

void ChanTimer::Fire(TimerNode& node, std::int64_t now) {
  ChanTimer& timer = Of(node);
  const ChanRef claimed(&timer.hchan_);
  G* receiver = nullptr;
  std::int64_t next = kNever;
  ArmResult result{};
  {
    LockGuard hold(timer.hchan_.lock());
    timer.SendIfDue(now, receiver);
    if (timer.armed_) {
      next = timer.when_.load(std::memory_order_relaxed);
      result = Arm(node, next);
    }
  }
  if (receiver != nullptr) Ready(*receiver);
  if (result.is_next) WakeForTimer(next);
}

// The queue still has the timer and will come by: to arm it for the next tick,
// or to find it not armed any more.
void ChanTimer::Look(Hchan& hchan) GORGE_NO_THREAD_SAFETY_ANALYSIS {
  ChanTimer& timer = Of(hchan);
  if (timer.when_.load(std::memory_order_relaxed) == kNever ||
      !hchan.recvq().Empty()) {
    return;
  }
  G* nobody = nullptr;
  timer.SendIfDue(MonotonicNanos(), nobody);
}

bool ChanTimer::IsDue(Hchan& hchan) {
  // Relaxed: a receive that sees an old value came before the change.
  const std::int64_t when = Of(hchan).when_.load(std::memory_order_relaxed);
  return when != kNever && when <= MonotonicNanos();
}

}  // namespace gorge::internal
