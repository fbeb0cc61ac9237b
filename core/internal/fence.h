// core/internal/fence.h -- one fence made of two unequal halves.
//
// The usual cure for "I store A and read B, you store B and read A" is a full
// fence on both sides. Where one side is hot and the other is about to sleep
// in the kernel anyway, the hot side can do without: the cold side calls
// membarrier(2), which makes every running thread of the process execute a
// full fence. Then, for each thread T and each HeavyFence() call H, either all
// that T stored before its LightFence() is visible after H, or all that was
// stored before H is visible after T's LightFence().
//
// A light fence costs a load of a word that never changes, a heavy one about
// 6 us.
//
// Where the kernel has no membarrier, light_fences stays false for ever and
// both halves are full fences. It goes from false to true only after the
// process is registered with the kernel, and a hot side that still reads false
// merely does more than it needs to.

#ifndef GORGE_CORE_INTERNAL_FENCE_H_
#define GORGE_CORE_INTERNAL_FENCE_H_

#include <atomic>

namespace gorge::internal {

// True once the kernel has promised to honour HeavyFence. Never goes back.
extern std::atomic<bool> light_fences;

// What both halves are without membarrier.
void FullFence();

// The hot side's half.
inline void LightFence() {
  // Acquire: pairs with the release in EnableLightFences.
  if (light_fences.load(std::memory_order_acquire)) [[likely]] {
    // Keeps the compiler from moving anything across; the processor is told by
    // the other side.
    std::atomic_signal_fence(std::memory_order_seq_cst);
  } else {
    FullFence();
  }
}

// The cold side's half: see above. Registers the process on first use.
void HeavyFence();

// Registers the process, so that hot sides may go light. Idempotent.
void EnableLightFences();

}  // namespace gorge::internal

#endif  // GORGE_CORE_INTERNAL_FENCE_H_
