// sync/internal/map_shards.h -- the shards of a Map: each a lock and a table.
//
// There are none until something is written; then there are as many as suit the
// machine, for good. A shard is a cache line, and while its readers pass by the
// lock (read_bias.h) nothing on it is written.

#ifndef GORGE_SYNC_INTERNAL_MAP_SHARDS_H_
#define GORGE_SYNC_INTERNAL_MAP_SHARDS_H_

#include <atomic>
#include <cstddef>
#include <limits>
#include <memory>
#include <mutex>

#include "gorge/core/internal/atomic.h"
#include "gorge/sync/internal/read_bias.h"

namespace gorge::internal {

// A map has 2 to the power of this many shards.
int MapShardBits();

// Lock is RWMutex, which lies above this folder.
template <class Lock, class Table>
class MapShards {
 public:
  struct alignas(kCacheLine) Shard {
    mutable Lock lock;
    mutable ReadBias bias;
    Table table;  // Guarded by lock; by lock and bias for readers.
  };

  // Holds a shard for reading.
  class Reading {
   public:
    explicit Reading(const Shard& shard)
        : shard_(shard), slot_(shard.bias.TryEnter()) {
      if (slot_ == nullptr) {
        shard_.lock.lock_shared();
        shard_.bias.NoteLockedRead();
      }
    }
    ~Reading() {
      if (slot_ != nullptr) {
        shard_.bias.Leave(*slot_);
      } else {
        shard_.lock.unlock_shared();
      }
    }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

    const Table& table() const { return shard_.table; }

   private:
    const Shard& shard_;
    ReadSlot* const slot_;  // Null: the lock is held.
  };

  // Holds a shard for writing.
  class Writing {
   public:
    explicit Writing(Shard& shard) : hold_(shard.lock), shard_(shard) {
      shard.bias.Revoke();
    }

    Table& table() const { return shard_.table; }

   private:
    const std::lock_guard<Lock> hold_;
    Shard& shard_;
  };

  constexpr MapShards() = default;
  // Acquire: as in All.
  ~MapShards() { delete[] shards_.load(std::memory_order_acquire); }
  MapShards(const MapShards&) = delete;
  MapShards& operator=(const MapShards&) = delete;

  // The shards; null if nothing was ever written.
  Shard* All() const {
    // Acquire: pairs with the release in Make.
    return shards_.load(std::memory_order_acquire);
  }

  // Requires: All() is not null.
  std::size_t count() const {
    // Relaxed: written before All() became what it is.
    return std::size_t{1} << bits_.load(std::memory_order_relaxed);
  }

  // The shard of the hash; null if nothing was ever written.
  Shard* Find(std::size_t hash) const {
    Shard* const shards = All();
    return shards != nullptr ? &shards[IndexOf(hash)] : nullptr;
  }

  // The shard of the hash.
  Shard& Get(std::size_t hash) {
    Shard* shards = All();
    if (shards == nullptr) [[unlikely]]
      shards = Make();
    return shards[IndexOf(hash)];
  }

 private:
  // The uppermost bits; the tables use the lower ones.
  std::size_t IndexOf(std::size_t hash) const {
    return hash >> (std::numeric_limits<std::size_t>::digits -
                    bits_.load(std::memory_order_relaxed));
  }

  Shard* Make() {
    const int bits = MapShardBits();
    // All who come here at once write the same.
    bits_.store(bits, std::memory_order_relaxed);
    auto made = std::make_unique<Shard[]>(std::size_t{1} << bits);
    Shard* shards = nullptr;
    // Release: publishes the shards. Acquire: another was faster.
    if (shards_.compare_exchange_strong(shards, made.get(),
                                        std::memory_order_acq_rel,
                                        std::memory_order_acquire)) {
      shards = made.release();
    }
    return shards;
  }

  std::atomic<Shard*> shards_{nullptr};  // Changed once, by Make.
  std::atomic<int> bits_{0};             // The logarithm of their number.
};

}  // namespace gorge::internal

#endif  // GORGE_SYNC_INTERNAL_MAP_SHARDS_H_
