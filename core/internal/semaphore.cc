#include "gorge/core/internal/semaphore.h"

#include "gorge/core/internal/atomic.h"
#include "gorge/core/internal/lock.h"
#include "gorge/core/internal/park_here.h"
#include "gorge/core/internal/wait_treap.h"
#include "gorge/core/internal/yield.h"

namespace gorge::internal {
namespace {

// On a line of its own, with a neighbour's lock on another: two hot semaphores
// share a bucket only if their hashes agree.
struct alignas(2 * kCacheLine) Bucket {
  Lock lock{LockRank::kSema};
  std::atomic<std::uint32_t> waiters{0};
  WaitTreap treap GORGE_GUARDED_BY(lock);
};

constexpr unsigned kBucketBits = 8;
constinit Bucket buckets[1u << kBucketBits];

Bucket& BucketOf(const Permits& permits) {
  const auto address = reinterpret_cast<std::uintptr_t>(&permits);
  return buckets[(address * 0x9e3779b97f4a7c15u) >> (64 - kBucketBits)];
}

// A1 and A3.
bool TryTake(Permits& permits) {
  // Seq_cst: A3's look comes after A2's count.
  std::uint32_t left = permits.load(std::memory_order_seq_cst);
  while (left > 0) {
    // Acquire: what precedes the release comes before what follows the permit.
    if (permits.compare_exchange_weak(left, left - 1,
                                      std::memory_order_seq_cst)) {
      return true;
    }
  }
  return false;
}

// A2 to A5. True if the caller has its permit.
bool Wait(Permits& permits, SemQueue where, WaitReason reason,
          const void* object) GORGE_NO_THREAD_SAFETY_ANALYSIS {
  Bucket& bucket = BucketOf(permits);
  SemWaiter self;
  self.g = Self();
  self.address = &permits;
  self.priority = self.g->random.Next();
  bucket.lock.Acquire();
  bucket.waiters.fetch_add(1, std::memory_order_seq_cst);
  if (TryTake(permits)) {
    bucket.waiters.fetch_sub(1, std::memory_order_relaxed);
    bucket.lock.Release();
    return true;
  }
  if (where == SemQueue::kFirst) {
    bucket.treap.PushFirst(self);
  } else {
    bucket.treap.PushLast(self);
  }
  ParkAndReleaseHere(bucket.lock, reason, object);
  return self.given;
}

}  // namespace

void SemAcquire(Permits& permits, SemQueue where, WaitReason reason,
                const void* object) {
  while (!TryTake(permits)) {
    if (Wait(permits, where, reason, object)) return;
    where = SemQueue::kFirst;
  }
}

void SemRelease(Permits& permits, SemPermit permit) {
  Bucket& bucket = BucketOf(permits);
  permits.fetch_add(1, std::memory_order_seq_cst);
  if (bucket.waiters.load(std::memory_order_seq_cst) == 0) return;
  SemWaiter* waiter;
  {
    LockGuard hold(bucket.lock);
    waiter = bucket.treap.Pop(&permits);
    if (waiter == nullptr) return;
    // Relaxed: a release that still sees the waiter looks for it in vain.
    bucket.waiters.fetch_sub(1, std::memory_order_relaxed);
  }
  const bool given = permit != SemPermit::kFree && TryTake(permits);
  waiter->given = given;
  Ready(*waiter->g);
  if (given && permit == SemPermit::kHanded && !Self()->is_thread) Yield();
}

int SemWaiters(const Permits& permits) {
  Bucket& bucket = BucketOf(permits);
  LockGuard hold(bucket.lock);
  int count = 0;
  for (const SemWaiter* w = bucket.treap.Find(&permits); w != nullptr;
       w = w->next) {
    ++count;
  }
  return count;
}

}  // namespace gorge::internal
