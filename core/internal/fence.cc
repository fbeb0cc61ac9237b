#include "gorge/core/internal/fence.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gorge/core/internal/check.h"

namespace gorge::internal {
namespace {

long Membarrier(int command) {
  return ::syscall(SYS_membarrier, command, 0, 0);
}

// Every full fence is an exchange on this word, so each sees what came before
// the ones that preceded it. Not std::atomic_thread_fence: ThreadSanitizer does
// not know that.
std::atomic<int> full_fence{0};

}  // namespace

constinit std::atomic<bool> light_fences{false};

void EnableLightFences() {
  // Registering twice is harmless, so no lock. Release: a thread that reads
  // true knows that the registration has come back from the kernel.
  if (Membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0) {
    light_fences.store(true, std::memory_order_release);
  }
}

void HeavyFence() {
  if (!light_fences.load(std::memory_order_acquire)) EnableLightFences();
  if (light_fences.load(std::memory_order_acquire)) {
    GORGE_CHECK(Membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0,
                "a registered process may call membarrier");
    return;
  }
  FullFence();
}

void FullFence() { full_fence.exchange(1, std::memory_order_seq_cst); }

}  // namespace gorge::internal
