#include "gorge/sync/internal/pool_core.h"

#include <time.h>

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

namespace gorge::internal {
namespace {

// Milliseconds are enough, and this clock costs next to nothing.
std::int64_t CoarseNow() {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

}  // namespace

int PoolPlace::TakeHalf(void** items) {
  const Inside inside(*this);
  if (!inside || count_ < kSlots) return 0;
  std::copy_n(slots_, kHalf, items);
  std::copy(slots_ + kHalf, slots_ + kSlots, slots_);
  count_ -= kHalf;
  return kHalf;
}

int PoolPlace::TakeAllAndOpen(void** items) {
  // Relaxed: written by Age only.
  if (closed_.load(std::memory_order_relaxed) == 0) return 0;
  int count = 0;
  // Acquire: pairs with the release in ~Inside.
  if (inside_.load(std::memory_order_acquire) == 0) {
    count = std::exchange(count_, 0);
    std::copy_n(slots_, count, items);
  }
  // Release: an owner that reads 0 sees the slots as we leave them.
  closed_.store(0, std::memory_order_release);
  return count;
}

PoolCore::~PoolCore() {
  Destroy(TakeCurrent());
  Destroy(old_.TakeAll());
  for (std::atomic<Chunk*>& chunk : chunks_) {
    delete chunk.load(std::memory_order_acquire);
  }
}

PoolPlace* PoolCore::MakePlace(int number) {
  if (number < 0) return nullptr;
  std::unique_ptr<Chunk> made(new (std::nothrow) Chunk);
  if (made == nullptr) return nullptr;
  Chunk* chunk = nullptr;
  // Release: publishes the chunk. Acquire: another was faster.
  if (chunks_[number / kChunk].compare_exchange_strong(
          chunk, made.get(), std::memory_order_acq_rel,
          std::memory_order_acquire)) {
    chunk = made.release();
  }
  return &chunk->places[number % kChunk];
}

template <class F>
void PoolCore::ForEachPlace(F f) {
  const int end = ThreadNumbersGiven();
  for (int number = 0; number < end; ++number) {
    if (PoolPlace* const place = FindPlace(number)) f(*place);
  }
}

void* PoolCore::GetSlow(PoolPlace* place) {
  void* items[PoolPlace::kHalf];
  // Half of what the slots hold, at the price of one.
  const int most = place != nullptr ? PoolPlace::kHalf : 1;
  int count = place != nullptr ? place->more.Pop(items, most) : 0;
  if (count == 0) count = shared_.Pop(items, most);
  if (count == 0) count = Steal(items, most);
  if (count == 0) count = old_.Pop(items, 1);
  if (count == 0) return nullptr;
  // The slots are empty, or Age has closed them.
  int kept = 1;
  while (kept < count && place->Put(items[kept])) ++kept;
  if (kept < count) Keep(place->more, items + kept, count - kept);
  return items[0];
}

// Looks through the lists of all threads, beginning after the caller's, so that
// not all thieves come to the same one.
int PoolCore::Steal(void** items, int most) {
  const int end = ThreadNumbersGiven();
  const int own = ThreadNumber();
  for (int i = 1; i <= end; ++i) {
    PoolPlace* const place = FindPlace((own + i) % end);
    if (place == nullptr) continue;
    if (const int count = place->more.Pop(items, most)) return count;
  }
  return 0;
}

void PoolCore::PutSlow(void* item, bool check_clock) {
  PoolPlace* place = FindPlace(ThreadNumber());
  if (place == nullptr) place = MakePlace(ThreadNumber());
  if (place == nullptr) {
    Keep(shared_, &item, 1);
  } else if (!place->Put(item)) {
    void* items[PoolPlace::kHalf + 1];
    int count = place->TakeHalf(items);
    if (!place->Put(item)) items[count++] = item;  // Closed.
    if (count > 0) Keep(place->more, items, count);
  }
  // The user's destructors may have run: `place` may be another thread's now.
  if (check_clock) AgeIfDue(CoarseNow());
}

// Adds them to a list. Destroys them if there is no memory.
void PoolCore::Keep(SharedItems& where, void* const* items, int count) {
  if (where.Push(items, count)) return;
  std::for_each(items, items + count, destroy_);
}

// Takes what is not old. What is in slots whose owner is at
// them stays.
ItemList PoolCore::TakeCurrent() {
  // Places that are new after this stay open, and are left alone.
  ForEachPlace([](PoolPlace& place) { place.Close(); });
  HeavyFence();
  ItemList items = shared_.TakeAll();
  ItemList::BlockPtr spare;
  ForEachPlace([&](PoolPlace& place) {
    items.Append(place.more.TakeAll());
    void* slots[PoolPlace::kSlots];
    const int count = place.TakeAllAndOpen(slots);
    for (int i = 0; i < count; ++i) {
      if (spare == nullptr) spare = ItemList::NewBlock();
      if (!items.Push(slots[i], spare)) destroy_(slots[i]);
    }
  });
  return items;
}

void PoolCore::Age() {
  // Acquire and release: one call does not begin before the last has ended.
  if (ageing_.exchange(true, std::memory_order_acquire)) return;
  ItemList gone = old_.TakeAll();
  old_.Append(TakeCurrent());
  ageing_.store(false, std::memory_order_release);
  Destroy(std::move(gone));
}

void PoolCore::AgeIfDue(std::int64_t now) {
  // Relaxed: whoever sees it late ages late.
  std::int64_t next = next_age_.load(std::memory_order_relaxed);
  if (now < next || !next_age_.compare_exchange_strong(
                        next, now + kPeriod, std::memory_order_relaxed)) {
    return;
  }
  if (next != 0) Age();  // Else the first period has just begun.
}

// Runs the user's destructors, which may use this pool: no lock is held.
void PoolCore::Destroy(ItemList items) {
  ItemList::BlockPtr emptied;
  while (void* const item = items.Pop(emptied)) destroy_(item);
}

}  // namespace gorge::internal
