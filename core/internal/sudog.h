// core/internal/sudog.h -- a goroutine's place in a queue of waiters.
//
// A sudog lies on the stack of the goroutine that waits, one for each queue it
// waits in: a plain operation has one, a select one for each of its cases.
//
// Invariants:
//   (1) All fields are guarded by the lock of the object whose queue the sudog
//       is in, from Push until it is removed; else they belong to the waiter.
//   (2) Whoever takes a sudog out with Pop has claimed its goroutine: it alone
//       may fill `success` and the element, set G::woken_by, and must Ready it.
//   (3) A select's goroutine is claimed once, although it stands in several
//       queues. Pop drops the sudogs of goroutines that others have claimed.

#ifndef GORGE_CORE_INTERNAL_SUDOG_H_
#define GORGE_CORE_INTERNAL_SUDOG_H_

#include <atomic>
#include <cstdint>

#include "gorge/core/internal/goroutine.h"

namespace gorge::internal {

struct Sudog {
  G* g = nullptr;
  void* element = nullptr;  // Sender: T to move from. Receiver: optional<T>.
  Sudog* next = nullptr;
  Sudog* previous = nullptr;
  std::uint32_t index = 0;  // A select's: which case. A Cond's: its ticket.
  bool is_select = false;
  bool queued = false;
  bool success = false;  // An element was passed; false: closed.
};

// A queue of waiters, oldest first. Leaving it from the middle is O(1).
class WaitQueue {
 public:
  // Readable without the lock, by those who may be told something stale.
  // Acquire: what the caller reads next is read after this.
  bool Empty() const {
    return first_.load(std::memory_order_acquire) == nullptr;
  }

  void Push(Sudog& s) {
    Sudog* last = last_;
    s.previous = last;
    s.next = nullptr;
    s.queued = true;
    if (last == nullptr) {
      first_.store(&s, std::memory_order_relaxed);
    } else {
      last->next = &s;
    }
    last_ = &s;
  }

  // Removes and returns the oldest waiter that nobody has claimed, having
  // claimed it; null if there is none.
  Sudog* Pop() {
    while (Sudog* s = first_.load(std::memory_order_relaxed)) {
      Unlink(*s);
      if (s->is_select && !s->g->ClaimSelect()) continue;
      return s;
    }
    return nullptr;
  }

  // Takes `s` out if it is still queued here.
  void Remove(Sudog& s) {
    if (s.queued) Unlink(s);
  }

  // The waiter with that index; null if there is none.
  Sudog* Find(std::uint32_t index) const {
    Sudog* s = first_.load(std::memory_order_relaxed);
    while (s != nullptr && s->index != index) s = s->next;
    return s;
  }

  // True if one that waits is `such`; linear.
  template <class Such>
  bool Any(Such such) const {
    const Sudog* s = first_.load(std::memory_order_relaxed);
    while (s != nullptr && !such(*s)) s = s->next;
    return s != nullptr;
  }

  // Number of waiters; linear, for tests and dumps.
  int Count() const {
    int count = 0;
    for (const Sudog* s = first_.load(std::memory_order_relaxed); s != nullptr;
         s = s->next) {
      ++count;
    }
    return count;
  }

 private:
  void Unlink(Sudog& s) {
    Sudog* const next = s.next;
    Sudog* const previous = s.previous;
    if (previous == nullptr) {
      first_.store(next, std::memory_order_relaxed);
    } else {
      previous->next = next;
    }
    if (next == nullptr) {
      last_ = previous;
    } else {
      next->previous = previous;
    }
    s.queued = false;
  }

  std::atomic<Sudog*> first_{nullptr};
  Sudog* last_ = nullptr;
};

}  // namespace gorge::internal

#endif  // GORGE_CORE_INTERNAL_SUDOG_H_
