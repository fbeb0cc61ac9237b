// cache.cc -- many readers, and one load for each key.
//
// Readers share the lock of the map. One who does not find a key loads it, and
// those who want the same one meanwhile wait for that load.

#include <atomic>
#include <cstdio>
#include <mutex>
#include <optional>
#include <shared_mutex>

#include "absl/container/flat_hash_map.h"
#include "gorge/gorge.h"

namespace {

class Cache {
 public:
  int Get(int key) {
    if (const auto value = Find(key)) return *value;
    return *flight_.Do(key, [&] { return Load(key); }).value;
  }
  int loads() const { return loads_; }

 private:
  std::optional<int> Find(int key) {
    const std::shared_lock hold(mutex_);
    const auto it = values_.find(key);
    return it == values_.end() ? std::nullopt : std::optional(it->second);
  }

  int Load(int key) {
    if (const auto value = Find(key)) return *value;  // Loaded meanwhile.
    ++loads_;
    gorge::Sleep(absl::Milliseconds(1));  // It comes from far away.
    const std::unique_lock hold(mutex_);
    return values_[key] = key * key;
  }

  std::atomic<int> loads_{0};
  gorge::RWMutex mutex_;
  absl::flat_hash_map<int, int> values_;  // Guarded by mutex_.
  gorge::SingleFlight<int, int> flight_;
};

}  // namespace

int main() {
  return gorge::Run([] {
    Cache cache;
    std::atomic<int> sum{0};
    gorge::WaitGroup readers;
    for (int i = 0; i < 1000; ++i) {
      readers.Go([&, i] { sum += cache.Get(i % 5); });
    }
    readers.Wait();
    std::printf("1000 reads: %d loads, sum %d\n", cache.loads(), sum.load());
  });
}
