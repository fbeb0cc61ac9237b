// core/internal/stack.h -- memory for goroutine stacks.
//
// A slot is [guard | usable stack, growing down | G]. Slots are carved from big
// mappings, so that any number of them is a handful of VMAs: the guard pages
// are made with MADV_GUARD_INSTALL, which needs no VMA each (Linux 6.13). On
// older kernels they are made with mprotect, at one VMA each and up to
// vm.max_map_count in all. Sizes are powers of two, pooled by class.
//
// A slot is in one of three places:
//   in use   it holds a goroutine that has not ended;
//   warm     ended, its pages still there: the caches of the Ps and the global
//            list of its class, linked through G::next;
//   cold     no pages: trimmed, or never used. Only its address is kept.
//
// Slots are never unmapped: parked goroutines that a Shutdown abandoned stay
// valid for whoever still points at them.

#ifndef GORGE_CORE_INTERNAL_STACK_H_
#define GORGE_CORE_INTERNAL_STACK_H_

#include <cstddef>
#include <cstdint>

namespace gorge::internal {

struct G;

struct StackSlot {
  static constexpr std::size_t kGuard = 16 * 1024;
  static constexpr std::size_t kTop = 4 * 1024;  // Colour, G and closure.

  char* low = nullptr;          // Lowest address, where the guard begins.
  std::uint8_t size_class = 0;  // The slot is 2^size_class bytes long.

  char* bottom() const { return low + kGuard; }
  char* end() const { return low + (std::size_t{1} << size_class); }
};

// Address space of a slot: 256 KiB by default, of which 240 KiB are usable.
inline constexpr std::uint8_t kDefaultStackClass = 18;
inline constexpr std::uint8_t kMinStackClass = 15;
inline constexpr std::uint8_t kMaxStackClass = 40;

// The smallest class with `usable` bytes for frames, besides the guard and what
// lies at the top; 0: the default.
// Panics if no class is that large.
std::uint8_t StackClassFor(std::size_t usable);

// A list of dead goroutines, linked through G::next.
struct DeadList {
  G* head = nullptr;
  int count = 0;

  void Push(G& g);
  G* Pop();  // Null if empty.
};

// Takes one G with a stack of that class, warm if there is one: kDead if it was
// used before, else kIdle.
G* TakeStack(std::uint8_t size_class);

// As TakeStack for the class of `into`, and fills `into` with up to `more` warm
// ones besides.
G* TakeStacks(std::uint8_t size_class, DeadList& into, int more);

// Gives goroutines that ended back to the global lists.
void GiveStacks(DeadList list);

// Returns the pages of all warm slots of the global lists to the kernel, and
// the number of slots.
std::size_t TrimStacks();

// Calls visit(g, argument) for each G that was ever carved, while no more are
// carved. Only atomics of a G may be read, unless the runtime stands still.
void ForEachG(void (*visit)(const G& g, void* argument), void* argument);

// Holds up whoever wants to change the pool: for a fork.
void LockStacks();
void UnlockStacks();

// Number of goroutines whose stacks are in use or in caches; for tests.
std::size_t CarvedStacks();

// True if `address` lies in the guard of `slot`.
inline bool InGuard(const StackSlot& slot, const void* address) {
  const auto* p = static_cast<const char*>(address);
  return p >= slot.low && p < slot.bottom();
}

}  // namespace gorge::internal

#endif  // GORGE_CORE_INTERNAL_STACK_H_
