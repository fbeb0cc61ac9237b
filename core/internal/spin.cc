#include "gorge/core/internal/spin.h"

#include "gorge/core/internal/atomic.h"
#include "gorge/core/internal/procs.h"
#include "gorge/core/internal/scheduler.h"

namespace gorge::internal {
namespace {

constexpr int kMostSpins = 4;
constexpr int kPauses = 30;

bool HasSeveralCpus() {
  static const bool several = CountCpus() > 1;
  return several;
}

}  // namespace

bool CanSpin(int spins) {
  if (spins >= kMostSpins || !HasSeveralCpus()) return false;
  const Processor* p = CurrentProcessor(*Self());
  if (p == nullptr) return true;  // A plain thread.
  // Relaxed: an estimate.
  const std::uint32_t idle = sched.idle_count.load(std::memory_order_relaxed) +
                             sched.spinning.load(std::memory_order_relaxed);
  return idle + 1 < sched.processor_count && p->ring.Empty() &&
         p->runnext.Peek() == nullptr;
}

void Spin() {
  for (int i = 0; i < kPauses; ++i) CpuRelax();
}

}  // namespace gorge::internal
