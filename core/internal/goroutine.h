// core/internal/goroutine.h -- G: a goroutine, or a thread that behaves as one.
//
// A goroutine's control block lies at the top of its own stack, with the
// closure below it; the frames grow down from there:
//
//   slot's end | colour | G | closure | frames ...     ... | guard | slot
//
// Two other things are a G so that channels need not tell them apart: a
// machine's g0, the scheduler's context on the thread's native stack, and the
// G of a plain thread, which lives in thread-local storage and parks on a
// futex.
//
//   field                      who may touch it, in which state
//   --------------------------------------------------------------------------
//   stack, is_thread           fixed when the slot is carved
//   id .. closure              the maker, in kIdle; later read by anyone
//   context                    the machine that switches away from or to it
//   machine, entry_frame       the goroutine itself, in kRunning
//   state                      written by the owner (goroutine_state.h); read
//                              by anyone
//   next                       the list that holds it: run queue, wake list or
//                              free list. A G is in one list at most
//   woken_by                   the waker that claimed it; then the goroutine
//   select_done                any waker, by ClaimSelect
//   wait_reason, wait_object   the goroutine before it parks; read by anyone
//   random, goexit             the goroutine itself, in kRunning
//   futex                      of a thread: its waker sets it, the thread
//                              clears it

#ifndef GORGE_CORE_INTERNAL_GOROUTINE_H_
#define GORGE_CORE_INTERNAL_GOROUTINE_H_

#include <unwind.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "gorge/core/internal/atomic.h"
#include "gorge/core/internal/context_switch.h"
#include "gorge/core/internal/goroutine_state.h"
#include "gorge/core/internal/location.h"
#include "gorge/core/internal/random.h"
#include "gorge/core/internal/stack.h"

namespace gorge::internal {

struct Machine;
struct Sudog;

// Why a goroutine is parked, for those who look at it.
enum class WaitReason : std::uint8_t {
  kNone,
  kChanSend,
  kChanRecv,
  kChanNil,
  kSelect,
  kSelectNoCases,
  kWaitGroup,
  kMutex,
  kRWMutex,
  kCond,
  kSleep,
};

struct alignas(kCacheLine) G {
  static constexpr std::size_t kNameSize = 32;

  Context context;
  Machine* machine = nullptr;  // Null in a plain thread's G.
  std::atomic<State> state{State::kIdle};
  bool is_thread = false;
  std::atomic<WaitReason> wait_reason{WaitReason::kNone};
  std::atomic<const void*> wait_object{nullptr};
  G* next = nullptr;
  Sudog* woken_by = nullptr;
  std::atomic<std::uint32_t> select_done{0};
  // Of the runtime it was started in; scheduler.h. Fixed from the start on.
  std::atomic<std::uint32_t> epoch{0};
  Random random;

  void (*entry)(void* closure) = nullptr;
  void* closure = nullptr;
  void* entry_frame = nullptr;  // Where Goexit stops unwinding.
  std::uint64_t id = 0;
  Location started_at;
  char name[kNameSize] = {};  // Cut off where longer; empty if none was given.

  StackSlot stack;
  _Unwind_Exception goexit{};  // Goexit's; frames below may be overwritten.
  std::atomic<std::uint32_t> futex{0};

  bool BelongsTo(std::uint32_t which) const {
    return epoch.load(std::memory_order_relaxed) == which;
  }

  // True for one caller of those that want to wake this goroutine out of its
  // current select. Acq_rel: the winner's writes to the goroutine's slots come
  // after the claim, the losers' reads before theirs fail.
  [[nodiscard]] bool ClaimSelect() {
    return select_done.exchange(1, std::memory_order_acq_rel) == 0;
  }
};

// The running goroutine; in a plain thread, the thread's own G. Never null.
//
// Not inline, and opaque to the optimiser: a goroutine may wake on another
// thread, where an address of a thread-local computed before it parked would
// be wrong. This is the only accessor.
G* Self();

// The word of this thread that Self() reads; a machine keeps it.
G** SelfSlot();

}  // namespace gorge::internal

#endif  // GORGE_CORE_INTERNAL_GOROUTINE_H_
