#include "gorge/select/internal/selectgo.h"

#include <algorithm>
#include <functional>
#include <new>

#include "gorge/core/internal/check.h"
#include "gorge/core/internal/goroutine.h"
#include "gorge/core/internal/park_here.h"

namespace gorge::internal {
namespace {

class SelectRun {
 public:
  explicit SelectRun(const SelectFrame& frame)
      : frame_(frame), self_(*Self()) {}

  SelectResult Run(bool has_default, SelectOrder order);

 private:
  // What came of trying one case with its channel locked.
  enum class Attempt : std::uint8_t { kDone, kNotReady, kClosedForSend };

  SelectCase& Case(std::uint32_t i) { return frame_.cases[i]; }
  SelectCase& LockedCase(std::uint32_t i) { return Case(frame_.lock_order[i]); }
  static Lock& LockOf(const SelectCase& c) {
    return c.lane == nullptr ? c.hchan->lock() : c.lane->lock;
  }
  static WaitQueue& QueueOf(const SelectCase& c);
  Sudog& SudogOf(std::uint32_t i) {
    return *std::launder(reinterpret_cast<Sudog*>(frame_.sudogs[i].bytes));
  }

  void OrderPolls(SelectOrder order);
  bool TryEach();           // Pass 0.
  void OrderLocks();        // By address.
  bool TryLocked();         // Pass 1. Releases the locks if it returns true.
  void EnqueueAll();        // Pass 2.
  void ParkAndUnlockAll();  // Returns once a waker has claimed us.
  void DequeueLosers();     // Pass 3.
  void TakeOutcome(const Sudog& claimed);

  Attempt Try(std::uint32_t i);
  void Finish(Attempt attempt);
  template <class Visit>
  void EachLocked(Visit visit);
  void LockAll();
  void UnlockAll();
  static void UnlockAllAfterSwitch(void* run);

  const SelectFrame& frame_;
  G& self_;
  std::uint32_t live_ = 0;  // Cases whose channels are not nil.
  G* woken_ = nullptr;      // Whom the case performed has claimed.
  SelectResult result_;
};

// Fills poll_order with the cases that have a channel.
void SelectRun::OrderPolls(SelectOrder order) {
  for (std::uint32_t i = 0; i < frame_.count; ++i) {
    if (Case(i).hchan == nullptr) continue;
    // Fisher and Yates, inside out: every permutation is equally likely.
    const std::uint32_t j = order == SelectOrder::kRandom && live_ > 0
                                ? self_.random.Below(live_ + 1)
                                : live_;
    frame_.poll_order[live_] = frame_.poll_order[j];
    frame_.poll_order[j] = i;
    ++live_;
  }
}

WaitQueue& SelectRun::QueueOf(const SelectCase& c)
    GORGE_NO_THREAD_SAFETY_ANALYSIS {
  if (c.lane != nullptr) return c.lane->recvq;
  return c.is_send ? c.hchan->sendq() : c.hchan->recvq();
}

// The locks are the caller's, which the analysis cannot follow here.
SelectRun::Attempt SelectRun::Try(std::uint32_t i)
    GORGE_NO_THREAD_SAFETY_ANALYSIS {
  SelectCase& c = Case(i);
  result_.index = i;
  if (c.lane != nullptr) {
    return c.hchan->Drained() ? Attempt::kDone : Attempt::kNotReady;
  }
  if (!c.is_send) {
    const RecvResult received = c.hchan->RecvLocked(c.element, woken_);
    result_.received = received == RecvResult::kValue;
    return received == RecvResult::kWouldBlock ? Attempt::kNotReady
                                               : Attempt::kDone;
  }
  if (c.hchan->ClosedLocked()) return Attempt::kClosedForSend;
  return c.hchan->SendLocked(c.element, woken_) ? Attempt::kDone
                                                : Attempt::kNotReady;
}

// With no lock held any more.
void SelectRun::Finish(Attempt attempt) {
  if (attempt == Attempt::kClosedForSend) RaisePanic(kSendOnClosed);
  if (woken_ != nullptr) Ready(*woken_);
}

bool SelectRun::TryEach() {
  for (std::uint32_t k = 0; k < live_; ++k) {
    const std::uint32_t i = frame_.poll_order[k];
    Hchan& hchan = *Case(i).hchan;
    if (!(Case(i).is_send ? hchan.MightSend() : hchan.MightRecv())) continue;
    Attempt attempt;
    {
      LockGuard hold(hchan.lock());
      attempt = Try(i);
    }
    if (attempt == Attempt::kNotReady) continue;
    Finish(attempt);
    return true;
  }
  return false;
}

void SelectRun::OrderLocks() {
  std::uint32_t* const first = frame_.lock_order;
  std::uint32_t* const last = first + live_;
  std::copy_n(frame_.poll_order, live_, first);
  for (std::uint32_t i = 0; i < live_; ++i) {
    SelectCase& c = LockedCase(i);
    if (!c.is_send) c.lane = c.hchan->FindLane();
  }
  std::sort(first, last, [this](std::uint32_t a, std::uint32_t b) {
    return std::less<>()(&LockOf(Case(a)), &LockOf(Case(b)));
  });
}

// Visits one case of each lock, in the order of addresses.
template <class Visit>
void SelectRun::EachLocked(Visit visit) {
  const Lock* previous = nullptr;
  for (std::uint32_t i = 0; i < live_; ++i) {
    SelectCase& c = LockedCase(i);
    const Lock* const lock = &LockOf(c);
    if (lock != previous) visit(c);
    previous = lock;
  }
}

void SelectRun::LockAll() {
  EachLocked([](SelectCase& c)
                 GORGE_NO_THREAD_SAFETY_ANALYSIS { LockOf(c).Acquire(); });
}

// In reverse. Reads nothing of the select after the last release: see the top
// of selectgo.h.
void SelectRun::UnlockAll() GORGE_NO_THREAD_SAFETY_ANALYSIS {
  for (std::uint32_t i = live_; i > 0;) {
    Lock& lock = LockOf(LockedCase(--i));
    while (i > 0 && &LockOf(LockedCase(i - 1)) == &lock) --i;
    const bool was_last = i == 0;
    lock.Release();
    if (was_last) return;
  }
}

bool SelectRun::TryLocked() {
  for (std::uint32_t k = 0; k < live_; ++k) {
    const Attempt attempt = Try(frame_.poll_order[k]);
    if (attempt == Attempt::kNotReady) continue;
    UnlockAll();
    Finish(attempt);
    return true;
  }
  return false;
}

void SelectRun::EnqueueAll() GORGE_NO_THREAD_SAFETY_ANALYSIS {
  // Pass 3 looks at the channels once more, whatever becomes of the handles.
  EachLocked([](SelectCase& c) GORGE_NO_THREAD_SAFETY_ANALYSIS {
    if (c.lane == nullptr) {
      c.hchan->Ref();
    } else {
      ++c.lane->selects;
    }
  });
  // Relaxed: published by the release of the channels' locks.
  self_.select_done.store(0, std::memory_order_relaxed);
  for (std::uint32_t k = 0; k < live_; ++k) {
    const std::uint32_t i = frame_.lock_order[k];
    SelectCase& c = Case(i);
    Sudog& s = *::new (frame_.sudogs[i].bytes) Sudog;
    s.g = &self_;
    s.element = c.element;
    s.index = i;
    s.is_select = true;
    QueueOf(c).Push(s);
  }
}

void SelectRun::UnlockAllAfterSwitch(void* run) {
  static_cast<SelectRun*>(run)->UnlockAll();
}

void SelectRun::ParkAndUnlockAll() {
  ParkHere(&UnlockAllAfterSwitch, this, WaitReason::kSelect, frame_.cases);
}

void SelectRun::DequeueLosers() GORGE_NO_THREAD_SAFETY_ANALYSIS {
  LockAll();
  for (std::uint32_t k = 0; k < live_; ++k) {
    const std::uint32_t i = frame_.lock_order[k];
    QueueOf(Case(i)).Remove(SudogOf(i));
  }
  EachLocked([](SelectCase& c) GORGE_NO_THREAD_SAFETY_ANALYSIS {
    c.owes_ref = c.lane == nullptr || c.lane->Leave();
  });
  UnlockAll();
  for (std::uint32_t k = 0; k < live_; ++k) {
    if (LockedCase(k).owes_ref) LockedCase(k).hchan->Unref();
  }
}

void SelectRun::TakeOutcome(const Sudog& claimed) {
  result_.index = claimed.index;
  result_.received = claimed.success;
  if (Case(claimed.index).is_send && !claimed.success) {
    RaisePanic(kSendOnClosed);
  }
}

SelectResult SelectRun::Run(bool has_default, SelectOrder order) {
  OrderPolls(order);
  if (order == SelectOrder::kRandom && TryEach()) return result_;
  if (live_ == 0) {
    if (has_default) return {};
    ParkForever(WaitReason::kSelectNoCases);
  }
  OrderLocks();
  LockAll();
  if (TryLocked()) return result_;
  if (has_default) {
    UnlockAll();
    return {};
  }
  EnqueueAll();
  ParkAndUnlockAll();
  DequeueLosers();
  TakeOutcome(*self_.woken_by);
  return result_;
}

}  // namespace

SelectResult SelectGo(const SelectFrame& frame, bool has_default,
                      SelectOrder order) {
  if (frame.count == 1 && frame.cases[0].hchan != nullptr) {
    return SelectOne(frame.cases[0], has_default);
  }
  return SelectRun(frame).Run(has_default, order);
}

}  // namespace gorge::internal
