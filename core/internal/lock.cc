#include "gorge/core/internal/lock.h"

#include "gorge/core/internal/check.h"
#include "gorge/core/internal/futex.h"

namespace gorge::internal {

constinit LockWaiterCount lock_waiter_counts[64];

namespace {

// How many CpuRelax a waiter pauses before it looks at the word, first and
// last; twice as many each time. A section is some tens of nanoseconds long and
// one core hands the lock's cache lines to another in hundreds: two threads
// that both look often take turns at every section, and each gets a tenth of
// what one alone does. A waiter that stays away leaves the holder hundreds of
// sections in a row. Together the pauses are some 40 us where a CpuRelax takes
// 40 ns: twice what falling asleep and being woken costs the two threads.
// bench/README.md has figures.
constexpr int kFirstPause = 64;
constexpr int kLastPause = 512;

}  // namespace

void Lock::AcquireSlow() {
  for (int pause = kFirstPause; pause <= kLastPause; pause *= 2) {
    for (int i = 0; i < pause; ++i) CpuRelax();
    if (word_.load(std::memory_order_relaxed) == 0 &&
        word_.exchange(1, std::memory_order_acquire) == 0) {
      return;
    }
  }
  std::atomic<std::uint32_t>& waiters = WaiterCount();
  // Relaxed: ordered by the fence; pairs with Release.
  waiters.fetch_add(1, std::memory_order_relaxed);
  HeavyFence();
  while (word_.exchange(1, std::memory_order_acquire) != 0) {
    FutexWait(word_, 1);
  }
  // Relaxed: a releaser that still sees us makes a needless system call.
  waiters.fetch_sub(1, std::memory_order_relaxed);
}

void Lock::WakeWaiter() const { FutexWake(word_, 1); }

#if GORGE_CHECKED
namespace {

// What this thread holds, oldest first. A select may hold very many channels;
// of those only the newest matters.
struct Held {
  static constexpr int kMax = 8;
  const Lock* lock[kMax];
  LockRank rank[kMax];
  int repeats[kMax];  // How many kChan locks the entry stands for.
  int count;
};

__attribute__((noinline)) Held& ThisThreadsHeld() {
  static thread_local constinit Held held{};
  asm volatile("");
  return held;
}

}  // namespace

void Lock::NoteAcquire() const {
  Held& held = ThisThreadsHeld();
  if (held.count > 0) {
    const int top = held.count - 1;
    if (rank_ == LockRank::kChan && held.rank[top] == LockRank::kChan) {
      GORGE_CHECK(held.lock[top] < this, "channels lock in address order");
      held.lock[top] = this;
      ++held.repeats[top];
      return;
    }
    GORGE_CHECK(held.rank[top] < rank_, "locks nest in the order of ranks");
  }
  GORGE_CHECK(held.count < Held::kMax, "few locks nest");
  held.lock[held.count] = this;
  held.rank[held.count] = rank_;
  held.repeats[held.count++] = 1;
}

void Lock::NoteRelease() const {
  Held& held = ThisThreadsHeld();
  for (int i = held.count - 1; i >= 0; --i) {
    if (held.rank[i] != rank_) continue;
    if (--held.repeats[i] > 0) return;
    for (int j = i + 1; j < held.count; ++j) {
      held.lock[j - 1] = held.lock[j];
      held.rank[j - 1] = held.rank[j];
      held.repeats[j - 1] = held.repeats[j];
    }
    --held.count;
    return;
  }
  GORGE_CHECK(false, "a lock is released by the thread that holds it");
}
#endif

}  // namespace gorge::internal
