#include "gorge/core/internal/wait_treap.h"

#include <functional>

namespace gorge::internal {
namespace {

bool Before(const void* a, const void* b) { return std::less<>()(a, b); }

// Takes the place of `old` in the tree.
void Replace(SemWaiter*& link, const SemWaiter& old, SemWaiter& node) {
  node.left = old.left;
  node.right = old.right;
  node.priority = old.priority;
  node.youngest = old.youngest;
  link = &node;
}

// Parts `tree` into what lies before `address` and what lies behind it.
void Split(SemWaiter* tree, const void* address, SemWaiter** before,
           SemWaiter** behind) {
  while (tree != nullptr) {
    if (Before(tree->address, address)) {
      *before = tree;
      before = &tree->right;
      tree = tree->right;
    } else {
      *behind = tree;
      behind = &tree->left;
      tree = tree->left;
    }
  }
  *before = nullptr;
  *behind = nullptr;
}

// Joins two trees; all of `a` lies before all of `b`.
SemWaiter* Merge(SemWaiter* a, SemWaiter* b) {
  SemWaiter* root = nullptr;
  SemWaiter** link = &root;
  while (a != nullptr && b != nullptr) {
    if (a->priority > b->priority) {
      *link = a;
      link = &a->right;
      a = a->right;
    } else {
      *link = b;
      link = &b->left;
      b = b->left;
    }
  }
  *link = a != nullptr ? a : b;
  return root;
}

}  // namespace

SemWaiter** WaitTreap::Link(const void* address) {
  SemWaiter** link = &root_;
  while (*link != nullptr && (*link)->address != address) {
    link = Before(address, (*link)->address) ? &(*link)->left : &(*link)->right;
  }
  return link;
}

void WaitTreap::Insert(SemWaiter& node) {
  node.youngest = &node;
  SemWaiter** link = &root_;
  while (*link != nullptr && (*link)->priority >= node.priority) {
    link = Before(node.address, (*link)->address) ? &(*link)->left
                                                  : &(*link)->right;
  }
  Split(*link, node.address, &node.left, &node.right);
  *link = &node;
}

void WaitTreap::PushLast(SemWaiter& waiter) {
  waiter.next = nullptr;
  SemWaiter* oldest = *Link(waiter.address);
  if (oldest == nullptr) {
    Insert(waiter);
    return;
  }
  oldest->youngest->next = &waiter;
  oldest->youngest = &waiter;
}

void WaitTreap::PushFirst(SemWaiter& waiter) {
  waiter.next = nullptr;
  SemWaiter** link = Link(waiter.address);
  if (*link == nullptr) {
    Insert(waiter);
    return;
  }
  waiter.next = *link;
  Replace(*link, **link, waiter);
}

SemWaiter* WaitTreap::Pop(const void* address) {
  SemWaiter** link = Link(address);
  SemWaiter* oldest = *link;
  if (oldest == nullptr) return nullptr;
  if (oldest->next != nullptr) {
    Replace(*link, *oldest, *oldest->next);
  } else {
    *link = Merge(oldest->left, oldest->right);
  }
  return oldest;
}

const SemWaiter* WaitTreap::Find(const void* address) const {
  return *const_cast<WaitTreap*>(this)->Link(address);
}

}  // namespace gorge::internal
