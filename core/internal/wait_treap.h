// core/internal/wait_treap.h -- waiters by address, oldest first.
//
// A treap: a search tree by address that is a heap by random priority, and so
// about logarithmic in depth. Its nodes are the oldest waiters of their
// addresses; the younger ones hang on them in a list.

#ifndef GORGE_CORE_INTERNAL_WAIT_TREAP_H_
#define GORGE_CORE_INTERNAL_WAIT_TREAP_H_

#include <cstdint>

namespace gorge::internal {

struct G;

// One waiter, on the stack of the goroutine that waits. All of it is guarded by
// the lock of its bucket while it is queued.
struct SemWaiter {
  G* g = nullptr;
  const void* address = nullptr;
  bool given = false;  // Woken with a permit.

  SemWaiter* next = nullptr;  // The next younger of the same address.
  // Of the oldest only:
  SemWaiter* youngest = nullptr;
  SemWaiter* left = nullptr;
  SemWaiter* right = nullptr;
  std::uint32_t priority = 0;
};

class WaitTreap {
 public:
  // Queues `waiter`, whose address and random priority are set.
  void PushLast(SemWaiter& waiter);
  void PushFirst(SemWaiter& waiter);

  // Removes and returns the oldest waiter of `address`; null if there is none.
  SemWaiter* Pop(const void* address);

  // The oldest waiter of `address`, or null.
  const SemWaiter* Find(const void* address) const;

 private:
  // The link to the node of `address`, or to where it would be.
  SemWaiter** Link(const void* address);
  void Insert(SemWaiter& node);

  SemWaiter* root_ = nullptr;
};

}  // namespace gorge::internal

#endif  // GORGE_CORE_INTERNAL_WAIT_TREAP_H_
