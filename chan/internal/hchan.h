// chan/internal/hchan.h -- the untyped heart of Chan<T>.
//
// A channel is a ring buffer and two queues of parked goroutines. Chan<T> adds
// types on top and select/ drives several channels at once; nobody else looks
// in.
//
// Invariants, true whenever lock_ is free:
//   (1) sendq_ or recvq_ is empty, not counting sudogs of selects that another
//       channel has claimed. Exception: one goroutine whose select both sends
//       to and receives from this unbuffered channel waits in both.
//   (2) count_ > 0          implies recvq_ is empty, likewise.
//   (3) count_ < capacity_  implies sendq_ is empty, likewise.
//   (4) closed_ is final, and implies that sendq_ is empty, likewise; recvq_ is
//       being emptied, and nobody joins it.
//
// Elements move straight between the goroutines where they can: a sender that
// finds a waiting receiver fills the receiver's optional<T> on its stack; a
// receiver that finds a sender waiting on a full ring takes the oldest element
// and moves the sender's into the slot it left.
//
// Locking: lock_ has rank kChan. A select locks its channels in address order.
// Nobody is readied with lock_ held.
//
// A DoneChan's receivers may wait elsewhere than in recvq_: see lanes.h.
//
// Without the lock: an operation that must not block may refuse after a look
// at count_, closed_ and the queues' ends; and a receive that finds the channel
// closed and drained is done. See MightSend, MightRecv and Drained.
//
// Lifetime: handles are counted. A goroutine that parks in a plain send or
// receive takes no reference, and touches nothing of the channel after it was
// woken. So if the last handle goes while some are parked, they stay parked for
// ever, as in Go, and the memory stays with them. A select holds references
// while parked, since it looks at all its channels once more; Close holds one,
// since it is seen before it returns.

#ifndef GORGE_CHAN_INTERNAL_HCHAN_H_
#define GORGE_CHAN_INTERNAL_HCHAN_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "gorge/chan/internal/element.h"
#include "gorge/chan/internal/lanes.h"
#include "gorge/core/internal/annotations.h"
#include "gorge/core/internal/lock.h"
#include "gorge/core/internal/park.h"
#include "gorge/core/internal/sudog.h"

namespace gorge::internal {

inline constexpr char kSendOnClosed[] = "send on closed channel";

enum class RecvResult : std::uint8_t {
  kValue,       // An element was received.
  kClosed,      // Closed and drained.
  kWouldBlock,  // Nothing there now.
};

class Hchan;

// What else happens on the channel of a timer (time/internal/chan_timer.h). Its
// buffer does not show in Len and Cap.
struct TimerHooks {
  // Without the lock: true if a receive finds a value, in the buffer or by
  // looking.
  bool (*is_due)(Hchan& hchan);
  // With the lock, before a receive: sends the value, if it is due. What is in
  // the buffer then is received.
  void (*look)(Hchan& hchan);
  // The last handle is gone: before anything is freed.
  void (*end)(Hchan& hchan);
};

class Hchan {
 public:
  // One allocation for header and ring. Panics if the size is impossible.
  static Hchan* Make(const ElementType& type, std::ptrdiff_t capacity) {
    return MakeWith(type, capacity, nullptr, 0);
  }
  // A timer's, with `trailer` bytes behind.
  static Hchan* MakeForTimer(const ElementType& type, const TimerHooks& hooks,
                             std::size_t trailer) {
    return MakeWith(type, 1, &hooks, trailer);
  }
  // A DoneChan's: nobody will ever send.
  static Hchan* MakeDone(const ElementType& type);
  void* Trailer() { return static_cast<char*>(Slot(0)) + RingSize(); }

  // Relaxed: whoever copies a handle has one.
  void Ref() { references_.fetch_add(1, std::memory_order_relaxed); }
  // For who has none, but knows that the memory is there: false if the last is
  // gone. Relaxed: as Ref.
  [[nodiscard]] bool TryRef() {
    std::uint32_t seen = references_.load(std::memory_order_relaxed);
    while (seen != 0) {
      if (references_.compare_exchange_weak(seen, seen + 1,
                                            std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }
  // Frees the channel and what is buffered when it was the last.
  void Unref() {
    // Acq_rel: each handle's uses come before the destruction.
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) Destroy();
  }

  // `element` is a T to move from, `slot` an empty optional<T>.
  void Send(void* element);
  [[nodiscard]] bool TrySend(void* element) {
    return MightSend() && TrySendSlow(element);
  }
  RecvResult Recv(void* slot) {
    return Drained() ? RecvResult::kClosed : RecvSlow(slot);
  }
  [[nodiscard]] RecvResult TryRecv(void* slot) {
    return MightRecv() ? TryRecvSlow(slot) : RecvResult::kWouldBlock;
  }
  void Close();

  std::size_t Len() const {
    return hooks_ != nullptr ? 0 : count_.load(std::memory_order_relaxed);
  }
  std::size_t Cap() const { return hooks_ != nullptr ? 0 : capacity_; }

  // For select/, which holds the lock of every channel it looks at.
  Lock& lock() GORGE_RETURN_CAPABILITY(lock_) { return lock_; }
  // Performs the operation if it can proceed now. On success `woken`, if not
  // null, has been claimed: the caller drops the lock and readies it.
  [[nodiscard]] bool SendLocked(void* element, G*& woken) GORGE_REQUIRES(lock_);
  [[nodiscard]] RecvResult RecvLocked(void* slot, G*& woken)
      GORGE_REQUIRES(lock_);
  // Takes the oldest element out of the buffer, which is not empty.
  void TakeBuffered(void* slot) GORGE_REQUIRES(lock_);
  bool ClosedLocked() const GORGE_REQUIRES(lock_) {
    return closed_.load(std::memory_order_relaxed);
  }
  WaitQueue& sendq() GORGE_REQUIRES(lock_) { return sendq_; }
  WaitQueue& recvq() GORGE_REQUIRES(lock_) { return recvq_; }
  // The lane where a receiver waits now, of this thread; null: at the channel
  // itself. With no lock held.
  Lane* FindLane() { return is_done_chan_ ? FindLaneSlow() : nullptr; }

  // False if a send (receive) would certainly have blocked at some moment
  // during the call. Takes no lock. A send on a closed channel does not block.
  //
  // Both read two words at two moments: first "nothing doing", then "open".
  // Closing is final, so what is open at the second moment was open at the
  // first, and at that moment the operation would have blocked. In the other
  // order a close in between could empty the queue just looked at: a refusal
  // that no moment allows.
  bool MightSend() const {
    // Acquire: closed_ is read after this.
    const bool room = capacity_ == 0
                          ? !recvq_.Empty()
                          : count_.load(std::memory_order_acquire) < capacity_;
    return room || closed_.load(std::memory_order_acquire);
  }
  bool MightRecv() {
    if (hooks_ != nullptr) [[unlikely]]
      return hooks_->is_due(*this);
    // Acquire: as in MightSend.
    const bool something = capacity_ == 0
                               ? !sendq_.Empty()
                               : count_.load(std::memory_order_acquire) > 0;
    return something || closed_.load(std::memory_order_acquire);
  }

  // True once the channel is closed and nothing is left in it: it stays so,
  // since count_ only falls after the close. Senders that are still queued
  // while Close runs will panic: they have no element to give. Takes no lock.
  bool Drained() const {
    // Acquire: what precedes the close is seen, and count_ is read after it.
    return closed_.load(std::memory_order_acquire) &&
           count_.load(std::memory_order_acquire) == 0;
  }

  // The number of parked senders and receivers; for tests.
  int Waiting();

 private:
  Hchan(const ElementType& type, std::size_t capacity, const TimerHooks* hooks)
      : type_(type), capacity_(capacity), hooks_(hooks) {}
  ~Hchan() = default;

  static Hchan* MakeWith(const ElementType& type, std::ptrdiff_t capacity,
                         const TimerHooks* hooks, std::size_t trailer);
  bool TrySendSlow(void* element);
  RecvResult RecvSlow(void* slot);
  RecvResult TryRecvSlow(void* slot);
  Lane* FindLaneSlow();
  RecvResult AwaitClose(Lane& lane);
  void Destroy();
  bool OrphanLanes(Lanes& lanes);
  void* Slot(std::size_t index);
  std::size_t RingSize() const;
  std::size_t Next(std::size_t index) const {
    return index + 1 == capacity_ ? 0 : index + 1;
  }
  void SetCount(std::size_t count) GORGE_REQUIRES(lock_) {
    count_.store(count, std::memory_order_release);
  }
  // Hands the oldest buffered element to `slot`.
  void TakeFromRing(void* slot) GORGE_REQUIRES(lock_);

  // Fixed at construction; read by anyone.
  const ElementType& type_;
  const std::size_t capacity_;
  const TimerHooks* const hooks_;  // Null unless it is a timer's.

  std::atomic<std::uint32_t> references_{1};

  Lock lock_{LockRank::kChan};
  // Written under lock_. Read without by MightSend and its like, and Len.
  std::atomic<bool> closed_{false};
  bool is_done_chan_ = false;          // Fixed by MakeDone.
  std::atomic<std::size_t> count_{0};  // Elements in the ring.

  std::size_t sendx_ GORGE_GUARDED_BY(lock_) = 0;  // Next slot to fill.
  std::size_t recvx_ GORGE_GUARDED_BY(lock_) = 0;  // Oldest element.

  // Changed under lock_. Their ends are read without it, as above.
  WaitQueue sendq_;  // Parked, oldest first.
  WaitQueue recvq_;  // Parked, oldest first.

  // Made under lock_, while the channel is open. Null: nobody has needed them.
  std::atomic<Lanes*> lanes_{nullptr};
};

}  // namespace gorge::internal

#endif  // GORGE_CHAN_INTERNAL_HCHAN_H_
