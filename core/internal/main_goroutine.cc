#include "gorge/core/internal/main_goroutine.h"

#include <climits>

#include "gorge/core/internal/futex.h"
#include "gorge/core/internal/scheduler.h"

namespace gorge::internal {
namespace {

std::atomic<bool> claimed{false};
std::atomic<std::uint32_t> events{0};

void NoteEvent() {
  // Release: pairs with the acquire in AwaitMain.
  events.fetch_add(1, std::memory_order_release);
  FutexWake(events, INT_MAX);
}

}  // namespace

bool ClaimMain() { return !claimed.exchange(true, std::memory_order_acq_rel); }

void ReleaseMain() {
  claimed.store(false, std::memory_order_release);
  NoteEvent();
}

void NoteMainEnded() { NoteEvent(); }

bool AwaitMain(const std::atomic<bool>& ended, std::uint32_t epoch) {
  while (true) {
    const std::uint32_t seen = events.load(std::memory_order_acquire);
    const bool over = sched.epoch.load(std::memory_order_acquire) != epoch;
    // Acquire: what main has done is seen. After `over`: it may just have
    // ended.
    if (ended.load(std::memory_order_acquire)) return true;
    if (over) return false;
    FutexWait(events, seen);
  }
}

}  // namespace gorge::internal
