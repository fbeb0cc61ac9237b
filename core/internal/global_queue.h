// core/internal/global_queue.h -- the run queue that belongs to no P.
//
// A list through G::next, oldest first. Guarded by the scheduler's lock, but
// for Size, which may be read without it.

#ifndef GORGE_CORE_INTERNAL_GLOBAL_QUEUE_H_
#define GORGE_CORE_INTERNAL_GLOBAL_QUEUE_H_

#include <atomic>
#include <cstdint>

#include "gorge/core/internal/goroutine.h"

namespace gorge::internal {

class GlobalQueue {
 public:
  void Push(G& g) {
    g.next = nullptr;
    (last_ == nullptr ? first_ : last_->next) = &g;
    last_ = &g;
    Resize(+1);
  }

  // Null if empty.
  G* Pop() {
    G* g = first_;
    if (g == nullptr) return nullptr;
    first_ = g->next;
    if (first_ == nullptr) last_ = nullptr;
    Resize(-1);
    return g;
  }

  // Without the lock: a hint. Who must be sure looks with the lock held.
  std::int64_t Size() const { return size_.load(std::memory_order_relaxed); }

 private:
  // A plain store of a sum: writers hold the lock.
  void Resize(std::int64_t by) {
    size_.store(size_.load(std::memory_order_relaxed) + by,
                std::memory_order_relaxed);
  }

  G* first_ = nullptr;
  G* last_ = nullptr;
  std::atomic<std::int64_t> size_{0};
};

}  // namespace gorge::internal

#endif  // GORGE_CORE_INTERNAL_GLOBAL_QUEUE_H_
