// core/internal/spin.h -- whether it pays to wait for a lock without sleeping.

#ifndef GORGE_CORE_INTERNAL_SPIN_H_
#define GORGE_CORE_INTERNAL_SPIN_H_

namespace gorge::internal {

// True if the caller, which has spun `spins` times, had better spin once more:
// there is a second CPU, another P runs goroutines (the lock's holder may be
// one of them), and the caller's own P has nothing else to run.
bool CanSpin(int spins);

// A pause of microseconds, the longer the more `spins` there were.
void Spin(int spins);

}  // namespace gorge::internal

#endif  // GORGE_CORE_INTERNAL_SPIN_H_
