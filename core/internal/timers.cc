#include "gorge/core/internal/timers.h"

#include <array>

#include "gorge/core/internal/processor.h"
#include "gorge/core/internal/scheduler.h"

namespace gorge::internal {
namespace {

// Fired in one go between two looks at the queue.
constexpr std::size_t kBatch = 32;

// The first P's. Changed under sched.lifecycle.
std::atomic<TimerQueue*> first_queue{nullptr};

TimerQueue* FirstQueue() {
  // Acquire: pairs with the release in TimerQueuesFor.
  return first_queue.load(std::memory_order_acquire);
}

TimerQueue* Next(const TimerQueue& queue) {
  return queue.next.load(std::memory_order_acquire);
}

TimerQueue& QueueOfCaller() {
  const Processor* p = CurrentProcessor(*Self());
  return p != nullptr ? *p->timers : *FirstQueue();
}

void PublishEarliest(TimerQueue& queue) GORGE_REQUIRES(queue.lock) {
  // Relaxed: who relies on it is ordered by fences (idle.h).
  queue.earliest.store(queue.heap.Earliest(), std::memory_order_relaxed);
}

void Leave(TimerNode& node) {
  // Release: pairs with the acquires in Arm and Disarm. The owner may go now.
  node.queue.store(nullptr, std::memory_order_release);
}

struct Batch {
  std::array<TimerNode*, kBatch> nodes;
  std::size_t count = 0;
};

// Takes timers that are due out of the queue. False if there are no more.
bool TakeDue(TimerQueue& queue, const Processor& p, std::int64_t now,
             Batch& due) {
  LockGuard hold(queue.lock);
  if (!IsCurrent(p)) return false;  // The stop abandons them.
  while (due.count < kBatch) {
    TimerNode* node = queue.heap.PopDue(now);
    if (node == nullptr) break;
    if (node->actions.claim(*node)) due.nodes[due.count++] = node;
    Leave(*node);
  }
  PublishEarliest(queue);
  return due.count == kBatch;
}

}  // namespace

ArmResult Arm(TimerNode& node, std::int64_t when) {
  while (true) {
    TimerQueue* const seen = node.queue.load(std::memory_order_relaxed);
    TimerQueue& queue = seen != nullptr ? *seen : QueueOfCaller();
    LockGuard hold(queue.lock);
    if (seen != nullptr) {
      if (node.queue.load(std::memory_order_relaxed) != seen) continue;
      queue.heap.Change(node, when);
    } else {
      queue.heap.MakeRoom();
      TimerQueue* none = nullptr;
      // Acquire: pairs with the release in Leave. It may have left a queue with
      // another lock, under which its index was written.
      if (!node.queue.compare_exchange_strong(none, &queue,
                                              std::memory_order_acquire,
                                              std::memory_order_relaxed)) {
        continue;
      }
      queue.heap.Push(node, when);
    }
    PublishEarliest(queue);
    return {.was_armed = seen != nullptr, .is_next = node.index == 0};
  }
}

bool Disarm(TimerNode& node) {
  // Acquire: pairs with the release in Leave.
  while (TimerQueue* queue = node.queue.load(std::memory_order_acquire)) {
    LockGuard hold(queue->lock);
    if (node.queue.load(std::memory_order_relaxed) != queue) continue;
    queue->heap.Remove(node);
    PublishEarliest(*queue);
    Leave(node);
    return true;
  }
  return false;
}

bool RunDueTimers(TimerQueue& queue, const Processor& p) {
  const std::int64_t earliest = queue.earliest.load(std::memory_order_relaxed);
  if (earliest == kNever) return false;
  const std::int64_t now = MonotonicNanos();
  if (earliest > now) return false;
  bool fired = false;
  bool more = true;
  while (more) {
    Batch due;
    more = TakeDue(queue, p, now, due);
    for (std::size_t i = 0; i < due.count; ++i) {
      due.nodes[i]->actions.fire(*due.nodes[i], now);
      fired = true;
    }
  }
  return fired;
}

TimerQueue* TimerQueuesFor(std::uint32_t count) {
  TimerQueue* first = FirstQueue();
  if (first == nullptr) {
    first = new TimerQueue;
    // Release: pairs with the acquire in FirstQueue.
    first_queue.store(first, std::memory_order_release);
  }
  TimerQueue* last = first;
  for (std::uint32_t i = 1; i < count; ++i) {
    if (Next(*last) == nullptr) {
      // Release: pairs with the acquire in Next.
      last->next.store(new TimerQueue, std::memory_order_release);
    }
    last = Next(*last);
  }
  return first;
}

std::vector<TimerNode*> TakeAllTimers() {
  std::vector<TimerNode*> taken;
  for (TimerQueue* q = FirstQueue(); q != nullptr; q = Next(*q)) {
    LockGuard hold(q->lock);
    while (TimerNode* node = q->heap.PopAny()) {
      if (node->actions.claim(*node)) taken.push_back(node);
      Leave(*node);
    }
    PublishEarliest(*q);
  }
  return taken;
}

void ForgetTimerQueues() {
  first_queue.store(nullptr, std::memory_order_relaxed);
}

std::size_t CountTimers() {
  std::size_t count = 0;
  for (TimerQueue* q = FirstQueue(); q != nullptr; q = Next(*q)) {
    LockGuard hold(q->lock);
    count += q->heap.Size();
  }
  return count;
}

}  // namespace gorge::internal
