// tests/stress/map_stress.cc -- Map: all operations, by goroutines and plain
// threads at once, on few keys and on many. Checked:
//   - each value that was put is taken out once, or still there at the end;
//   - a key has a value that it had at some moment during the call, no older
//     one, also in Range; and after a Clear nothing of before is there;
//   - no value leaks, is destroyed twice, or copied when it is gone.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gorge/core/runtime.h"
#include "gorge/sync/map.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/stress.h"

namespace gorge::testing {
namespace {

// A value that knows its key and its number, and is alive or not.
class Value {
 public:
  Value(int k, int n) : key(k), number(n) { ++live; }
  Value(const Value& other) : key(other.key), number(other.number) {
    if (other.state_ != kAlive) Fail("a value was copied that is gone");
    ++live;
  }
  Value& operator=(const Value&) = delete;
  ~Value() {
    if (state_ != kAlive) Fail("a value was destroyed twice");
    state_ = kGone;
    --live;
  }
  friend bool operator==(const Value& a, const Value& b) {
    return a.number == b.number;
  }

  const int key;
  const int number;

  static inline std::atomic<int> live{0};

 private:
  static constexpr std::uint32_t kAlive = 0xa11fe;
  static constexpr std::uint32_t kGone = 0xdead;
  volatile std::uint32_t state_ = kAlive;
};

void MaybeYield(Random& random) {
  if (OneIn(16, random)) Gosched();
}

// Few keys that all want, or many.
int SomeKey(Random& random) {
  return static_cast<int>(OneIn(2, random) ? random.Below(3)
                                           : random.Below(2000));
}

// Values that are put in and taken out; each is one of its kind.
class Ledger {
 public:
  explicit Ledger(StressRound& round) : round_(round) {}

  void Play() {
    Random random = round_.NewRandom();
    Crowd crowd;
    for (int i = 0; i < kWorkers; ++i) {
      crowd.Start(OneIn(3, random), [this, i] { Work(i * kCalls); });
    }
    crowd.Join();
    map_.Range([this](int key, const Value& value) { Taken(key, value); });
    for (const std::atomic<int>& fate : fates_) {
      if (fate == kIn) Fail("a value is lost");
    }
  }

 private:
  static constexpr int kWorkers = 6;
  static constexpr int kCalls = Scaled(1500) + 10;
  enum Fate { kOut, kIn, kTaken };

  void Work(int number) {
    Random random = round_.NewRandom();
    for (const int end = number + kCalls; number < end; ++number) {
      const int key = SomeKey(random);
      switch (random.Below(6)) {
        case 0:
          Taken(key, map_.LoadAndDelete(key));
          break;
        case 1:
          if (const auto there = Seen(key, map_.Load(key))) {
            if (map_.CompareAndDelete(key, *there)) Taken(key, there);
          }
          break;
        case 2:
          if (OneIn(500, random)) {
            map_.Range([this](int k, const Value& value) { See(k, value); });
          }
          break;
        default:
          Put(key, number, random);
      }
      MaybeYield(random);
    }
    Progress();
  }

  // In one of three ways.
  void Put(int key, int number, Random& random) {
    fates_[number] = kIn;
    bool put = true;
    const std::uint32_t way = random.Below(3);
    if (way == 0) {
      Taken(key, map_.Swap(key, Value(key, number)));
    } else if (way == 1) {
      const auto [actual, loaded] = map_.LoadOrStore(key, Value(key, number));
      put = !loaded;
      if (put != (actual.number == number)) Fail("LoadOrStore: another value");
      if (loaded) See(key, actual);
    } else {
      const auto there = Seen(key, map_.Load(key));
      put = there && map_.CompareAndSwap(key, *there, Value(key, number));
      if (put) Taken(key, there);
    }
    if (!put) fates_[number] = kOut;
  }

  void See(int key, const Value& value) {
    if (value.key != key) Fail("key %d has a value of %d", key, value.key);
    if (fates_[value.number] == kOut) Fail("a value that was never put");
  }
  std::optional<Value> Seen(int key, std::optional<Value> value) {
    if (value) See(key, *value);
    return value;
  }
  void Taken(int key, const Value& value) {
    See(key, value);
    if (fates_[value.number].exchange(kTaken) != kIn) {
      Fail("a value was taken twice");
    }
  }
  void Taken(int key, const std::optional<Value>& value) {
    if (value) Taken(key, *value);
  }

  StressRound& round_;
  Map<int, Value> map_;
  std::vector<std::atomic<int>> fates_ =
      std::vector<std::atomic<int>>(kWorkers * kCalls);
};

// Keys with one writer each, who numbers what he does: readers see it in order,
// and at once. Every fourth step deletes the key.
class InOrder {
 public:
  explicit InOrder(StressRound& round) : round_(round) {}

  void Play() {
    Random random = round_.NewRandom();
    Crowd writers;
    Crowd readers;
    for (int i = 0; i < kWriters; ++i) {
      writers.Start(OneIn(3, random), [this, i] { Write(i); });
    }
    for (int i = 0; i < 3; ++i) {
      readers.Start(OneIn(3, random), [this] { Read(); });
    }
    writers.Join();
    done_ = true;
    readers.Join();
  }

 private:
  static constexpr int kWriters = 3;
  static constexpr int kKeys = kWriters * 30;
  struct Steps {
    std::atomic<int> begun{0};
    std::atomic<int> ended{0};
  };
  static bool Deletes(int step) { return step % 4 == 0; }  // 0: as at first.

  void Write(int writer) {
    Random random = round_.NewRandom();
    for (int i = Scaled(2000) + 10; i > 0; --i) {
      // One of them much more often than the others.
      const int index = OneIn(2, random) ? 0 : random.Below(kKeys / kWriters);
      const int key = writer + kWriters * index;
      const int step = ++steps_[key].begun;
      if (!Deletes(step)) {
        map_.Store(key, Value(key, step));
      } else if (OneIn(2, random)) {
        map_.Delete(key);
      } else if (const auto old = map_.LoadAndDelete(key);
                 !old || old->number != step - 1) {
        Fail("LoadAndDelete: not what was there");
      }
      steps_[key].ended = step;
      MaybeYield(random);
    }
    Progress();
  }

  void Read() {
    Random random = round_.NewRandom();
    while (!done_) {
      if (OneIn(200, random)) {
        ReadAll();
      } else {
        const int key = random.Below(OneIn(2, random) ? kWriters : kKeys);
        const int first = steps_[key].ended;
        const std::optional<Value> value = map_.Load(key);
        Check(key, first, value ? value->number : 0);
      }
      MaybeYield(random);
    }
  }

  void ReadAll() {
    std::array<int, kKeys> first;
    std::array<int, kKeys> seen{};
    for (int key = 0; key < kKeys; ++key) first[key] = steps_[key].ended;
    map_.Range([&](int key, const Value& value) {
      if (seen[key] != 0) Fail("Range: key %d comes twice", key);
      seen[key] = value.number;
    });
    for (int key = 0; key < kKeys; ++key) Check(key, first[key], seen[key]);
  }

  // A value of step `seen`, or none if that is zero, must be what one of the
  // steps from `first` on has made.
  void Check(int key, int first, int seen) {
    const int last = steps_[key].begun;
    bool possible = seen >= first && seen <= last;
    for (int step = first; seen == 0 && step <= last; ++step) {
      possible = possible || Deletes(step);
    }
    if (!possible) {
      Fail("key %d: saw %d, not of %d..%d", key, seen, first, last);
    }
  }

  StressRound& round_;
  Map<int, Value> map_;
  std::array<Steps, kKeys> steps_;
  std::atomic<bool> done_{false};
};

// A map that is cleared all the time. Times are those of a clock that each
// Clear turns by one before it begins.
class Clearing {
 public:
  explicit Clearing(StressRound& round) : round_(round) {}

  void Play() {
    Random random = round_.NewRandom();
    Crowd crowd;
    for (int i = 0; i < kWorkers; ++i) {
      crowd.Start(OneIn(3, random), [this, i] { Work(i * kCalls); });
    }
    crowd.Join();
    map_.Clear();
    map_.Range([](const std::string&, const Value&) { Fail("not cleared"); });
  }

 private:
  static constexpr int kWorkers = 4;
  static constexpr int kCalls = Scaled(1000) + 10;

  void Work(int number) {
    Random random = round_.NewRandom();
    for (const int end = number + kCalls; number < end; ++number) {
      const int key = SomeKey(random);
      if (OneIn(100, random)) {
        const int now = ++clock_;
        map_.Clear();
        RaiseCleared(now);
      } else if (OneIn(100, random)) {
        const int cleared = cleared_;
        map_.Range([&](const std::string&, const Value& value) {
          Check(value, cleared);
        });
      } else {
        UseKey(key, number, random);
      }
      MaybeYield(random);
    }
    Progress();
  }

  void UseKey(int key, int number, Random& random) {
    const std::string name = "a key that is not short: " + std::to_string(key);
    const int cleared = cleared_;
    switch (random.Below(4)) {
      case 0:
        if (const auto value = map_.Load(name)) Check(*value, cleared);
        break;
      case 1:
        map_.Store(name, Value(key, number));
        put_at_[number] = +clock_;
        break;
      case 2: {
        const auto result = map_.LoadOrStore(name, Value(key, number));
        if (!result.loaded) put_at_[number] = +clock_;
        if (result.loaded) Check(result.actual, cleared);
        break;
      }
      case 3:
        map_.Delete(name);
        break;
    }
  }

  void RaiseCleared(int to) {
    int seen = cleared_;
    while (seen < to && !cleared_.compare_exchange_weak(seen, to)) {
    }
  }

  // The Clear of time `cleared` had returned before the value was seen.
  void Check(const Value& value, int cleared) {
    const int put = put_at_[value.number];
    if (put != 0 && put < cleared) Fail("seen after a Clear");
  }

  StressRound& round_;
  Map<std::string, Value> map_;
  std::atomic<int> clock_{1};
  std::atomic<int> cleared_{0};
  // When it was there for certain; 0: not yet.
  std::vector<std::atomic<int>> put_at_ =
      std::vector<std::atomic<int>>(kWorkers * kCalls);
};

template <class Part>
void Play(StressRound& round) {
  std::make_unique<Part>(round)->Play();
}

void PlayRound(StressRound& round) {
  Crowd crowd;
  for (int i = 0; i < 2; ++i) {
    crowd.Start(i == 1, [&round] { Play<Ledger>(round); });
    crowd.Start(i == 1, [&round] { Play<InOrder>(round); });
    crowd.Start(i == 1, [&round] { Play<Clearing>(round); });
  }
  crowd.Join();
  if (Value::live != 0) Fail("%d values are left", +Value::live);
  Await([] { return NumGoroutine() == 0; });
}

}  // namespace
}  // namespace gorge::testing

int main(int argc, char** argv) {
  return gorge::testing::RunStress(argc, argv, gorge::testing::PlayRound);
}
