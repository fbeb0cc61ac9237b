// sync/internal/pool_core.h -- what Pool<T> is without its T.
//
// Each thread that has put something has a place of its own, found by its
// number (thread_number.h): a few slots, which it uses without a lock, and a
// list of more, which others may take from. So what a goroutine puts back is
// usually what the next one on that P gets, still in the cache.
//
//   Get: own slots, own list, the list of threads without a number, the lists
//        of the other threads, what is old; else the caller makes one
//   Put: own slots; when they are full, half of them go to the own list
//
// Items age: Age destroys what is old, and makes old whatever nobody has taken
// since the last time. So a spike is given back after two of them.
//
// The slots are locked by a bias towards their thread, as runnext.h does it:
//
//   owner: inside = 1; light fence; closed is 0? use the slots; inside = 0
//   Age:   closed = 1; heavy fence; inside is 0? take the items; closed = 0
//
// By fence.h, the owner's 1 is visible to Age or Age's to the owner, so they
// are never both at it. Whoever finds the other there does without the slots:
// an owner that is inside is no idle one, and its items may stay for once.

#ifndef GORGE_SYNC_INTERNAL_POOL_CORE_H_
#define GORGE_SYNC_INTERNAL_POOL_CORE_H_

#include <atomic>
#include <cstdint>

#include "gorge/core/internal/atomic.h"
#include "gorge/core/internal/fence.h"
#include "gorge/core/internal/thread_number.h"
#include "gorge/sync/internal/item_list.h"

namespace gorge::internal {

// One thread's part of a pool.
class alignas(kCacheLine) PoolPlace {
 public:
  static constexpr int kSlots = 6;  // What fits on a cache line.
  static constexpr int kHalf = kSlots / 2;
  static constexpr std::uint32_t kPutsPerCheck = 256;

  // Takes the item that came last, or returns null. Owner only.
  void* Take() {
    const Inside inside(*this);
    return inside && count_ > 0 ? slots_[--count_] : nullptr;
  }

  // Adds the item, if there is room. Owner only.
  [[nodiscard]] bool Put(void* item) {
    const Inside inside(*this);
    if (!inside || count_ == kSlots) return false;
    slots_[count_++] = item;
    return true;
  }

  // Takes the kHalf items that came first, if it is full. Returns how many it
  // has taken. Owner only.
  int TakeHalf(void** items);

  // True once in a while, so that its owner looks at the clock. Owner only.
  bool CheckIsDue() {
    if (--puts_left_ != 0) [[likely]]
      return false;
    puts_left_ = kPutsPerCheck;
    return true;
  }

  // Keeps the owner out of the slots, from the next heavy fence on.
  void Close() {
    // Relaxed: ordered by the fence; pairs with Inside.
    closed_.store(1, std::memory_order_relaxed);
  }

  // Opens them again, and takes what is in them unless the owner is there. Does
  // nothing if they were not closed. Returns how many it has taken, at most
  // kSlots. Requires a heavy fence since the Close.
  int TakeAllAndOpen(void** items);

  SharedItems more;

 private:
  class Inside {
   public:
    explicit Inside(PoolPlace& place) : place_(place) {
      // Relaxed: ordered by the fence; pairs with Close.
      place_.inside_.store(1, std::memory_order_relaxed);
      LightFence();
      // Acquire: pairs with the release in TakeAllAndOpen.
      open_ = place_.closed_.load(std::memory_order_acquire) == 0;
    }
    ~Inside() {
      // Release: pairs with the acquire in TakeAllAndOpen.
      place_.inside_.store(0, std::memory_order_release);
    }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    explicit operator bool() const { return open_; }

   private:
    PoolPlace& place_;
    bool open_;
  };

  // On a line that only the owner writes to, but for Age.
  alignas(kCacheLine) void* slots_[kSlots];  // Of who is inside, or has closed.
  std::int32_t count_ = 0;                   // The same.
  std::atomic<std::uint32_t> inside_{0};
  std::atomic<std::uint32_t> closed_{0};
  std::uint32_t puts_left_ = kPutsPerCheck;  // The owner's.
};

class PoolCore {
 public:
  static constexpr std::int64_t kPeriod = 10'000'000'000;  // Nanoseconds.

  constexpr explicit PoolCore(void (*destroy)(void*)) : destroy_(destroy) {}
  ~PoolCore();  // Destroys the items.
  PoolCore(const PoolCore&) = delete;
  PoolCore& operator=(const PoolCore&) = delete;

  // Takes an item; null if there is none.
  void* Get() {
    PoolPlace* const place = FindPlace(ThreadNumber());
    if (place != nullptr) [[likely]] {
      if (void* const item = place->Take()) return item;
    }
    return GetSlow(place);
  }

  // Adds an item. Destroys it if there is no memory to keep it.
  void Put(void* item) {
    PoolPlace* const place = FindPlace(ThreadNumber());
    const bool check_clock = place == nullptr || place->CheckIsDue();
    if (!check_clock && place->Put(item)) [[likely]]
      return;
    PutSlow(item, check_clock);
  }

  // One step of time: see above.
  void Age();

  // Calls Age if a period has passed since the last time; `now` is on a clock
  // in nanoseconds that never goes back.
  void AgeIfDue(std::int64_t now);

  // When the period ends; for tests.
  void SetNextAge(std::int64_t when) { next_age_ = when; }

 private:
  // Places come in chunks, made when the first of their threads puts something.
  static constexpr int kChunk = 16;
  static constexpr int kChunks = kThreadNumbers / kChunk;
  struct Chunk {
    PoolPlace places[kChunk];
  };

  PoolPlace* FindPlace(int number) const {
    if (number < 0) [[unlikely]]
      return nullptr;
    // Acquire: pairs with the release in MakePlace.
    Chunk* const chunk =
        chunks_[number / kChunk].load(std::memory_order_acquire);
    return chunk != nullptr ? &chunk->places[number % kChunk] : nullptr;
  }
  PoolPlace* MakePlace(int number);

  void* GetSlow(PoolPlace* place);
  int Steal(void** items, int most);
  void PutSlow(void* item, bool check_clock);
  void Keep(SharedItems& where, void* const* items, int count);
  template <class F>
  void ForEachPlace(F f);
  ItemList TakeCurrent();
  void Destroy(ItemList items);

  void (*const destroy_)(void*);
  std::atomic<Chunk*> chunks_[kChunks] = {};  // Each changed once.
  SharedItems shared_;                        // From threads without a number.
  SharedItems old_;
  std::atomic<bool> ageing_{false};        // Somebody is in Age.
  std::atomic<std::int64_t> next_age_{0};  // When to call it; 0: unknown.
};

}  // namespace gorge::internal

#endif  // GORGE_SYNC_INTERNAL_POOL_CORE_H_
