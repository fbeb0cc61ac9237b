// core/internal/timer_heap.h -- timers by the instant they are due.
//
// A heap with four children to a node: half as deep as one with two, and the
// four lie on one cache line. The instants stand in the heap itself, so that
// sifting looks at no timer; each timer knows its place, so that it can leave
// in O(log n).

#ifndef GORGE_CORE_INTERNAL_TIMER_HEAP_H_
#define GORGE_CORE_INTERNAL_TIMER_HEAP_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gorge/core/internal/clock.h"

namespace gorge::internal {

struct TimerNode;

class TimerHeap {
 public:
  std::size_t Size() const { return entries_.size(); }
  // kNever if there is none.
  std::int64_t Earliest() const {
    return entries_.empty() ? kNever : entries_.front().when;
  }

  // Makes sure that the next Push does not throw.
  void MakeRoom();
  void Push(TimerNode& node, std::int64_t when);
  void Change(TimerNode& node, std::int64_t when);
  void Remove(TimerNode& node);
  // Removes and returns the timer that is due first, if it is due at `now`;
  // else null. What is due at kNever is never due.
  TimerNode* PopDue(std::int64_t now);
  // Removes and returns any timer, null if there is none.
  TimerNode* PopAny();

 private:
  struct Entry {
    std::int64_t when;
    TimerNode* node;
  };

  static constexpr std::size_t kChildren = 4;

  void Put(std::size_t index, const Entry& entry);
  // Move the entry to its place, from `index` on towards the root or the
  // leaves.
  void SiftUp(std::size_t index, const Entry& entry);
  void SiftDown(std::size_t index, const Entry& entry);
  void RemoveAt(std::size_t index);
  // Gives memory back if most of it is unused.
  void Trim();

  std::vector<Entry> entries_;
};

}  // namespace gorge::internal

#endif  // GORGE_CORE_INTERNAL_TIMER_HEAP_H_
