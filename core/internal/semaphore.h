// core/internal/semaphore.h -- sleeping on a word: what sync/ stands on.
//
// A semaphore is a 32-bit word of its owner, the permits, and nothing else. Who
// waits for one is found by the word's address, in a table of buckets; a bucket
// is a treap of addresses, and each address has its waiters in a list.
//
//   Acquire: (A1) take a permit: done
//            (A2) lock the bucket, count ourselves in it
//            (A3) take a permit after all: count ourselves out, unlock, done
//            (A4) queue; park, which unlocks
//            (A5) woken: if a permit was given to us, done; else from A1 on
//   Release: (R1) add a permit
//            (R2) nobody is counted in the bucket: done
//            (R3) lock the bucket, take out the oldest waiter of this address,
//                 count it out, unlock
//            (R4) if asked to give it: take a permit, as the waiter's
//            (R5) ready the waiter
//
// Why no wake-up is lost: A2 writes the count and A3 reads the permits, R1 adds
// a permit and R2 reads the count, all of them sequentially consistent. So A3
// sees the permit or R2 sees the waiter. A permit that another takes before the
// woken waiter comes to A1 is no loss: that one releases it again.
//
// What a release touches after R1 is the bucket; and the word, at R4, only if a
// waiter was found that needs it. So the word may go as soon as nobody waits on
// it and its last permit has been taken, although the release that brought it
// has not returned. An address that is used anew meanwhile can only mean a
// waiter that is woken for nothing and queues again.

#ifndef GORGE_CORE_INTERNAL_SEMAPHORE_H_
#define GORGE_CORE_INTERNAL_SEMAPHORE_H_

#include <atomic>
#include <cstdint>

#include "gorge/core/internal/goroutine.h"

namespace gorge::internal {

using Permits = std::atomic<std::uint32_t>;

// Where a waiter queues.
enum class SemQueue : std::uint8_t {
  kLast,
  kFirst,  // It has waited before and found its permit gone.
};

// Takes a permit.
//
// Blocks: the goroutine, until there is one; in a plain thread, the thread.
void SemAcquire(Permits& permits, SemQueue where, WaitReason reason,
                const void* object);

// What becomes of the permit that a release brings.
enum class SemPermit : std::uint8_t {
  kFree,    // Whoever comes first takes it.
  kGiven,   // It is the oldest waiter's, if there is one.
  kHanded,  // The same, and that runs at once: the caller yields.
};

// Adds a permit and wakes the oldest waiter, if there is one.
void SemRelease(Permits& permits, SemPermit permit);

// The number of waiters, of this address; for tests.
int SemWaiters(const Permits& permits);

}  // namespace gorge::internal

#endif  // GORGE_CORE_INTERNAL_SEMAPHORE_H_
