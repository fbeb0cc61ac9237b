#include "gorge/core/internal/spawn.h"

#include <unwind.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>

#include "gorge/core/internal/check.h"
#include "gorge/core/internal/fault.h"
#include "gorge/core/internal/idle.h"
#include "gorge/core/internal/lifecycle.h"
#include "gorge/core/internal/pick.h"
#include "gorge/core/internal/sanitizer.h"
#include "gorge/core/internal/scheduler.h"
#include "gorge/core/internal/stack.h"

namespace gorge::internal {
namespace {

// A P keeps this many dead goroutines; beyond, half of them go to the pool.
constexpr int kDeadCache = 64;
constexpr std::uint64_t kIdBatch = 16;

// The P of the calling goroutine; null in a plain thread, for which it starts
// the runtime. A goroutine whose epoch is over ends here. The scheduler itself,
// which starts the functions of timers, goes on, and what it starts is
// abandoned.
Processor* ProcessorForSpawn() {
  G& self = *Self();
  if (self.machine == nullptr) {
    EnsureStarted();
    return nullptr;
  }
  if (&self == &self.machine->g0) return self.machine->processor;
  Processor* p = CurrentProcessor(self);
  if (p == nullptr) SwitchAway(self, nullptr, nullptr);
  return p;
}

std::uint8_t DefaultStackClass(const Processor* p) {
  if (p != nullptr) return p->stack_class;
  LockGuard hold(sched.lock);
  return sched.default_stack_class;
}

G& TakeDead(Processor* p, std::uint8_t size_class) {
  if (p == nullptr || size_class != p->stack_class) {
    return *TakeStack(size_class);
  }
  if (G* g = p->dead.Pop()) return *g;
  return *TakeStacks(size_class, p->dead, kDeadCache / 2);
}

// On the far side, after the goroutine's last switch.
void Recycle(void* argument) {
  G& g = *static_cast<G*>(argument);
  ReleaseFiber(g);
  Processor& p = *g.machine->processor;
  if (g.stack.size_class != p.stack_class) {
    DeadList one;
    one.Push(g);
    GiveStacks(one);
    return;
  }
  p.dead.Push(g);
  if (p.dead.count <= kDeadCache) return;
  DeadList half;
  while (half.count < kDeadCache / 2) half.Push(*p.dead.Pop());
  GiveStacks(half);
}

void SetName(G& g, std::string_view name) {
  const std::size_t length = std::min(name.size(), G::kNameSize - 1);
  if (length > 0) std::memcpy(g.name, name.data(), length);
  g.name[length] = '\0';
}

std::uint64_t NewId(Processor* p) {
  // Relaxed: ids are only unique, not ordered.
  if (p == nullptr) {
    return sched.next_id.fetch_add(1, std::memory_order_relaxed);
  }
  if (p->next_id == p->end_id) {
    p->next_id = sched.next_id.fetch_add(kIdBatch, std::memory_order_relaxed);
    p->end_id = p->next_id + kIdBatch;
  }
  return p->next_id++;
}

// An exception reached the end of a goroutine: nobody can catch it any more.
[[noreturn]] void DieOfException() {
  BeginReport();
  try {
    throw;
  } catch (const std::exception& e) {
    WriteError("panic: ");
    WriteError(e.what());
  } catch (...) {
    WriteError("panic: an exception that is no std::exception");
  }
  WriteError("\n\n");
  DescribeRunningGoroutine();
  std::terminate();
}

// Notes where Goexit stops: any frame above this one's. Must not be merged
// into its caller, nor end in a jump.
__attribute__((noinline)) void CallEntry(G& g) {
  g.entry_frame = __builtin_frame_address(0);
  g.entry(g.closure);
  asm volatile("" ::: "memory");
}

[[noreturn]] void EndGoroutine(G& g) {
  Increment(g.machine->processor->finished);
  Transition(g.state, State::kRunning, State::kDead);
  SwitchAway(g, &Recycle, &g, /*dies=*/true);
  GORGE_CHECK(false, "nobody switches to a dead goroutine");
  std::terminate();
}

void GoroutineMain(G& g) {
  try {
    CallEntry(g);
  } catch (...) {
    DieOfException();
  }
  EndGoroutine(*Self());
}

// Returns the epoch that `g` is started in.
std::uint32_t StartFromThread(G& g) {
  std::uint32_t epoch;
  while (true) {
    EnsureStarted();
    LockGuard hold(sched.lock);
    // A stop may have come in between; then this goroutine is the first of
    // the next epoch.
    if (sched.phase.load(std::memory_order_relaxed) == Phase::kRunning) {
      epoch = sched.epoch.load(std::memory_order_relaxed);
      g.epoch.store(epoch, std::memory_order_relaxed);
      ++sched.started_outside;
      sched.queue.Push(g);
      break;
    }
  }
  WakeForQueue();
  return epoch;
}

// Called by the unwinder for each frame, before its destructors run.
_Unwind_Reason_Code StopAtEntry(int, _Unwind_Action actions,
                                _Unwind_Exception_Class, _Unwind_Exception*,
                                _Unwind_Context* context, void* argument) {
  G& g = *static_cast<G*>(argument);
  const auto frame = static_cast<std::uintptr_t>(_Unwind_GetCFA(context));
  if ((actions & _UA_END_OF_STACK) != 0 ||
      frame > reinterpret_cast<std::uintptr_t>(g.entry_frame)) {
    EndGoroutine(g);
  }
  return _URC_NO_REASON;
}

}  // namespace

G& BeginGoroutine(const SpawnSpec& spec) {
  Processor* p = ProcessorForSpawn();
  const std::uint8_t size_class = spec.stack_size == 0
                                      ? DefaultStackClass(p)
                                      : StackClassFor(spec.stack_size);
  G& g = TakeDead(p, size_class);
  if (g.state.load(std::memory_order_relaxed) == State::kDead) {
    Transition(g.state, State::kDead, State::kIdle);
  }
  const auto top = reinterpret_cast<std::uintptr_t>(&g) - spec.closure_size;
  const std::size_t align = std::max<std::size_t>(spec.closure_align, 16);
  g.closure = reinterpret_cast<void*>(top & ~(align - 1));
  g.id = NewId(p);
  g.random = Random(g.id * 0x9e3779b97f4a7c15u);
  g.started_at = spec.location;
  SetName(g, spec.name);
  return g;
}

void AbandonGoroutine(G& g) {
  DeadList one;
  one.Push(g);
  GiveStacks(one);
}

std::uint32_t StartGoroutine(G& g, void (*entry)(void* closure)) {
  g.entry = entry;
  PrepareContext(g, g.stack.bottom(), static_cast<char*>(g.closure),
                 &GoroutineMain);
  Transition(g.state, State::kIdle, State::kRunnable);
  Processor* p = ProcessorForSpawn();
  if (p == nullptr) return StartFromThread(g);
  const std::uint32_t epoch = p->epoch;
  g.epoch.store(epoch, std::memory_order_relaxed);
  Increment(p->started);
  Enqueue(g);
  return epoch;
}

void UnwindGoroutine() {
  G& self = *Self();
  if (self.machine == nullptr) {
    RaisePanic("Goexit is called outside a goroutine");
  }
  _Unwind_Exception& exception = self.goexit;
  exception = {};
  exception.exception_class = 0x474f524745584954;  // "GORGEXIT"
  exception.exception_cleanup = [](_Unwind_Reason_Code, _Unwind_Exception*) {
    Fatal("Goexit was stopped by a catch (...) that does not rethrow");
  };
  SkipFrames();
  _Unwind_ForcedUnwind(&exception, &StopAtEntry, &self);
  Fatal("Goexit could not unwind the stack");
}

}  // namespace gorge::internal
