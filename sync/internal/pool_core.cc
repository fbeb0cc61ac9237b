#include "gorge/sync/internal/pool_core.h"

#include <time.h>

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
  void* item = nullptr;
  if (place != nullptr && (item = place->more.Pop()) != nullptr) return item;
  if ((item = shared_.Pop()) != nullptr) return item;
  if ((item = Steal()) != nullptr) return item;
  return old_.Pop();
}

// Looks through the lists of all threads, beginning after the caller's, so that
// not all thieves come to the same one.
void* PoolCore::Steal() {
  const int end = ThreadNumbersGiven();
  const int own = ThreadNumber();
  for (int i = 1; i <= end; ++i) {
    PoolPlace* const place = FindPlace((own + i) % end);
    if (place == nullptr) continue;
    if (void* const item = place->more.Pop()) return item;
  }
  return nullptr;
}

void PoolCore::PutSlow(void* item, bool check_clock) {
  PoolPlace* place = FindPlace(ThreadNumber());
  if (place == nullptr) place = MakePlace(ThreadNumber());
  if (place == nullptr || !place->Put(item)) {
    SharedItems& items = place != nullptr ? place->more : shared_;
    if (!items.Push(item)) return destroy_(item);
  }
  if (check_clock) AgeIfDue(CoarseNow());
}

// Takes what is not old. An item in a slot whose owner is at it stays.
ItemList PoolCore::TakeCurrent() {
  // Places that are new after this stay open, and are left alone.
  ForEachPlace([](PoolPlace& place) { place.Close(); });
  HeavyFence();
  ItemList items = shared_.TakeAll();
  ItemList::BlockPtr spare;
  ForEachPlace([&](PoolPlace& place) {
    items.Append(place.more.TakeAll());
    void* const item = place.TakeAndOpen();
    if (item == nullptr) return;
    if (spare == nullptr) spare = ItemList::NewBlock();
    if (!items.Push(item, spare)) destroy_(item);
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
