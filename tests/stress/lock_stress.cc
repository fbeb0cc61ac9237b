// tests/stress/lock_stress.cc -- Mutex, RWMutex, Cond and Once, taken by
// goroutines and plain threads at once. Checked:
//   - one writer, or any number of readers, is inside at a time;
//   - every change made inside is there at the end;
//   - each signal wakes a waiter, a broadcast all of them, in time;
//   - a mutex may go as soon as its last holder has unlocked it.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>

#include "gorge/core/runtime.h"
#include "gorge/sync/cond.h"
#include "gorge/sync/mutex.h"
#include "gorge/sync/once.h"
#include "gorge/sync/rw_mutex.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/stress.h"
#include "gorge/time/time.h"

namespace gorge::testing {
namespace {

// What holders do: nothing, yield, compute, or sleep.
void Linger(Random& random) {
  const std::uint32_t choice = random.Below(64);
  if (choice < 8) Gosched();
  if (choice == 8) Sleep(absl::Microseconds(random.Below(100)));
  if (choice > 40) {
    for (std::uint32_t i = random.Below(200); i > 0; --i) {
      asm volatile("" ::: "memory");
    }
  }
}

// Locks, or tries to. False if that has failed.
template <class Hold>
bool Take(Hold& hold, Random& random) {
  if (OneIn(4, random)) return hold.try_lock();
  hold.lock();
  return true;
}

class Exclusion {
 public:
  explicit Exclusion(StressRound& round) : round_(round) {}

  void Play() {
    Random random = round_.NewRandom();
    Crowd crowd;
    for (std::uint32_t i = 2 + random.Below(12); i > 0; --i) {
      crowd.Start(OneIn(4, random), [this] { Lock(); });
      crowd.Start(OneIn(4, random), [this] { ReadOrWrite(); });
    }
    crowd.Join();
    if (count_ != counted_) Fail("%d of %d changes", count_, +counted_);
    if (writes_ != written_) Fail("%d of %d writes", writes_, +written_);
  }

 private:
  void Lock() {
    Random random = round_.NewRandom();
    for (int i = Scaled(500); i > 0; --i) {
      std::unique_lock hold(mutex_, std::defer_lock);
      if (!Take(hold, random)) continue;
      if (inside_.exchange(true)) Fail("two hold the mutex");
      ++count_;
      Linger(random);
      inside_ = false;
      hold.unlock();
      ++counted_;
      Linger(random);
    }
    Progress();
  }

  void ReadOrWrite() {
    Random random = round_.NewRandom();
    for (int i = Scaled(500); i > 0; --i) {
      if (OneIn(4, random)) {
        std::unique_lock hold(rw_mutex_, std::defer_lock);
        if (!Take(hold, random)) continue;
        if (writers_.fetch_add(1) != 0) Fail("two writers");
        if (readers_ != 0) Fail("a writer and a reader");
        ++writes_;
        Linger(random);
        --writers_;
        ++written_;
      } else {
        std::shared_lock hold(rw_mutex_, std::defer_lock);
        if (!Take(hold, random)) continue;
        ++readers_;
        if (writers_ != 0) Fail("a reader and a writer");
        Linger(random);
        --readers_;
      }
    }
    Progress();
  }

  StressRound& round_;
  Mutex mutex_;
  std::atomic<bool> inside_{false};
  int count_ = 0;
  std::atomic<int> counted_{0};
  RWMutex rw_mutex_;
  std::atomic<int> readers_{0};
  std::atomic<int> writers_{0};
  int writes_ = 0;
  std::atomic<int> written_{0};
};

// A queue of tokens with waiters, woken one by one; and a gate, which wakes
// all.
class Waiting {
 public:
  explicit Waiting(StressRound& round) : round_(round) {}

  void Play() {
    Random random = round_.NewRandom();
    Crowd crowd;
    const int pairs = 1 + static_cast<int>(random.Below(6));
    for (int i = 0; i < pairs; ++i) {
      crowd.Start(OneIn(4, random), [this] { Produce(kTokens); });
      crowd.Start(OneIn(4, random), [this] { Consume(kTokens); });
      crowd.Start(OneIn(4, random), [this] { Pass(); });
    }
    {
      const std::lock_guard hold(mutex_);
      open_ = true;
    }
    gate_.Broadcast();
    crowd.Join();
    if (tokens_ != 0) Fail("%d tokens are left", tokens_);
  }

 private:
  static constexpr int kTokens = Scaled(500);  // For each pair.

  void Produce(int count) {
    Random random = round_.NewRandom();
    while (count-- > 0) {
      {
        const std::lock_guard hold(mutex_);
        ++tokens_;
        if (OneIn(2, random)) {
          one_more_.Signal();
          continue;
        }
      }
      one_more_.Signal();
      Linger(random);
    }
    Progress();
  }

  void Consume(int count) {
    while (count-- > 0) {
      std::unique_lock hold(mutex_);
      one_more_.Wait(hold, [this] { return tokens_ > 0; });
      --tokens_;
    }
    Progress();
  }

  void Pass() {
    once_.Do([this] {
      Gosched();
      done_once_ = true;
    });
    if (!done_once_) Fail("Once returned before it was done");
    std::unique_lock hold(mutex_);
    gate_.Wait(hold, [this] { return open_; });
  }

  StressRound& round_;
  Mutex mutex_;
  Cond one_more_;
  Cond gate_;
  Once once_;
  bool done_once_ = false;
  bool open_ = false;
  int tokens_ = 0;
};

// An object whose last user, whoever it is, destroys it with its mutex.
void DestroyEarly(StressRound& round) {
  struct Object {
    Mutex mutex;
    int users;
  };
  Random random = round.NewRandom();
  for (int i = Scaled(100); i > 0; --i) {
    auto* object = new Object;
    object->users = 3;
    Crowd crowd;
    for (int k = 0; k < 3; ++k) {
      crowd.Start(OneIn(3, random), [object] {
        object->mutex.lock();
        const bool last = --object->users == 0;
        object->mutex.unlock();
        if (last) delete object;
      });
    }
    crowd.Join();
  }
  Progress();
}

void PlayRound(StressRound& round) {
  for (int n = 3; n > 0 && !round.TimeIsUp(); --n) {
    Crowd crowd;
    for (int i = 0; i < 2; ++i) {
      crowd.Start(false, [&round] { Exclusion(round).Play(); });
      crowd.Start(false, [&round] { Waiting(round).Play(); });
      crowd.Start(false, [&round] { DestroyEarly(round); });
    }
    crowd.Join();
    Await([] { return NumGoroutine() == 0; });
  }
}

}  // namespace
}  // namespace gorge::testing

int main(int argc, char** argv) {
  return gorge::testing::RunStress(argc, argv, gorge::testing::PlayRound);
}
