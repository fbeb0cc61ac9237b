// tests/stress/shutdown_stress.cc -- stopping and starting the runtime over and
// over, with work of every kind in flight.
//
// A round is many cycles: start goroutines that park, yield, pass messages,
// start others or compute; stop, by Shutdown or at the end of Run; start again
// and see that work is done. Bystanders, plain threads, go on calling go() and
// using channels meanwhile, also channels on which goroutines of earlier cycles
// are parked for ever. Checked:
//   - a stop takes less than a second;
//   - what is started after it runs;
//   - channels between plain threads do not notice.
//
// Each cycle leaves some stacks behind, which is what abandoned goroutines
// cost. Where they become too many the program replaces itself by a new one.

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/core/internal/stack.h"
#include "gorge/core/panic.h"
#include "gorge/core/runtime.h"
#include "gorge/select/select.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/stress.h"

namespace gorge::testing {
namespace {

using Clock = std::chrono::steady_clock;
using Signal = std::monostate;

bool TooManyStacks() {
  return internal::CarvedStacks() > (kSlowdown > 1 ? 2'000 : 20'000);
}

void SpinFor(std::chrono::microseconds time) {
  const auto end = Clock::now() + time;
  while (Clock::now() < end) {
  }
}

// Plain threads that outlast the stops, in the background of all cycles of a
// round. None of them waits for a goroutine: it might be abandoned.
class Bystanders {
 public:
  Bystanders(StressRound& round, bool rival) : round_(round) {
    for (auto& channel : shared_) channel = MakeChan<int>();
    Start([this](Random& random) { Spawn(random); });
    Start([this](Random& random) { Probe(random); });
    Start([](Random& random) { CallOthers(random); });
    if (rival) Start([](Random& random) { Stop(random); });
    threads_.emplace_back([this] { Ping(); });
    threads_.emplace_back([this] { Pong(); });
  }

  void Join() {
    done_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

  // Goroutines may park here, and will never hear of it if a stop comes.
  const Chan<int>& Shared(Random& random) const {
    return shared_[random.Below(kShared)];
  }

 private:
  static constexpr int kShared = 4;

  template <class F>
  void Start(F step) {
    threads_.emplace_back([this, step] {
      Random random = round_.NewRandom();
      while (!done_) {
        step(random);
        if (OneIn(4, random)) {
          std::this_thread::sleep_for(
              std::chrono::microseconds(random.Below(200)));
        }
      }
    });
  }

  void Spawn(Random& random) {
    // Not so many that the memory of those that a stop abandons matters.
    if (NumGoroutine() > 200) return;
    for (std::uint32_t i = random.Below(8); i > 0; --i) {
      go([this] { ++ran_; });
    }
  }

  void Probe(Random& random) {
    const Chan<int>& channel = Shared(random);
    if (OneIn(2, random)) {
      static_cast<void>(channel.TrySend(1));
    } else {
      static_cast<void>(channel.TryRecv());
    }
  }

  static void CallOthers(Random& random) {
    switch (random.Below(3)) {
      case 0:
        if (MaxProcs() < 1) Fail("MaxProcs is %d", MaxProcs());
        break;
      case 1:
        if (NumGoroutine() < 0) Fail("NumGoroutine is below zero");
        break;
      default:
        FreeOSMemory();
    }
  }

  static void Stop(Random& random) {
    if (OneIn(8, random)) Shutdown();
  }

  void Ping() {
    for (int i = 0; !done_; ++i) {
      ping_.Send(i);
      if (pong_.Recv() != i) Fail("a message between threads is lost");
    }
    ping_.Close();
  }

  void Pong() {
    for (const int i : ping_) pong_.Send(i);
  }

  StressRound& round_;
  std::atomic<bool> done_{false};
  std::atomic<std::uint64_t> ran_{0};
  Chan<int> shared_[kShared];
  const Chan<int> ping_ = MakeChan<int>();
  const Chan<int> pong_ = MakeChan<int>();
  std::vector<std::thread> threads_;
};

// The goroutines of one cycle. They are written to be abandoned: what they
// share lives until the stop has returned.
class Work {
 public:
  Work(StressRound& round, const Bystanders& bystanders)
      : round_(round), bystanders_(bystanders), random_(round.NewRandom()) {}

  // In a plain thread or a goroutine.
  void Start() {
    for (std::uint32_t i = random_.Below(8); i > 0; --i) StartOne();
    if (OneIn(8, random_)) {
      for (int i = 0; i < Scaled(300); ++i) go([this] { ++ran_; });
    }
  }

 private:
  void StartOne() {
    switch (random_.Below(8)) {
      case 0:
        return go([this] { never_.Recv(); });
      case 1:
        return go([this, &shared = bystanders_.Shared(random_)] {
          if (shared.Recv() != 1) Fail("a wrong message");
          ++ran_;
        });
      case 2:
        return go([this, &a = bystanders_.Shared(random_),
                   &b = bystanders_.Shared(random_)] {
          Select(OnRecv(never_), OnRecv(a), OnSend(b, 1));
          ++ran_;
        });
      case 3:
        return go([this] {
          while (true) {
            ++ran_;
            Gosched();
          }
        });
      case 4:
        go([this] {
          while (true) there_.Send(1);
        });
        return go([this] {
          while (true) there_.Recv();
        });
      case 5:
        return go([this] {
          while (true) {
            go([this] { ++ran_; });
            Gosched();
          }
        });
      case 6:
        return Chain();
      default:
        return go([random = round_.NewRandom()]() mutable {
          while (true) {
            SpinFor(std::chrono::microseconds(random.Below(100)));
            Gosched();
          }
        });
    }
  }

  // A goroutine that starts the next one and ends, and so on.
  void Chain() {
    go([this] { Chain(); });
  }

  StressRound& round_;
  const Bystanders& bystanders_;
  Random random_;
  std::atomic<std::uint64_t> ran_{0};
  const Chan<int> never_ = MakeChan<int>();
  const Chan<int> there_ = MakeChan<int>();
};

// A bystander may have started the runtime already: then it stays as it is.
void Reconfigure(Random& random) {
  static constexpr int kProcs[] = {1, 2, 3, 4, 16};
  try {
    Configure({.max_procs = OneOf(kProcs, random)});
  } catch (const Panic&) {
  }
}

// Lets some of it happen.
void Dwell(Random& random) {
  if (OneIn(3, random)) return;
  SpinFor(
      std::chrono::microseconds(random.Below(OneIn(8, random) ? 3000 : 300)));
}

void StopByRun(Work& work, Random& random) {
  Run([&work, &random] {
    work.Start();
    for (std::uint32_t i = random.Below(20); i > 0; --i) Gosched();
  });
}

void StopByShutdown(Work& work, Random& random) {
  work.Start();
  Dwell(random);
  const auto begin = Clock::now();
  Shutdown();
  const auto took = Clock::now() - begin;
  if (took >= std::chrono::seconds(1)) {
    Fail("a Shutdown took %.3f s", std::chrono::duration<double>(took).count());
  }
}

// What is started after a stop runs.
void SeeWorkDone(Random& random) {
  const int tasks = 1 + static_cast<int>(random.Below(20));
  const Chan<Signal> done = MakeChan<Signal>(1);
  for (int i = 0; i < tasks; ++i) {
    go([done] { done.Send({}); });
  }
  for (int i = 0; i < tasks; ++i) done.Recv();
}

void PlayRound(StressRound& round) {
  Random random = round.NewRandom();
  // Of two that stop the runtime, neither can promise that work is done, or
  // that a Run comes to its end.
  const bool rival = OneIn(4, random);
  Bystanders bystanders(round, rival);
  for (int n = Scaled(100) + 1; n > 0 && !round.TimeIsUp(); --n) {
    if (TooManyStacks()) break;
    Reconfigure(random);
    Work work(round, bystanders);
    if (!rival && OneIn(3, random)) {
      StopByRun(work, random);
    } else {
      StopByShutdown(work, random);
    }
    if (!rival) SeeWorkDone(random);
    Progress();
  }
  bystanders.Join();
  Shutdown();
}

// Replaces this process by a new one that goes on where it ends.
void BeginAnew(char** argv, const StressRound& round) {
  std::string seconds = "--seconds=" + std::to_string(round.SecondsLeft());
  std::string seed = "--seed=" + std::to_string(round.seed() + 1);
  std::vector<char*> arguments;
  for (; *argv != nullptr; ++argv) {
    const std::string_view argument = *argv;
    if (argument.starts_with("--se")) continue;
    arguments.push_back(*argv);
  }
  arguments.insert(arguments.end(), {seconds.data(), seed.data(), nullptr});
  ::execv("/proc/self/exe", arguments.data());
  Fail("exec failed");
}

}  // namespace
}  // namespace gorge::testing

int main(int argc, char** argv) {
  using gorge::testing::StressRound;
  return gorge::testing::RunStress(argc, argv, [argv](StressRound& round) {
    gorge::testing::PlayRound(round);
    if (gorge::testing::TooManyStacks() && !round.TimeIsUp()) {
      gorge::testing::BeginAnew(argv, round);
    }
  });
}
