#include "gorge/chan/internal/hchan.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <new>

#include "gorge/core/internal/check.h"
#include "gorge/core/internal/goroutine.h"
#include "gorge/core/internal/park_here.h"

namespace gorge::internal {
namespace {

// Close wakes this many receivers at a time, while they are in the cache, and
// then lets others have the lock.
constexpr int kCloseBatch = 64;

// In a checked build all tests meet lanes.
#if GORGE_CHECKED
constexpr bool kLanesAtOnce = true;
#else
constexpr bool kLanesAtOnce = false;
#endif

std::size_t RoundUp(std::size_t size, std::size_t align) {
  const std::size_t a = std::max(align, alignof(std::max_align_t));
  return (size + a - 1) & ~(a - 1);
}

// Where the ring begins, behind the header.
std::size_t RingOffset(std::size_t align) {
  return RoundUp(sizeof(Hchan), align);
}

bool NeedsAlignedNew(std::size_t align) {
  return align > __STDCPP_DEFAULT_NEW_ALIGNMENT__;
}

void* Allocate(std::size_t bytes, std::size_t align) {
  return NeedsAlignedNew(align) ? ::operator new(bytes, std::align_val_t(align))
                                : ::operator new(bytes);
}

void Free(void* memory, std::size_t align) {
  if (NeedsAlignedNew(align)) {
    ::operator delete(memory, std::align_val_t(align));
  } else {
    ::operator delete(memory);
  }
}

// Completes what `waiter` waits for. It is readied after the lock is dropped.
G* Complete(Sudog& waiter, bool success) {
  waiter.success = success;
  waiter.g->woken_by = &waiter;
  return waiter.g;
}

Sudog MakeSudog(void* element) {
  Sudog sudog;
  sudog.g = Self();
  sudog.element = element;
  return sudog;
}

// Wakes those in `woken` and all of a closed channel's `queue`, whose lock the
// caller holds: it is dropped.
void WakeReceivers(Lock& lock, WaitQueue& queue,
                   WakeList& woken) GORGE_NO_THREAD_SAFETY_ANALYSIS {
  while (true) {
    for (int i = 0; i < kCloseBatch; ++i) {
      Sudog* receiver = queue.Pop();
      if (receiver == nullptr) break;
      woken.Add(*receiver, false);
    }
    const bool more = !queue.Empty();
    lock.Release();
    // The woken may want the lock: it is free.
    woken.ReadyAll();
    if (!more) return;
    lock.Acquire();
  }
}

}  // namespace

Hchan* Hchan::MakeWith(const ElementType& type, std::ptrdiff_t capacity,
                       const TimerHooks* hooks, std::size_t trailer) {
  constexpr auto kMax =
      static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max());
  const std::size_t offset = RingOffset(type.align);
  const auto slots = static_cast<std::size_t>(capacity);
  if (capacity < 0 || (type.size > 0 && slots > (kMax - offset) / type.size)) {
    RaisePanic("makechan: size out of range");
  }
  std::size_t bytes = offset + slots * type.size;
  if (trailer > 0) bytes = RoundUp(bytes, type.align) + trailer;
  void* memory = Allocate(bytes, type.align);
  return ::new (memory) Hchan(type, slots, hooks);
}

Hchan* Hchan::MakeDone(const ElementType& type) {
  Hchan* hchan = Make(type, 0);
  hchan->is_done_chan_ = true;
  return hchan;
}

// Nobody has a handle. Whoever is parked here has lost his (see the top).
void Hchan::Destroy() GORGE_NO_THREAD_SAFETY_ANALYSIS {
  {
    LockGuard hold(lock_);
    if (!sendq_.Empty() || !recvq_.Empty()) return;
  }
  // Relaxed: the last reference was dropped after all that made lanes.
  if (Lanes* lanes = lanes_.load(std::memory_order_relaxed)) {
    if (OrphanLanes(*lanes)) return Unref();
    delete lanes;
  }
  if (hooks_ != nullptr) hooks_->end(*this);
  const std::size_t count = count_.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < count; ++i, recvx_ = Next(recvx_)) {
    type_.destroy(Slot(recvx_));
  }
  const std::size_t align = type_.align;
  this->~Hchan();
  Free(this, align);
}

void* Hchan::Slot(std::size_t index) {
  return reinterpret_cast<char*>(this) + RingOffset(type_.align) +
         index * type_.size;
}

std::size_t Hchan::RingSize() const {
  return RoundUp(capacity_ * type_.size, type_.align);
}

void Hchan::TakeFromRing(void* slot) {
  void* oldest = Slot(recvx_);
  type_.emplace(slot, oldest);
  type_.destroy(oldest);
  recvx_ = Next(recvx_);
}

void Hchan::TakeBuffered(void* slot) {
  TakeFromRing(slot);
  SetCount(count_.load(std::memory_order_relaxed) - 1);
}

bool Hchan::SendLocked(void* element, G*& woken) {
  if (Sudog* receiver = recvq_.Pop()) {
    type_.emplace(receiver->element, element);
    woken = Complete(*receiver, true);
    return true;
  }
  const std::size_t count = count_.load(std::memory_order_relaxed);
  if (count == capacity_) return false;
  type_.construct(Slot(sendx_), element);
  sendx_ = Next(sendx_);
  SetCount(count + 1);
  woken = nullptr;
  return true;
}

RecvResult Hchan::RecvLocked(void* slot, G*& woken) {
  woken = nullptr;
  if (hooks_ != nullptr) [[unlikely]]
    hooks_->look(*this);
  const std::size_t count = count_.load(std::memory_order_relaxed);
  if (Sudog* sender = sendq_.Pop()) {
    if (capacity_ == 0) {
      type_.emplace(slot, sender->element);
    } else {  // The ring is full: one out, one in, the count stays.
      TakeFromRing(slot);
      type_.construct(Slot(sendx_), sender->element);
      sendx_ = Next(sendx_);
    }
    woken = Complete(*sender, true);
    return RecvResult::kValue;
  }
  if (count > 0) {
    TakeBuffered(slot);
    return RecvResult::kValue;
  }
  return ClosedLocked() ? RecvResult::kClosed : RecvResult::kWouldBlock;
}

// The lock is dropped on all paths, on one of them by ParkAndRelease.
void Hchan::Send(void* element) GORGE_NO_THREAD_SAFETY_ANALYSIS {
  lock_.Acquire();
  if (ClosedLocked()) {
    lock_.Release();
    RaisePanic(kSendOnClosed);
  }
  G* woken;
  if (SendLocked(element, woken)) {
    lock_.Release();
    if (woken != nullptr) Ready(*woken);
    return;
  }
  Sudog self = MakeSudog(element);
  sendq_.Push(self);
  ParkAndReleaseHere(lock_, WaitReason::kChanSend, this);
  // `this` may be gone.
  if (!self.success) RaisePanic(kSendOnClosed);
}

bool Hchan::TrySendSlow(void* element) GORGE_NO_THREAD_SAFETY_ANALYSIS {
  lock_.Acquire();
  if (ClosedLocked()) {
    lock_.Release();
    RaisePanic(kSendOnClosed);
  }
  G* woken = nullptr;
  const bool sent = SendLocked(element, woken);
  lock_.Release();
  if (woken != nullptr) Ready(*woken);
  return sent;
}

// As for Send.
RecvResult Hchan::RecvSlow(void* slot) GORGE_NO_THREAD_SAFETY_ANALYSIS {
  if (Lane* lane = FindLane()) [[unlikely]]
    return AwaitClose(*lane);
  lock_.Acquire();
  G* woken;
  const RecvResult result = RecvLocked(slot, woken);
  if (result != RecvResult::kWouldBlock) {
    lock_.Release();
    if (woken != nullptr) Ready(*woken);
    return result;
  }
  Sudog self = MakeSudog(slot);
  recvq_.Push(self);
  ParkAndReleaseHere(lock_, WaitReason::kChanRecv, this);
  // `this` may be gone.
  return self.success ? RecvResult::kValue : RecvResult::kClosed;
}

RecvResult Hchan::TryRecvSlow(void* slot) {
  if (Drained()) return RecvResult::kClosed;
  G* woken;
  RecvResult result;
  {
    LockGuard hold(lock_);
    result = RecvLocked(slot, woken);
  }
  if (woken != nullptr) Ready(*woken);
  return result;
}

void Hchan::Close() GORGE_NO_THREAD_SAFETY_ANALYSIS {
  WakeList woken;
  lock_.Acquire();
  if (ClosedLocked()) {
    lock_.Release();
    RaisePanic("close of closed channel");
  }
  // From here on others may see the close, without the lock even, and drop the
  // handle that we were called by: it may be the last.
  Ref();
  // Release: pairs with the acquire in MightRecv; what was sent before is seen.
  closed_.store(true, std::memory_order_release);
  // All senders at once: their elements are not to be had any more.
  while (Sudog* sender = sendq_.Pop()) woken.Add(*sender, false);
  WakeReceivers(lock_, recvq_, woken);
  // Relaxed: they were made under lock_.
  if (Lanes* lanes = lanes_.load(std::memory_order_relaxed)) {
    for (Lane& lane : *lanes) {
      lane.lock.Acquire();
      WakeReceivers(lane.lock, lane.recvq, woken);
    }
  }
  Unref();
}

// Allocates without the lock; who comes second throws its lanes away. Without
// memory for lanes the queue of the channel does as well.
Lane* Hchan::FindLaneSlow() {
  // Acquire: pairs with the release below.
  Lanes* lanes = lanes_.load(std::memory_order_acquire);
  if (lanes == nullptr) {
    if (!kLanesAtOnce && !lock_.IsHeld()) return nullptr;  // Nobody is here.
    std::unique_ptr<Lanes> made(new (std::nothrow) Lanes);
    LockGuard hold(lock_);
    lanes = lanes_.load(std::memory_order_relaxed);
    if (lanes == nullptr) {
      if (made == nullptr || ClosedLocked()) return nullptr;
      lanes = made.release();
      lanes_.store(lanes, std::memory_order_release);
    }
  }
  return &lanes->Mine();
}

// A plain receive, in a lane.
RecvResult Hchan::AwaitClose(Lane& lane) GORGE_NO_THREAD_SAFETY_ANALYSIS {
  lane.lock.Acquire();
  if (Drained()) {
    lane.lock.Release();
    return RecvResult::kClosed;
  }
  Sudog self = MakeSudog(nullptr);
  lane.recvq.Push(self);
  ParkAndReleaseHere(lane.lock, WaitReason::kChanRecv, this);
  // `this` may be gone.
  return RecvResult::kClosed;
}

// The last handle has gone, or the last reference of a select after it. False
// if it is that; else references_ says who is out, and counts the caller.
bool Hchan::OrphanLanes(Lanes& lanes) GORGE_NO_THREAD_SAFETY_ANALYSIS {
  std::uint32_t out = 1;
  for (Lane& lane : lanes) lane.lock.Acquire();
  const bool first = !lanes.begin()->orphaned;
  for (Lane& lane : lanes) {
    lane.orphaned = true;
    out += lane.selects;
    // Plain receives: one keeps the memory as well as many.
    if (lane.recvq.Any([](const Sudog& s) { return !s.is_select; })) ++out;
  }
  // Relaxed: who gives one back had the lane's lock before.
  if (first) references_.store(out, std::memory_order_relaxed);
  for (Lane& lane : lanes) lane.lock.Release();
  return first;
}

int Hchan::Waiting() {
  int count = 0;
  {
    LockGuard hold(lock_);
    count = sendq_.Count() + recvq_.Count();
  }
  // Acquire: as in FindLaneSlow.
  if (Lanes* lanes = lanes_.load(std::memory_order_acquire)) {
    for (Lane& lane : *lanes) {
      LockGuard hold(lane.lock);
      count += lane.recvq.Count();
    }
  }
  return count;
}

}  // namespace gorge::internal
