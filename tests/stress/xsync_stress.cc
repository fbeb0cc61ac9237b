// tests/stress/xsync_stress.cc -- ErrGroup, Semaphore and SingleFlight, used by
// goroutines and plain threads at once. Checked:
//   - a group runs no more functions than its limit allows, waits for all, and
//     returns the error of one of them, which is the Cause of its context;
//   - no more permits are out than there are, all come back, and one who wants
//     them all gets them while others keep taking few;
//   - at most one call runs for a key, and whoever shares it has overlapped it;
//     after a Forget nobody joins a call of before.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gorge/context/context.h"
#include "gorge/core/internal/sanitizer.h"
#include "gorge/core/runtime.h"
#include "gorge/select/select.h"
#include "gorge/sync/mutex.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/stress.h"
#include "gorge/time/time.h"
#include "gorge/xsync/err_group.h"
#include "gorge/xsync/semaphore.h"
#include "gorge/xsync/single_flight.h"

namespace gorge::testing {
namespace {

void Linger(Random& random) {
  if (OneIn(4, random)) Gosched();
  if (OneIn(32, random)) Sleep(absl::Microseconds(random.Below(50)));
}

// A context that ends at any time, or never.
Cancelable SomeContext(Random& random) {
  Cancelable made =
      OneIn(2, random)
          ? WithCancel(Background())
          : WithTimeout(Background(), absl::Microseconds(random.Below(200)));
  if (OneIn(4, random)) made.cancel();
  return made;
}

// A group with functions that end in many ways.
class Group {
 public:
  explicit Group(Random random) : random_(random) {}

  void Play() {
    const Cancelable parent =
        has_parent_ ? SomeContext(random_) : Cancelable{Background(), {}};
    auto [group, ctx] = ErrGroup::WithContext(parent.ctx);
    group.SetLimit(limit_);
    for (int i = static_cast<int>(random_.Below(20)); i > 0; --i) {
      const Random random(random_.Next());
      const auto f = [this, random, &ctx = ctx] { return Run(random, ctx); };
      ++started_;
      if (OneIn(3, random_)) {
        if (!group.TryGo(f)) --started_;
      } else {
        group.Go(f);
      }
    }
    Check(group.Wait(), ctx);
  }

 private:
  struct Leaving {
    Group& group;
    ~Leaving() {
      --group.running_;
      ++group.ended_;
    }
  };

  absl::Status Run(Random random, const Context& ctx) {
    const int running = ++running_;
    if (limit_ > 0 && running > limit_) Fail("more than %d run", limit_);
    const Leaving leaving{*this};
    Linger(random);
    switch (random.Below(8)) {
      case 0: {
        const int number = ++errors_;
        return absl::InternalError(std::to_string(number));
      }
      case 1:
        Goexit();
      case 2:
        try {
          Linger(random);
          throw std::runtime_error("caught below");
        } catch (const std::runtime_error&) {
          Gosched();
        }
        return absl::OkStatus();
      case 3:
        // Ends if another has an error; so not for ever.
        Select(OnRecv(ctx.Done()), OnRecv(After(absl::Microseconds(50))));
        return absl::OkStatus();
      default:
        return absl::OkStatus();
    }
  }

  void Check(const absl::Status& status, const Context& ctx) {
    if (running_ != 0 || ended_ != started_) {
      Fail("Wait: %d of %d have ended", +ended_, started_);
    }
    if (status.ok() != (errors_ == 0)) Fail("an error is lost, or made up");
    if (ctx.Err().ok()) Fail("the context has not ended");
    if (!has_parent_ && !status.ok() && Cause(ctx) != status) {
      Fail("the Cause is not the error");
    }
  }

  Random random_;
  const bool has_parent_ = OneIn(2, random_);
  const int limit_ =  // -1: none.
      OneIn(4, random_) ? -1 : 1 + static_cast<int>(random_.Below(4));
  int started_ = 0;
  std::atomic<int> running_{0};
  std::atomic<int> ended_{0};
  std::atomic<int> errors_{0};
};

void PlayGroups(StressRound& round) {
  Random random = round.NewRandom();
  for (int i = Scaled(400) + 2; i > 0; --i) {
    Group(Random(random.Next())).Play();
  }
  Progress();
}

class Permits {
 public:
  explicit Permits(StressRound& round) : round_(round) {}

  void Play() {
    Random random = round_.NewRandom();
    Crowd large;
    Crowd small;
    for (std::uint32_t i = 2 + random.Below(6); i > 0; --i) {
      small.Start(OneIn(3, random), [this] { TakeFew(); });
    }
    large.Start(OneIn(3, random), [this] { TakeAll(); });
    large.Join();
    done_ = true;  // The others take permits until all were taken often enough.
    small.Join();
    if (taken_ != 0 || !semaphore_.TryAcquire(kSize)) Fail("permits are lost");
  }

 private:
  static constexpr int kSize = 10;

  void TakeAll() {
    for (int i = Scaled(300) + 2; i > 0; --i) {
      if (!semaphore_.Acquire(Background(), kSize).ok()) Fail("not acquired");
      Hold(kSize);
      Gosched();
      Release(kSize);
    }
    Progress();
  }

  void TakeFew() {
    Random random = round_.NewRandom();
    while (!done_) {
      // Sometimes more than there are: such a one only waits for its context.
      const int count =
          static_cast<int>(random.Below(4)) + (OneIn(16, random) ? kSize : 0);
      if (Take(count, random)) {
        Hold(count);
        Linger(random);
        Release(count);
      } else {
        Gosched();
      }
    }
  }

  bool Take(int count, Random& random) {
    if (OneIn(4, random)) return semaphore_.TryAcquire(count);
    if (count <= kSize && OneIn(2, random)) {
      return semaphore_.Acquire(Background(), count).ok();
    }
    const auto [ctx, cancel] =
        WithTimeout(Background(), absl::Microseconds(random.Below(100)));
    if (OneIn(4, random)) cancel();
    const absl::Status status = semaphore_.Acquire(ctx, count);
    if (!status.ok() && status != ctx.Err()) Fail("another error");
    return status.ok();
  }

  void Hold(int count) {
    const int taken = taken_ += count;
    if (taken > kSize) Fail("%d permits are out", taken);
  }
  void Release(int count) {
    taken_ -= count;
    semaphore_.Release(count);
  }

  StressRound& round_;
  Semaphore semaphore_{kSize};
  std::atomic<int> taken_{0};
  std::atomic<bool> done_{false};
};

// Calls by a clock that all turn.
class Flights {
 public:
  explicit Flights(StressRound& round) : round_(round) {}

  void Play() {
    Random random = round_.NewRandom();
    Crowd crowd;
    for (int i = 0; i < kCallers; ++i) {
      crowd.Start(OneIn(3, random), [this] { Call(); });
    }
    crowd.Join();
    for (const Asked& asked : asked_) {
      Run& run = runs_[asked.run];
      ++run.sharers;
      if (!asked.ran) continue;
      run.begin = asked.begin;
      run.end = asked.end;
    }
    for (const Asked& asked : asked_) Check(asked, runs_[asked.run]);
  }

 private:
  using Flight = SingleFlight<int, int>;
  static constexpr int kCallers = 6;
  static constexpr int kCalls = Scaled(1000) + 10;
  // ThreadSanitizer does not see libstdc++ count who shares an exception.
  static constexpr bool kThrows = !GORGE_TSAN;
  static constexpr int kKeys = 4;  // Of which the even are never forgotten.

  // One run of a function. Its caller's call lasts from `begin` to `end`.
  struct Run {
    int key = 0;
    int began = 0;  // The function.
    int begin = 0;
    int end = 0;
    int sharers = 0;
  };
  struct Asked {
    int key;
    int begin;
    int end;
    int forgotten;  // The last Forget that had returned: when it began.
    int run;
    bool ran;  // It was this caller whose function ran.
    bool shared;
    bool thrown;
  };

  void Call() {
    Random random = round_.NewRandom();
    std::vector<Asked> mine;
    for (int i = 0; i < kCalls; ++i) {
      const int key = static_cast<int>(random.Below(kKeys));
      if (key % 2 == 1 && OneIn(8, random)) {
        Forget(key);
      } else {
        mine.push_back(Ask(key, random));
      }
      if (OneIn(16, random)) Gosched();
    }
    const std::lock_guard hold(mutex_);
    asked_.insert(asked_.end(), mine.begin(), mine.end());
    Progress();
  }

  void Forget(int key) {
    const int now = ++clock_;
    flight_.Forget(key);
    int seen = forgotten_[key];
    while (seen < now && !forgotten_[key].compare_exchange_weak(seen, now)) {
    }
  }

  Asked Ask(int key, Random& random) {
    Asked asked{};
    asked.key = key;
    asked.forgotten = forgotten_[key];
    asked.begin = ++clock_;
    bool ran = false;
    const auto f = [&, random]() -> absl::StatusOr<int> {
      ran = true;
      const int run = RunFor(key, random);
      if (kThrows && key == 0 && run % 4 == 0) throw run;
      return run;
    };
    try {
      const Flight::Result result = key != 0 && OneIn(4, random)
                                        ? *flight_.DoChan(key, f).Recv()
                                        : flight_.Do(key, f);
      asked.run = *result.value;
      asked.shared = result.shared;
    } catch (int run) {
      asked.run = run;
      asked.thrown = true;
    }
    asked.end = ++clock_;
    asked.ran = ran;
    return asked;
  }

  int RunFor(int key, Random random) {
    if (++running_[key] != 1 && key % 2 == 0) Fail("two run for key %d", key);
    const int run = ++last_run_;
    runs_[run].key = key;
    runs_[run].began = ++clock_;
    Linger(random);
    --running_[key];
    return run;
  }

  static void Check(const Asked& asked, const Run& run) {
    if (asked.key != run.key) Fail("the result of another key");
    if (asked.begin > run.end || run.begin > asked.end) {
      Fail("the result of a call that was over, or had not begun");
    }
    if (run.began < asked.forgotten) Fail("joined what was forgotten");
    if (!asked.thrown && asked.shared != (run.sharers > 1)) {
      Fail("%d share, and each is told the contrary", run.sharers);
    }
  }

  StressRound& round_;
  Flight flight_;
  std::atomic<int> clock_{0};
  std::atomic<int> last_run_{0};
  std::array<std::atomic<int>, kKeys> running_{};
  std::array<std::atomic<int>, kKeys> forgotten_{};
  std::vector<Run> runs_ = std::vector<Run>(kCallers * kCalls + 1);
  Mutex mutex_;
  std::vector<Asked> asked_;  // Guarded by mutex_.
};

void PlayRound(StressRound& round) {
  Crowd crowd;
  for (int i = 0; i < 2; ++i) {
    crowd.Start(i == 1, [&round] { PlayGroups(round); });
    crowd.Start(i == 1, [&round] { Permits(round).Play(); });
    crowd.Start(i == 1, [&round] { Flights(round).Play(); });
  }
  crowd.Join();
  Await([] { return NumGoroutine() == 0; });
}

}  // namespace
}  // namespace gorge::testing

int main(int argc, char** argv) {
  return gorge::testing::RunStress(argc, argv, gorge::testing::PlayRound);
}
