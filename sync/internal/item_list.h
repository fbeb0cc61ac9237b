// sync/internal/item_list.h -- lists of pointers that grow without an upper
// bound and are never copied: what a Pool keeps its items in.

#ifndef GORGE_SYNC_INTERNAL_ITEM_LIST_H_
#define GORGE_SYNC_INTERNAL_ITEM_LIST_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include "gorge/core/internal/annotations.h"
#include "gorge/core/internal/check.h"
#include "gorge/core/internal/lock.h"

namespace gorge::internal {

// Last in, first out. A chain of blocks; those below the top may be partly
// filled too, none is empty.
class ItemList {
 public:
  struct Block {
    static constexpr std::uint32_t kCapacity = 30;

    Block* below = nullptr;
    std::uint32_t count = 0;
    void* items[kCapacity];
  };
  using BlockPtr = std::unique_ptr<Block>;

  // Null if there is no memory.
  static BlockPtr NewBlock() { return BlockPtr(new (std::nothrow) Block); }

  constexpr ItemList() = default;
  ItemList(ItemList&& other) noexcept
      : top_(std::exchange(other.top_, nullptr)) {}
  ItemList& operator=(ItemList&&) = delete;
  // Requires: it is empty; the items are somebody's.
  ~ItemList() = default;

  bool empty() const { return top_ == nullptr; }

  // How many fit in without a new block.
  int Room() const {
    return top_ != nullptr ? static_cast<int>(Block::kCapacity - top_->count)
                           : 0;
  }

  // Returns false, and adds nothing, if it needs a block and `spare` is null.
  [[nodiscard]] bool Push(void* item, BlockPtr& spare) {
    if (top_ == nullptr || top_->count == Block::kCapacity) {
      if (spare == nullptr) return false;
      spare->below = top_;
      top_ = spare.release();
    }
    top_->items[top_->count++] = item;
    return true;
  }

  // Takes out the last item; null if there is none. A block that becomes empty
  // is handed out.
  [[nodiscard]] void* Pop(BlockPtr& emptied) {
    if (top_ == nullptr) return nullptr;
    void* const item = top_->items[--top_->count];
    if (top_->count == 0) {
      emptied.reset(std::exchange(top_, top_->below));
    }
    return item;
  }

  // Puts all of `other` on top.
  void Append(ItemList other) {
    if (other.top_ == nullptr) return;
    Block* last = other.top_;
    while (last->below != nullptr) last = last->below;
    last->below = std::exchange(top_, std::exchange(other.top_, nullptr));
  }

 private:
  Block* top_ = nullptr;
};

// A list that all may use. Neither allocates nor frees under its lock.
class SharedItems {
 public:
  constexpr SharedItems() = default;

  // False, and nothing is added, if there is no memory. Requires 1 <= count <=
  // Block::kCapacity: one new block is enough.
  [[nodiscard]] bool Push(void* const* items, int count) {
    ItemList::BlockPtr spare;
    while (!TryPush(items, count, spare)) {
      spare = ItemList::NewBlock();
      if (spare == nullptr) return false;
    }
    return true;
  }

  // Takes out those that came last, at most `most`. Returns how many.
  int Pop(void** items, int most) {
    // Relaxed: who has seen an item come has seen this too.
    if (!any_.load(std::memory_order_relaxed)) return 0;
    ItemList::BlockPtr emptied;
    const LockGuard hold(lock_);
    int count = 0;
    // Stops at a block that it has to free.
    while (count < most && !list_.empty() && emptied == nullptr) {
      items[count++] = list_.Pop(emptied);
      if (spare_ == nullptr) spare_.swap(emptied);
    }
    any_.store(!list_.empty(), std::memory_order_relaxed);
    return count;
  }

  ItemList TakeAll() {
    const LockGuard hold(lock_);
    any_.store(false, std::memory_order_relaxed);
    return std::move(list_);
  }

  void Append(ItemList items) {
    const LockGuard hold(lock_);
    list_.Append(std::move(items));
    any_.store(!list_.empty(), std::memory_order_relaxed);
  }

 private:
  // False, and nothing is added, if it needs `spare`, and that is null.
  bool TryPush(void* const* items, int count, ItemList::BlockPtr& spare) {
    const LockGuard hold(lock_);
    if (spare_ == nullptr) spare_.swap(spare);
    if (list_.Room() < count && spare_ == nullptr) return false;
    for (int i = 0; i < count; ++i) {
      GORGE_CHECK(list_.Push(items[i], spare_), "there is room for the items");
    }
    any_.store(true, std::memory_order_relaxed);
    return true;
  }

  Lock lock_{LockRank::kPool};
  ItemList list_ GORGE_GUARDED_BY(lock_);
  // One that was emptied, so that items that come and go need no memory.
  ItemList::BlockPtr spare_ GORGE_GUARDED_BY(lock_);
  std::atomic<bool> any_{false};  // Changed under lock_.
};

}  // namespace gorge::internal

#endif  // GORGE_SYNC_INTERNAL_ITEM_LIST_H_
