// core/internal/atomic.h -- what <atomic> lacks.

#ifndef GORGE_CORE_INTERNAL_ATOMIC_H_
#define GORGE_CORE_INTERNAL_ATOMIC_H_

#include <cstddef>

namespace gorge::internal {

// What two threads write often lies this far apart.
inline constexpr std::size_t kCacheLine = 64;

// Tells the core that this is a spin loop. About 45 ns on current Intel parts.
inline void CpuRelax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}

}  // namespace gorge::internal

#endif  // GORGE_CORE_INTERNAL_ATOMIC_H_
