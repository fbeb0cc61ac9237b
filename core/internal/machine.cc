#include "gorge/core/internal/machine.h"

#include <cxxabi.h>

#include <cerrno>
#include <cstdio>
#include <new>

#include "gorge/core/internal/check.h"
#include "gorge/core/internal/clock.h"
#include "gorge/core/internal/fault.h"
#include "gorge/core/internal/futex.h"
#include "gorge/core/internal/sanitizer.h"
#include "gorge/core/internal/scheduler.h"

namespace gorge::internal {
namespace {

static_assert(sizeof(ExceptionState) == 2 * sizeof(void*));

// Makes the calling thread `machine`.
void Adopt(Machine& machine) {
  machine.exceptions =
      reinterpret_cast<ExceptionState*>(__cxxabiv1::__cxa_get_globals());
  machine.errno_slot = &errno;
  machine.self_slot = SelfSlot();
  machine.g0.machine = &machine;
  machine.g0.state.store(State::kRunning, std::memory_order_relaxed);
  machine.random = Random(machine.index * 0x9e3779b97f4a7c15u);
  AdoptThread(machine.g0);
  *machine.self_slot = &machine.g0;
  char name[16];
  std::snprintf(name, sizeof name, "gorge-m%u", machine.index % 100000);
  ::pthread_setname_np(::pthread_self(), name);
}

void TakeHandedProcessor(Machine& machine) {
  machine.processor = machine.next_processor;
  machine.spinning = machine.next_spinning;
}

void* ThreadMain(void* argument) {
  Machine& machine = *static_cast<Machine*>(argument);
  Adopt(machine);
  AlternateStack alternate_stack;
  TakeHandedProcessor(machine);
  RunMachine(machine);
  if (in_fork_child.load(std::memory_order_relaxed)) Fatal(kForkedText);
  // From here on this is a plain thread, for the destructors of its
  // thread-local objects.
  *machine.self_slot = nullptr;
  // Release: all that this machine did comes before the end of the stop, which
  // waits for this word and then joins the thread.
  std::atomic<std::uint32_t>& live = machine.crew->live;
  live.fetch_sub(1, std::memory_order_release);
  FutexWake(live, 1);
  return nullptr;
}

}  // namespace

void StartThread(Machine& machine) {
  if (::pthread_create(&machine.thread, nullptr, &ThreadMain, &machine) != 0) {
    Fatal("the system has no thread left for the scheduler");
  }
}

void Unpark(Machine& machine) {
  // Release: publishes next_processor to SleepUntilUnparked.
  machine.park.store(1, std::memory_order_release);
  FutexWake(machine.park, 1);
}

bool SleepUntil(const Machine& machine, std::int64_t when) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  // Relaxed: SleepUntilUnparked looks again.
  while (machine.park.load(std::memory_order_relaxed) == 0) {
    const std::int64_t left = when - MonotonicNanos();
    if (left <= 0) return false;
    const timespec timeout{.tv_sec = left / kSecond, .tv_nsec = left % kSecond};
    FutexWait(machine.park, 0, &timeout);
  }
  return true;
}

bool SleepUntilUnparked(Machine& machine) {
  while (machine.park.load(std::memory_order_acquire) == 0) {
    FutexWait(machine.park, 0);
  }
  machine.park.store(0, std::memory_order_relaxed);
  TakeHandedProcessor(machine);
  return machine.processor != nullptr;
}

}  // namespace gorge::internal
