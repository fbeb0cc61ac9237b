// tests/stress/spawn_stress.cc -- starting goroutines in every way.
//
// Trees, bursts of sizes around those at which a P's ring overflows, stacks of
// many sizes, tasks that yield, throw and catch, or call Goexit, from
// goroutines and plain threads, while FreeOSMemory is called. Checked:
//   - every task runs exactly once, and its frames are unwound;
//   - no goroutine runs on two threads at the same time;
//   - NumGoroutine is zero afterwards.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <vector>

#include "gorge/core/go.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/stress.h"

namespace gorge::testing {
namespace {

// Detects that one goroutine runs twice at once: it lies in the goroutine's
// frame, and says whether somebody is in there.
class Presence {
 public:
  Presence() { Enter(); }
  ~Presence() { Leave(); }
  Presence(const Presence&) = delete;
  Presence& operator=(const Presence&) = delete;

  void Yield() {
    Leave();
    Gosched();
    Enter();
  }

 private:
  void Enter() {
    if (present_.exchange(true)) Fail("a goroutine runs on two threads");
  }
  void Leave() {
    if (!present_.exchange(false)) Fail("a goroutine left twice");
  }

  std::atomic<bool> present_{false};
};

class Scene {
 public:
  explicit Scene(StressRound& round)
      : round_(round), ran_(static_cast<std::size_t>(kMost)) {}

  void Play() {
    Random random = round_.NewRandom();
    Crowd starters;
    for (std::uint32_t i = 1 + random.Below(4); i > 0; --i) {
      starters.Start(OneIn(3, random), [this] { StartSome(); });
    }
    if (OneIn(4, random)) {
      starters.Start(OneIn(2, random), [] { FreeOSMemory(); });
    }
    starters.Join();
    tasks_.Wait();
    const int started = next_;
    for (int i = 0; i < started; ++i) {
      const int times = ran_[static_cast<std::size_t>(i)];
      if (times != 1) Fail("task %d ran %d times", i, times);
    }
    if (unwound_ != started) {
      Fail("%d of %d tasks were unwound", +unwound_, started);
    }
  }

 private:
  static constexpr int kMost = 40'000;  // Tasks of a scene.

  // Counts the end of a task, however it comes about. Its last step.
  class Ending {
   public:
    explicit Ending(Scene& scene) : scene_(scene) {}
    ~Ending() {
      ++scene_.unwound_;
      scene_.tasks_.Done();
    }
    Ending(const Ending&) = delete;
    Ending& operator=(const Ending&) = delete;

   private:
    Scene& scene_;
  };

  void StartSome() {
    static constexpr int kBursts[] = {1,   2,   3,   63,  64,   65,  127,
                                      128, 129, 255, 256, 257,  258, 511,
                                      512, 513, 768, 769, 1024, 2000};
    Random random = round_.NewRandom();
    for (std::uint32_t i = random.Below(4); i > 0; --i) {
      StartTask(static_cast<int>(random.Below(6)), random);  // A tree.
    }
    for (int i = Scaled(OneOf(kBursts, random)); i > 0; --i) {
      StartTask(0, random);
    }
  }

  // `depth`: how deep a tree of tasks the task is the root of.
  void StartTask(int depth, Random& random) {
    // The counter of tasks may pass kMost, hence the two steps.
    if (next_.load() >= kMost - 1000) return;
    const int number = next_++;
    tasks_.Add(1);
    if (!OneIn(4, random)) {
      go([this, number, depth] { Run(number, depth, 0); });
      return;
    }
    static constexpr std::size_t kSizes[] = {
        1, 16 << 10, 16'385, 100'000, 240 << 10, 1 << 20, std::size_t{8} << 20};
    const std::size_t size = OneOf(kSizes, random);
    go(GoOptions{.name = OneIn(2, random) ? "task" : "", .stack_size = size},
       [this, number, depth, size] { Run(number, depth, size); });
  }

  // The body of a task; `stack` if it asked for a stack of a certain size.
  void Run(int number, int depth, std::size_t stack) {
    const Ending ending(*this);
    Random random = round_.NewRandom();
    Presence presence;
    ++ran_[static_cast<std::size_t>(number)];
    if (stack > 0) UseStack(stack, presence);
    for (int i = 0; i < depth; ++i) {
      StartTask(
          static_cast<int>(random.Below(static_cast<std::uint32_t>(depth))),
          random);
    }
    for (std::uint32_t i = random.Below(4); i > 0; --i) presence.Yield();
    if (OneIn(8, random)) ThrowAndCatch(number, presence);
    if (number % 64 == 0) Progress();
    if (OneIn(1000, random)) FreeOSMemory();
    if (OneIn(8, random)) Goexit();
  }

  // Writes to some of what a stack of that size surely has to offer.
  static void UseStack(std::size_t size, Presence& presence) {
    constexpr std::size_t kOwn = 12'000;  // What others need of it.
    if (size <= kOwn) return;
    const std::size_t use = std::min<std::size_t>((size - kOwn) / 2, 64 << 10);
    auto* memory = static_cast<unsigned char*>(__builtin_alloca(use));
    for (std::size_t i = 0; i < use; i += 1024) {
      memory[i] = static_cast<unsigned char>(i >> 10);
    }
    presence.Yield();
    for (std::size_t i = 0; i < use; i += 1024) {
      if (memory[i] != static_cast<unsigned char>(i >> 10)) {
        Fail("a goroutine's stack changed while it was suspended");
      }
    }
  }

  // Yields with an exception in flight, at each of its stations.
  static void ThrowAndCatch(int number, Presence& presence) {
    try {
      try {
        throw number;
      } catch (int) {
        presence.Yield();
        throw;
      }
    } catch (const int& caught) {
      presence.Yield();
      try {
        throw std::runtime_error("inner");
      } catch (const std::runtime_error& inner) {
        presence.Yield();
        if (std::strcmp(inner.what(), "inner") != 0) {
          Fail("the wrong exception was caught");
        }
      }
      if (caught != number)
        Fail("an exception of another goroutine was caught");
    }
    if (std::uncaught_exceptions() != 0) Fail("an exception is left in flight");
  }

  StressRound& round_;
  std::atomic<int> next_{0};  // Tasks numbered so far.
  std::vector<std::atomic<int>> ran_;
  std::atomic<int> unwound_{0};
  WaitGroup tasks_;
};

void PlayRound(StressRound& round) {
  for (int n = Scaled(5); n > 0 && !round.TimeIsUp(); --n) {
    Scene(round).Play();
    Await([] { return NumGoroutine() == 0; });
    Progress();
  }
}

}  // namespace
}  // namespace gorge::testing

int main(int argc, char** argv) {
  return gorge::testing::RunStress(argc, argv, &gorge::testing::PlayRound);
}
