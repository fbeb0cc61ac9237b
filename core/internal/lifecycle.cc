#include "gorge/core/internal/lifecycle.h"

#include <pthread.h>
#include <time.h>

#include <chrono>
#include <vector>

#include "gorge/core/internal/check.h"
#include "gorge/core/internal/fault.h"
#include "gorge/core/internal/fence.h"
#include "gorge/core/internal/futex.h"
#include "gorge/core/internal/idle.h"
#include "gorge/core/internal/main_goroutine.h"
#include "gorge/core/internal/procs.h"
#include "gorge/core/internal/stack.h"
#include "gorge/core/internal/timers.h"

namespace gorge::internal {
namespace {

constexpr std::chrono::seconds kStopPatience{1};

StartConfig start_config;  // Changed under sched.lifecycle and sched.lock.

// Of the threads of a process only the one that forks is in the child. A lock
// that another held would never be released there, and what it guards might be
// half changed. So a fork waits for the scheduler's lock and for the pool's;
// the phases of a start and of a stop change under the former.
//
// A fork does not wait for sched.lifecycle: a stop holds it while it waits for
// goroutines to come to their next call, and this fork may be in one of them.
// Nor need it. A child that was forked between stop and start frees the lock
// and may start a runtime of its own; in any other the runtime is of no more
// use, and whatever would wait in there is fatal (futex.h).
void BeforeFork() GORGE_NO_THREAD_SAFETY_ANALYSIS {
  sched.lock.Acquire();
  LockStacks();
}

void AfterForkInParent() GORGE_NO_THREAD_SAFETY_ANALYSIS {
  UnlockStacks();
  sched.lock.Release();
}

void AfterForkInChild() {
  AfterForkInParent();
  if (sched.phase.load(std::memory_order_relaxed) == Phase::kStopped) {
    sched.lifecycle.ForgetHolder();
    ForgetTimerQueues();
    return;
  }
  in_fork_child.store(true, std::memory_order_relaxed);
  sched.phase.store(Phase::kForked, std::memory_order_relaxed);
  sched.epoch.fetch_add(1, std::memory_order_relaxed);
}

// Before main, so that the first start is covered as well.
[[maybe_unused]] const int fork_handlers =
    ::pthread_atfork(&BeforeFork, &AfterForkInParent, &AfterForkInChild);

Processor* MakeProcessors(std::uint32_t count, std::uint32_t epoch,
                          std::uint8_t stack_class) {
  auto* processors = new Processor[count];
  TimerQueue* timers = TimerQueuesFor(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    processors[i].index = i;
    processors[i].epoch = epoch;
    processors[i].stack_class = stack_class;
    processors[i].timers = timers;
    timers = timers->next.load(std::memory_order_relaxed);
    processors[i].random = Random(i + 1);
    processors[i].next_idle = i + 1 < count ? &processors[i + 1] : nullptr;
  }
  return processors;
}

void StartLocked() {
  const int procs =
      start_config.max_procs > 0 ? start_config.max_procs : DefaultMaxProcs();
  const auto count = static_cast<std::uint32_t>(procs);
  LockGuard hold(sched.lock);
  InstallFaultHandler();
  EnableLightFences();
  sched.default_stack_class = StackClassFor(start_config.stack_size);
  sched.processors =
      MakeProcessors(count, sched.epoch.load(std::memory_order_relaxed),
                     sched.default_stack_class);
  sched.processor_count = count;
  sched.idle_processors = sched.processors;
  sched.idle_count.store(count, std::memory_order_relaxed);
  sched.crew = new Crew{sched.processors, count};
  sched.machine_count = 0;
  // Release: pairs with the acquire in EnsureStarted.
  sched.phase.store(Phase::kRunning, std::memory_order_release);
}

// What a stop takes apart.
struct Remains {
  Crew* crew;
  Machine* machines;
  Machine* idle_machines;
  Processor* processors;
  std::uint32_t processor_count;
  Remains* next_left_behind = nullptr;
};

// What stops gave up on: machines may still be in there. Kept in sight, so that
// leak checkers know it.
Remains* left_behind;  // Guarded by sched.lifecycle.

// Ends the epoch: from here on every machine that looks will leave.
Remains EndEpoch() {
  LockGuard hold(sched.lock);
  sched.phase.store(Phase::kStopping, std::memory_order_relaxed);
  sched.epoch.fetch_add(1, std::memory_order_seq_cst);
  const Remains remains{sched.crew, sched.all_machines, sched.idle_machines,
                        sched.processors, sched.processor_count};
  sched.crew = nullptr;
  sched.all_machines = nullptr;
  sched.idle_machines = nullptr;
  sched.idle_processors = nullptr;
  sched.idle_count.store(0, std::memory_order_relaxed);
  sched.timekeeper = nullptr;
  sched.timekeeper_until.store(kNever, std::memory_order_relaxed);
  sched.started_outside = 0;
  while (sched.queue.Pop() != nullptr) {
  }
  return remains;
}

void EndIdleMachines(Machine* machine) {
  while (machine != nullptr) {
    Machine* next = machine->next_idle;  // Read first: it may be gone after.
    machine->next_processor = nullptr;
    machine->next_spinning = false;
    Unpark(*machine);
    machine = next;
  }
}

// Waits for the machines' threads to end; false if some do not in time.
bool AwaitEnd(const Crew& crew) {
  const auto deadline = std::chrono::steady_clock::now() + kStopPatience;
  while (true) {
    // Acquire: pairs with the release at the end of ThreadMain.
    const std::uint32_t live = crew.live.load(std::memory_order_acquire);
    if (live == 0) return true;
    if (std::chrono::steady_clock::now() > deadline) return false;
    constexpr timespec kLookAgain{.tv_sec = 0, .tv_nsec = 10'000'000};
    FutexWait(crew.live, live, &kLookAgain);
  }
}

void FreeRemains(const Remains& remains) {
  for (Machine* machine = remains.machines; machine != nullptr;) {
    Machine* next = machine->next_all;
    ::pthread_join(machine->thread, nullptr);
    delete machine;
    machine = next;
  }
  for (std::uint32_t i = 0; i < remains.processor_count; ++i) {
    GiveStacks(remains.processors[i].dead);
  }
  delete[] remains.processors;
  delete remains.crew;
}

void LeaveBehind(const Remains& remains) GORGE_REQUIRES(sched.lifecycle) {
  for (Machine* m = remains.machines; m != nullptr; m = m->next_all) {
    ::pthread_detach(m->thread);
  }
  auto* left = new Remains(remains);
  left->next_left_behind = left_behind;
  left_behind = left;
}

}  // namespace

void SetStartConfig(const StartConfig& config) {
  LockGuard hold(sched.lifecycle);
  if (sched.phase.load(std::memory_order_relaxed) != Phase::kStopped) {
    RaisePanic("Configure is called while the runtime runs");
  }
  if (config.max_procs < 0 || config.max_procs > kMaxProcsLimit) {
    RaisePanic("Configure: max_procs is out of range");
  }
  static_cast<void>(StackClassFor(config.stack_size));  // Panics if too large.
  LockGuard hold_also(sched.lock);
  start_config = config;
}

void StartSlow() {
  if (sched.phase.load(std::memory_order_relaxed) == Phase::kForked) {
    Fatal(kForkedText);
  }
  LockGuard hold(sched.lifecycle);
  if (sched.phase.load(std::memory_order_relaxed) != Phase::kStopped) return;
  StartLocked();
}

void StopRuntime() {
  if (!Self()->is_thread) RaisePanic("Shutdown is called by a goroutine");
  Remains remains;
  bool ended;
  std::vector<TimerNode*> timers;
  {
    LockGuard hold(sched.lifecycle);
    if (sched.phase.load(std::memory_order_relaxed) != Phase::kRunning) return;
    remains = EndEpoch();
    ReleaseMain();
    EndNap();
    EndIdleMachines(remains.idle_machines);
    ended = AwaitEnd(*remains.crew);
    if (!ended) LeaveBehind(remains);
    timers = TakeAllTimers();
    LockGuard hold_also(sched.lock);
    sched.phase.store(Phase::kStopped, std::memory_order_release);
  }
  // Without the lock: a thread that ends runs the destructors of thread-local
  // objects, an abandoned timer those of its function; both may start the
  // runtime again.
  if (ended) FreeRemains(remains);
  for (TimerNode* timer : timers) timer->actions.abandon(*timer);
}

int CountProcessors() {
  LockGuard hold(sched.lock);
  return static_cast<int>(sched.processor_count);
}

std::int64_t CountGoroutines() {
  LockGuard hold(sched.lock);
  if (sched.phase.load(std::memory_order_relaxed) != Phase::kRunning) return 0;
  std::int64_t count = sched.started_outside;
  for (std::uint32_t i = 0; i < sched.processor_count; ++i) {
    // Finished first: a goroutine that does both in between counts as running.
    count -= sched.processors[i].finished.load(std::memory_order_relaxed);
  }
  for (std::uint32_t i = 0; i < sched.processor_count; ++i) {
    count += sched.processors[i].started.load(std::memory_order_relaxed);
  }
  return count;
}

}  // namespace gorge::internal
