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

void ChanTimer::Publish() {
  constexpr std::int64_t kAtOnce = 0;
  const std::int64_t armed_for = armed_ ? when_ : kNever;
  // Relaxed: a receive that sees an old value came before the change.
  ready_at_.store(is_sent_ ? kAtOnce : armed_for, std::memory_order_relaxed);
}

bool ChanTimer::Clear() {
  std::optional<absl::Time> stale;
  if (is_sent_) hchan_.TakeBuffered(&stale);
  const bool had_either = armed_ || is_sent_;
  armed_ = false;
  is_sent_ = false;
  return had_either;
}

bool ChanTimer::Stop() {
  LockGuard hold(hchan_.lock());
  Disarm(node_);
  const bool cleared = Clear();
  Publish();
  return cleared;
}

bool ChanTimer::Reset(std::int64_t nanos, std::int64_t period) {
  EnsureStartedByThread();
  const std::int64_t when = NanosFromNow(nanos);
  bool cleared;
  ArmResult result;
  {
    LockGuard hold(hchan_.lock());
    result = Arm(node_, when);
    cleared = Clear();
    armed_ = true;
    when_ = when;
    period_ = period;
    Publish();
  }
  if (result.is_next) WakeForTimer(when);
  return cleared;
}

void ChanTimer::SendIfDue(std::int64_t now, G*& receiver) {
  if (!armed_ || when_ > now || when_ == kNever) return;
  // The instant it was due, however late this is. A tick that nobody has
  // received yet stays, and this one is dropped.
  absl::Time value = TimeOfDay() - absl::Nanoseconds(now - when_);
  if (hchan_.SendLocked(&value, receiver)) is_sent_ = receiver == nullptr;
  armed_ = period_ > 0;
  if (armed_) when_ = NextTick(when_, period_, now);
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
    timer.Publish();
    if (timer.armed_) {
      next = timer.when_;
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
  if (!hchan.recvq().Empty()) return;
  G* nobody = nullptr;
  if (timer.armed_) timer.SendIfDue(MonotonicNanos(), nobody);
  // The receive takes it now.
  timer.is_sent_ = false;
  timer.Publish();
}

bool ChanTimer::IsDue(Hchan& hchan) {
  // Relaxed: as in Publish.
  const std::int64_t at = Of(hchan).ready_at_.load(std::memory_order_relaxed);
  return at != kNever && at <= MonotonicNanos();
}

}  // namespace gorge::internal
