// sync/internal/read_bias.h -- lets readers pass by a lock while nobody writes.
//
// A read lock is a shared word, and readers on two CPUs fight over its cache
// line although they do not exclude each other. So a lock under which little is
// written is biased towards its readers: each thread has a slot of its own, in
// which it says what it reads. A writer takes the bias away first, and waits
// until no slot names its lock any more; that costs it microseconds, so the
// bias comes back only after many reads that had to do without.
//
//   reader: slot = this; light fence; biased_? read; slot = null
//   writer, holding the lock: biased_ = false; revoking_ = true; heavy fence;
//           wait for the slots that say `this`; revoking_ = false
//
// Why a reader and a writer are never both inside. By fence.h, either the
// reader's slot is visible to the writer after its heavy fence, or the writer's
// biased_ = false is visible to the reader after its light fence, who then
// clears the slot and takes the lock. Only who holds the lock for reading sets
// the bias, so it stays false while a writer holds the lock.
//
// Why no wake-up is lost. A reader that leaves clears its slot, makes a light
// fence and looks at revoking_: the same pattern. Either the writer finds the
// slot clear, or the reader finds revoking_ true and brings a permit. Permits
// that nobody needed make a later writer look once more, nothing else.
//
// A reader may park inside, and leave on another thread than it came on: it
// clears the slot it had taken. Meanwhile its first thread finds the slot taken
// and goes by the lock. The idea is Dice and Kogan's, "BRAVO: biased locking
// for reader-writer locks", 2019.

#ifndef GORGE_SYNC_INTERNAL_READ_BIAS_H_
#define GORGE_SYNC_INTERNAL_READ_BIAS_H_

#include <atomic>
#include <cstdint>

#include "gorge/core/internal/atomic.h"
#include "gorge/core/internal/fence.h"
#include "gorge/core/internal/semaphore.h"
#include "gorge/core/internal/thread_number.h"

namespace gorge::internal {

class ReadBias;

// What a thread reads without the lock. Set by the thread with the slot's
// number, if it is null; cleared by who set it, on whatever thread.
struct alignas(kCacheLine) ReadSlot {
  std::atomic<const ReadBias*> reads{nullptr};
};
extern ReadSlot read_slots[kThreadNumbers];

class ReadBias {
 public:
  ReadBias() = default;
  ReadBias(const ReadBias&) = delete;
  ReadBias& operator=(const ReadBias&) = delete;

  // Lets the caller read without the lock, until Leave(*slot); or returns null.
  ReadSlot* TryEnter() {
    // Relaxed: only a hint.
    if (!biased_.load(std::memory_order_relaxed)) return nullptr;
    const int number = ThreadNumber();
    if (number < 0) return nullptr;
    ReadSlot& slot = read_slots[number];
    // Acquire and release hand on what whoever read here before has released:
    // the writer that waits for that one may see our store instead of his.
    if (slot.reads.load(std::memory_order_acquire) != nullptr) return nullptr;
    slot.reads.store(this, std::memory_order_release);
    LightFence();  // Pairs with the heavy one in RevokeSlow.
    // Acquire: pairs with the release in NoteLockedRead, which the last writer
    // had unlocked before.
    if (biased_.load(std::memory_order_acquire)) [[likely]] {
      return &slot;
    }
    Leave(slot);
    return nullptr;
  }

  void Leave(ReadSlot& slot) {
    // Release: pairs with the acquire in Revoke.
    slot.reads.store(nullptr, std::memory_order_release);
    LightFence();
    // Relaxed: ordered by the fence.
    if (revoking_.load(std::memory_order_relaxed)) [[unlikely]] {
      SemRelease(left_, SemPermit::kFree);
    }
  }

  // A reader that holds the lock calls it: many of these bring the bias back.
  void NoteLockedRead() {
    // Relaxed, and no read-modify-write: it does not matter if some are lost.
    const std::uint32_t reads = locked_reads_.load(std::memory_order_relaxed);
    locked_reads_.store(reads + 1, std::memory_order_relaxed);
    if (reads >= kReadsBeforeBias) [[unlikely]] {
      locked_reads_.store(0, std::memory_order_relaxed);
      // Release: pairs with TryEnter.
      biased_.store(true, std::memory_order_release);
    }
  }

  // A writer that has just taken the lock calls it.
  //
  // Blocks: until those have left who entered without the lock.
  void Revoke() {
    // Relaxed: it is changed under the lock only.
    if (biased_.load(std::memory_order_relaxed)) [[unlikely]] {
      RevokeSlow();
    }
  }

 private:
  // A revocation costs about 10 us, a read under the lock 20 ns: so writers
  // lose little even if they come just when the bias is back.
  static constexpr std::uint32_t kReadsBeforeBias = 4096;

  void RevokeSlow();
  bool IsRead() const;

  std::atomic<bool> biased_{false};
  std::atomic<bool> revoking_{false};  // Set by the writer, under the lock.
  std::atomic<std::uint32_t> locked_reads_{0};
  Permits left_{0};
};

}  // namespace gorge::internal

#endif  // GORGE_SYNC_INTERNAL_READ_BIAS_H_
