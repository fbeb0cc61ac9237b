// core/internal/futex.h -- the kernel's wait-on-a-word. Leaves errno alone: it
// is the goroutine's.

#ifndef GORGE_CORE_INTERNAL_FUTEX_H_
#define GORGE_CORE_INTERNAL_FUTEX_H_

#include <time.h>

#include <atomic>
#include <cstdint>

namespace gorge::internal {

// Set in the child of a fork, where no other thread is left to wake anybody.
extern std::atomic<bool> in_fork_child;

inline constexpr char kForkedText[] =
    "gorge is used in the child of a fork: only exec and _exit work there";

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

// Blocks the thread while `word` holds `expected`, for at most `timeout` if one
// is given. May return for no reason: the caller looks at the word again. Every
// way in which gorge blocks a thread leads here; in the child of a fork, where
// it would be for ever, it is fatal.
void FutexWait(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
               const timespec* timeout = nullptr);

// Wakes at most `count` threads that wait on `word`. The word may be gone by
// now: the kernel only looks its address up, and a thread that it wakes by
// mistake looks again, as every caller of FutexWait must.
void FutexWake(const std::atomic<std::uint32_t>& word, int count);

}  // namespace gorge::internal

#endif  // GORGE_CORE_INTERNAL_FUTEX_H_
