#include "gorge/core/internal/timer_heap.h"

#include <algorithm>
#include <new>

#include "gorge/core/internal/timers.h"

namespace gorge::internal {
namespace {

constexpr std::size_t kSmallest = 64;

}  // namespace

void TimerHeap::MakeRoom() {
  if (entries_.size() < entries_.capacity()) return;
  entries_.reserve(std::max(kSmallest, 2 * entries_.capacity()));
}

void TimerHeap::Push(TimerNode& node, std::int64_t when) {
  entries_.push_back({});
  SiftUp(entries_.size() - 1, {when, &node});
}

void TimerHeap::Change(TimerNode& node, std::int64_t when) {
  const std::int64_t before = entries_[node.index].when;
  if (when < before) {
    SiftUp(node.index, {when, &node});
  } else {
    SiftDown(node.index, {when, &node});
  }
}

void TimerHeap::Remove(TimerNode& node) { RemoveAt(node.index); }

TimerNode* TimerHeap::PopDue(std::int64_t now) {
  const std::int64_t earliest = Earliest();
  if (earliest > now || earliest == kNever) return nullptr;
  return PopAny();
}

TimerNode* TimerHeap::PopAny() {
  if (entries_.empty()) return nullptr;
  TimerNode* node = entries_.front().node;
  RemoveAt(0);
  return node;
}

void TimerHeap::Put(std::size_t index, const Entry& entry) {
  entries_[index] = entry;
  entry.node->index = index;
}

void TimerHeap::SiftUp(std::size_t index, const Entry& entry) {
  while (index > 0) {
    const std::size_t parent = (index - 1) / kChildren;
    if (entries_[parent].when <= entry.when) break;
    Put(index, entries_[parent]);
    index = parent;
  }
  Put(index, entry);
}

void TimerHeap::SiftDown(std::size_t index, const Entry& entry) {
  while (true) {
    const std::size_t first = index * kChildren + 1;
    if (first >= entries_.size()) break;
    const std::size_t last = std::min(first + kChildren, entries_.size());
    std::size_t least = first;
    for (std::size_t child = first + 1; child < last; ++child) {
      if (entries_[child].when < entries_[least].when) least = child;
    }
    if (entries_[least].when >= entry.when) break;
    Put(index, entries_[least]);
    index = least;
  }
  Put(index, entry);
}

void TimerHeap::RemoveAt(std::size_t index) {
  const Entry last = entries_.back();
  const std::int64_t removed = entries_[index].when;
  entries_.pop_back();
  if (index < entries_.size()) {
    if (last.when < removed) {
      SiftUp(index, last);
    } else {
      SiftDown(index, last);
    }
  }
  Trim();
}

void TimerHeap::Trim() {
  if (entries_.capacity() <= kSmallest ||
      entries_.size() >= entries_.capacity() / 4) {
    return;
  }
  try {
    std::vector<Entry> smaller;
    smaller.reserve(entries_.capacity() / 2);
    smaller.assign(entries_.begin(), entries_.end());
    entries_.swap(smaller);
  } catch (const std::bad_alloc&) {
    // Then the next one does it.
  }
}

}  // namespace gorge::internal
