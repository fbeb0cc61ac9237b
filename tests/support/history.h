// tests/support/history.h -- calls by several goroutines and threads at once,
// written down for linearizable.h.

#ifndef GORGE_TESTS_SUPPORT_HISTORY_H_
#define GORGE_TESTS_SUPPORT_HISTORY_H_

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "gorge/core/internal/random.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/mutex.h"
#include "gorge/tests/support/linearizable.h"
#include "gorge/tests/support/team.h"

namespace gorge::testing {

// What one caller does. Ops are small and ordered by the shared clock.
template <class Op>
class Caller {
 public:
  Caller(std::uint64_t seed, std::atomic<std::uint64_t>& clock)
      : random_(seed), clock_(clock) {}

  // Calls perform(op), which writes its results into the op; returns that.
  template <class F>
  Op Make(Op op, F perform) {
    Call<Op> call{op, ++clock_, 0};
    perform(call.op);
    call.end = ++clock_;
    calls_.push_back(call);
    return call.op;
  }

  const std::vector<Call<Op>>& calls() const { return calls_; }

  internal::Random& random() { return random_; }

 private:
  internal::Random random_;
  std::atomic<std::uint64_t>& clock_;
  std::vector<Call<Op>> calls_;
};

// Has `callers` callers, goroutines and threads by turns, do act(caller), as
// much at once as may be. Returns all their calls.
template <class Op, class F>
std::vector<Call<Op>> RecordCalls(int callers, std::uint64_t seed, F act) {
  std::vector<Call<Op>> history;
  Mutex mutex;
  std::atomic<std::uint64_t> clock{0};
  std::atomic<int> ready{0};
  Team team;
  for (int i = 0; i < callers; ++i) {
    team.Go(kKinds[i % 2], [&, i] {
      Caller<Op> caller(seed * static_cast<std::uint64_t>(callers) +
                            static_cast<std::uint64_t>(i),
                        clock);
      ++ready;
      while (ready < callers) Gosched();
      act(caller);
      const std::lock_guard hold(mutex);
      history.insert(history.end(), caller.calls().begin(),
                     caller.calls().end());
    });
  }
  team.Wait();
  return history;
}

}  // namespace gorge::testing

#endif  // GORGE_TESTS_SUPPORT_HISTORY_H_
