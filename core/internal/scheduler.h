// core/internal/scheduler.h -- the state all machines share, and the steps of
// choosing what to run.
//
// The life of the runtime:
//
//   kStopped --EnsureStarted--> kRunning --Stop--> kStopping --> kStopped
//                                  |
//                                fork: in the child, kForked, for good
//
// Each stop begins a new epoch. A goroutine belongs to the epoch it was started
// in; one that a stop found parked or queued is abandoned: it never runs again,
// and whoever readies it readies nobody. A machine that was still in user code
// when the stop gave up on it finds its epoch over when it next comes into the
// scheduler, and ends.
//
// Lock ranks: `lifecycle` is held across start and stop; `lock` guards what is
// marked, for a few instructions at a time.

#ifndef GORGE_CORE_INTERNAL_SCHEDULER_H_
#define GORGE_CORE_INTERNAL_SCHEDULER_H_

#include <atomic>
#include <cstdint>

#include "gorge/core/internal/global_queue.h"
#include "gorge/core/internal/goroutine.h"
#include "gorge/core/internal/lock.h"
#include "gorge/core/internal/machine.h"
#include "gorge/core/internal/processor.h"

namespace gorge::internal {

enum class Phase : std::uint8_t { kStopped, kRunning, kStopping, kForked };

struct Scheduler {
  Lock lifecycle{LockRank::kLifecycle};
  Lock lock{LockRank::kSched};

  // Written under both locks. Read by anyone: acquire, so that a thread that
  // sees kRunning sees the Ps.
  std::atomic<Phase> phase{Phase::kStopped};
  std::atomic<std::uint32_t> epoch{1};

  // Changed under both locks, read under `lock`. Machines read what is fixed
  // for their epoch in their Crew and their P.
  std::uint32_t processor_count = 0;
  Processor* processors = nullptr;
  std::uint8_t default_stack_class = kDefaultStackClass;

  GlobalQueue queue;  // Changed under lock; its size is read without.
  Processor* idle_processors GORGE_GUARDED_BY(lock) = nullptr;
  Machine* idle_machines GORGE_GUARDED_BY(lock) = nullptr;
  // The machine that sleeps until a timer is due, if there is one; it is among
  // the idle ones.
  Machine* timekeeper GORGE_GUARDED_BY(lock) = nullptr;
  Machine* all_machines GORGE_GUARDED_BY(lock) = nullptr;
  std::uint32_t machine_count GORGE_GUARDED_BY(lock) = 0;
  // Goroutines started by plain threads; the rest is counted by the Ps.
  std::int64_t started_outside GORGE_GUARDED_BY(lock) = 0;

  Crew* crew GORGE_GUARDED_BY(lock) = nullptr;  // The machines of this epoch.

  // The wake and sleep protocol's words; see idle.h. On a line of their own:
  // they are read whenever a goroutine is readied.
  alignas(kCacheLine) std::atomic<std::uint32_t> idle_count{0};
  std::atomic<std::uint32_t> spinning{
      0};  // Balanced across stops, never reset.
  // The index of the machine that naps, or 0; a futex word. Not its address:
  // who ends a nap may come so late that the machine is gone.
  std::atomic<std::uint32_t> napper{0};
  // When the timekeeper wakes up; kNever if there is none. Written under lock.
  std::atomic<std::int64_t> timekeeper_until{kNever};

  alignas(kCacheLine) std::atomic<std::uint64_t> next_id{1};
};

extern Scheduler sched;

// True if `p` belongs to the runtime as it now is.
inline bool IsCurrent(const Processor& p) {
  // Relaxed: a stop waits for those that notice late.
  return p.epoch == sched.epoch.load(std::memory_order_relaxed);
}

// The P of the caller, or null: in a plain thread, and after a stop.
inline Processor* CurrentProcessor(const G& self) {
  if (self.machine == nullptr) return nullptr;
  Processor* p = self.machine->processor;
  return IsCurrent(*p) ? p : nullptr;
}

// A machine's whole life.
void RunMachine(Machine& machine);

// Queues a runnable goroutine: in the caller's P, or globally if it has none.
void Enqueue(G& g);

// Queues it globally and wakes whom that concerns. Drops goroutines of an
// earlier epoch.
void EnqueueGlobal(G& g);

}  // namespace gorge::internal

#endif  // GORGE_CORE_INTERNAL_SCHEDULER_H_
