#include "gorge/core/internal/spin.h"

#include "gorge/core/internal/atomic.h"
#include "gorge/core/internal/procs.h"
#include "gorge/core/internal/scheduler.h"

namespace gorge::internal {
namespace {

constexpr int kMostSpins = 4;
// How many CpuRelax the first spin pauses; each later one twice as many. As for
// a waiter on a Lock (lock.cc): who stays away leaves the holder hundreds of
// short sections in a row, where taking turns would cost each of them a cache
// line's way. 24 ns a section on two Ps, against 33 with equal pauses of 30.
constexpr int kFirstPause = 64;

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

void Spin(int spins) {
  for (int i = 0; i < kFirstPause << spins; ++i) CpuRelax();
}

}  // namespace gorge::internal
