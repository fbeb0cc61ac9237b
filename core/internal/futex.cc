#include "gorge/core/internal/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "gorge/core/internal/check.h"

namespace gorge::internal {

constinit std::atomic<bool> in_fork_child{false};

void FutexWait(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
               const timespec* timeout) {
  if (in_fork_child.load(std::memory_order_relaxed)) Fatal(kForkedText);
  const int saved_errno = errno;
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, timeout, nullptr,
            0);
  errno = saved_errno;
}

void FutexWake(const std::atomic<std::uint32_t>& word, int count) {
  const int saved_errno = errno;
  ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
  errno = saved_errno;
}

}  // namespace gorge::internal
