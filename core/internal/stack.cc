#include "gorge/core/internal/stack.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <new>
#include <vector>

#include "gorge/core/internal/check.h"
#include "gorge/core/internal/goroutine.h"
#include "gorge/core/internal/lock.h"
#include "gorge/core/internal/sanitizer.h"

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

namespace gorge::internal {
namespace {

constexpr std::size_t kFirstSlab = std::size_t{16} << 20;
constexpr std::size_t kLargestSlab = std::size_t{1} << 30;

// Slots of one size: a stretch of fresh ones, the cold, and the warm.
struct SizeClass {
  char* fresh = nullptr;      // The next slot never used so far.
  char* fresh_end = nullptr;  // The end of its mapping.
  std::size_t next_slab = kFirstSlab;
  std::vector<char*> cold;
  DeadList warm;
};

struct Pool {
  Lock lock{LockRank::kStacks};
  SizeClass classes[kMaxStackClass + 1] GORGE_GUARDED_BY(lock);
  std::vector<G*> carved GORGE_GUARDED_BY(lock);
};

// Never destroyed: goroutines may run while static objects are.
Pool& ThePool() {
  static Pool& pool = *new Pool;
  return pool;
}

// Maps a new slab for `size_class`; a smaller one where memory is short.
void MapSlab(SizeClass& slots, std::size_t slot_size) {
  for (std::size_t size = std::max(slots.next_slab, slot_size);;
       size = std::max(size / 2, slot_size)) {
    void* slab =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (slab != MAP_FAILED) {
      // One huge page would be as much as five hundred parked goroutines.
      // Fails where the kernel has none, which is as good.
      ::madvise(slab, size, MADV_NOHUGEPAGE);
      slots.fresh = static_cast<char*>(slab);
      slots.fresh_end = slots.fresh + size;
      slots.next_slab = std::min(size * 2, kLargestSlab);
      return;
    }
    if (size == slot_size) Fatal("out of memory for goroutine stacks");
  }
}

void InstallGuard(char* low) {
  // Relaxed: a thread that does not know yet tries once more.
  static std::atomic<bool> needs_mprotect{false};
  if (!needs_mprotect.load(std::memory_order_relaxed)) {
    if (::madvise(low, StackSlot::kGuard, MADV_GUARD_INSTALL) == 0) return;
    needs_mprotect.store(true, std::memory_order_relaxed);
  }
  if (::mprotect(low, StackSlot::kGuard, PROT_NONE) != 0) {
    Fatal(errno == ENOMEM
              ? "no guard page for a goroutine stack: this kernel has no "
                "MADV_GUARD_INSTALL and vm.max_map_count is reached"
              : "no guard page for a goroutine stack");
  }
}

// Where the G of a slot lies. Slots all begin at the same offset of a page, so
// without colour the hot lines of all goroutines would compete for the same
// few sets of the first-level cache.
G* PlaceOf(const StackSlot& slot) {
  constexpr std::size_t kColours = 16;
  const std::size_t colour =
      (reinterpret_cast<std::uintptr_t>(slot.low) >> slot.size_class) %
      kColours;
  return reinterpret_cast<G*>(slot.end() - sizeof(G) - colour * kCacheLine);
}

G* MakeG(char* low, std::uint8_t size_class) {
  StackSlot slot;
  slot.low = low;
  slot.size_class = size_class;
  G* g = new (PlaceOf(slot)) G;
  g->stack = slot;
  return g;
}

G* TakeLocked(Pool& pool, std::uint8_t size_class) GORGE_REQUIRES(pool.lock) {
  SizeClass& slots = pool.classes[size_class];
  if (G* warm = slots.warm.Pop()) return warm;
  if (!slots.cold.empty()) {
    char* low = slots.cold.back();
    slots.cold.pop_back();
    return MakeG(low, size_class);
  }
  const std::size_t slot_size = std::size_t{1} << size_class;
  if (slots.fresh == slots.fresh_end) MapSlab(slots, slot_size);
  char* low = slots.fresh;
  slots.fresh += slot_size;
  InstallGuard(low);
  RegisterStack(low + StackSlot::kGuard, slot_size - StackSlot::kGuard);
  G* g = MakeG(low, size_class);
  pool.carved.push_back(g);
  return g;
}

}  // namespace

void DeadList::Push(G& g) {
  g.next = head;
  head = &g;
  ++count;
}

G* DeadList::Pop() {
  G* g = head;
  if (g == nullptr) return nullptr;
  head = g->next;
  --count;
  return g;
}

std::uint8_t StackClassFor(std::size_t usable) {
  if (usable == 0) return kDefaultStackClass;
  if (usable > (std::size_t{1} << (kMaxStackClass - 1))) {
    RaisePanic("stack size out of range");
  }
  const int bits =
      std::bit_width(usable + StackSlot::kGuard + StackSlot::kTop - 1);
  return static_cast<std::uint8_t>(std::max<int>(bits, kMinStackClass));
}

G* TakeStack(std::uint8_t size_class) {
  Pool& pool = ThePool();
  LockGuard hold(pool.lock);
  return TakeLocked(pool, size_class);
}

G* TakeStacks(std::uint8_t size_class, DeadList& into, int more) {
  Pool& pool = ThePool();
  LockGuard hold(pool.lock);
  DeadList& warm = pool.classes[size_class].warm;
  while (more-- > 0 && warm.head != nullptr) into.Push(*warm.Pop());
  return TakeLocked(pool, size_class);
}

void GiveStacks(DeadList list) {
  Pool& pool = ThePool();
  LockGuard hold(pool.lock);
  while (G* g = list.Pop()) pool.classes[g->stack.size_class].warm.Push(*g);
}

std::size_t TrimStacks() {
  Pool& pool = ThePool();
  LockGuard hold(pool.lock);
  std::size_t trimmed = 0;
  for (SizeClass& slots : pool.classes) {
    slots.cold.reserve(slots.cold.size() +
                       static_cast<std::size_t>(slots.warm.count));
    while (const G* g = slots.warm.Pop()) {
      const StackSlot slot = g->stack;
      const auto size = static_cast<std::size_t>(slot.end() - slot.bottom());
      // Zeroes the G too; MakeG makes it anew.
      ::madvise(slot.bottom(), size, MADV_DONTNEED);
      slots.cold.push_back(slot.low);
      ++trimmed;
    }
  }
  return trimmed;
}

void ForEachG(void (*visit)(const G& g, void* argument), void* argument) {
  Pool& pool = ThePool();
  LockGuard hold(pool.lock);
  for (const G* g : pool.carved) visit(*g, argument);
}

void LockStacks() GORGE_NO_THREAD_SAFETY_ANALYSIS { ThePool().lock.Acquire(); }
void UnlockStacks() GORGE_NO_THREAD_SAFETY_ANALYSIS {
  ThePool().lock.Release();
}

std::size_t CarvedStacks() {
  Pool& pool = ThePool();
  LockGuard hold(pool.lock);
  return pool.carved.size();
}

}  // namespace gorge::internal
