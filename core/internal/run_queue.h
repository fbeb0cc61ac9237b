// core/internal/run_queue.h -- a P's bounded ring of runnable goroutines.
//
// One thread, the one that holds the P, pushes and pops; any thread may steal.
//
// Invariants:
//   (1) The queue is slots_[head_ .. tail_), indices taken modulo kCapacity;
//       tail_ - head_ <= kCapacity.
//   (2) Only the owner writes tail_ and slots. head_ only grows, and only by
//       compare-and-swap: whoever moves it past a slot has taken what was in
//       it.
//   (3) A slot is not rewritten before head_ has passed it: Push reads head_.
//
// Counters wrap at 2^32. A thief that sleeps between reading head_ and its
// compare-and-swap while exactly 2^32 goroutines pass would be fooled; at 20 ns
// each that is 80 s of which the thief gets not one instruction, and the other
// fields would still have to match. Go's queue makes the same bet.

#ifndef GORGE_CORE_INTERNAL_RUN_QUEUE_H_
#define GORGE_CORE_INTERNAL_RUN_QUEUE_H_

#include <array>
#include <atomic>
#include <cstdint>

#include "gorge/core/internal/atomic.h"
#include "gorge/core/internal/goroutine.h"

namespace gorge::internal {

class RunQueue {
 public:
  static constexpr std::uint32_t kCapacity = 256;

  // Appends `g`, or returns false if the ring is full. Owner only.
  [[nodiscard]] bool Push(G* g) {
    // Acquire: pairs with the release in Claim; the slot has been read.
    const std::uint32_t head = head_.load(std::memory_order_acquire);
    // Relaxed: only the owner, i.e. this thread, writes tail_.
    const std::uint32_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - head >= kCapacity) return false;
    Slot(tail).store(g, std::memory_order_relaxed);
    // Release: publishes slot and goroutine to the acquire in StealInto.
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }

  // Removes and returns the oldest, or nullptr. Owner only.
  [[nodiscard]] G* Pop() {
    // Relaxed: the compare-and-swap validates head; tail_ is our own.
    std::uint32_t head = head_.load(std::memory_order_relaxed);
    const std::uint32_t tail = tail_.load(std::memory_order_relaxed);
    while (head != tail) {
      G* g = Slot(head).load(std::memory_order_relaxed);
      if (Claim(head, 1)) return g;
    }
    return nullptr;
  }

  // Removes half of a full ring into `batch`; returns how many. Zero if thieves
  // were faster, and then Push has room. Owner only.
  std::uint32_t PopHalf(std::array<G*, kCapacity / 2>& batch) {
    std::uint32_t head = head_.load(std::memory_order_relaxed);
    const std::uint32_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - head < kCapacity) return 0;
    for (std::uint32_t i = 0; i < kCapacity / 2; ++i) {
      batch[i] = Slot(head + i).load(std::memory_order_relaxed);
    }
    return Claim(head, kCapacity / 2) ? kCapacity / 2 : 0;
  }

  // Moves half of the elements, rounded up, to `thief`, whose owner calls this
  // and which is empty. Returns the newest of them, to be run at once, instead
  // of queueing it; nullptr if there was nothing.
  [[nodiscard]] G* StealInto(RunQueue& thief) {
    const std::uint32_t base = thief.tail_.load(std::memory_order_relaxed);
    // Acquire: keeps the load of tail_ below from moving before this one.
    std::uint32_t head = head_.load(std::memory_order_acquire);
    while (true) {
      // Acquire: pairs with the release in Push; slots below tail are written.
      const std::uint32_t tail = tail_.load(std::memory_order_acquire);
      const std::uint32_t size = tail - head;
      const std::uint32_t count = size - size / 2;
      if (count == 0) return nullptr;
      if (count > kCapacity / 2) {  // head and tail are not of one moment.
        head = head_.load(std::memory_order_acquire);
        continue;
      }
      for (std::uint32_t i = 0; i < count; ++i) {
        thief.Slot(base + i).store(
            Slot(head + i).load(std::memory_order_relaxed),
            std::memory_order_relaxed);
      }
      if (!Claim(head, count)) continue;
      if (count > 1) {
        thief.tail_.store(base + count - 1, std::memory_order_release);
      }
      return thief.Slot(base + count - 1).load(std::memory_order_relaxed);
    }
  }

  // Any thread; out of date as soon as it is known. The sleeper's look, after
  // its heavy fence, sees what was pushed before a submitter's light one.
  bool Empty() const {
    return head_.load(std::memory_order_acquire) ==
           tail_.load(std::memory_order_acquire);
  }

 private:
  std::atomic<G*>& Slot(std::uint32_t index) {
    return slots_[index % kCapacity];
  }

  // Takes the `count` oldest, if `head` is still the head; else reloads it.
  // Release: the slots were read before Push may rewrite them. Acquire on
  // failure: as for the first load in StealInto.
  bool Claim(std::uint32_t& head, std::uint32_t count) {
    return head_.compare_exchange_strong(head, head + count,
                                         std::memory_order_acq_rel,
                                         std::memory_order_acquire);
  }

  alignas(kCacheLine) std::atomic<std::uint32_t> head_{0};
  alignas(kCacheLine) std::atomic<std::uint32_t> tail_{0};
  std::array<std::atomic<G*>, kCapacity> slots_{};
};

}  // namespace gorge::internal

#endif  // GORGE_CORE_INTERNAL_RUN_QUEUE_H_
