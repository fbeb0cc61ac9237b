// tests/support/linearizable.h -- whether calls that overlapped can have
// happened one after the other.
//
// A history is linearizable if each call can be given a moment between its
// begin and its end such that, in the order of these moments, a sequential
// model gives every call the result that it had. Found by trying all orders,
// without coming to the same place twice (Wing and Gong, 1993; Lowe, 2017).

#ifndef GORGE_TESTS_SUPPORT_LINEARIZABLE_H_
#define GORGE_TESTS_SUPPORT_LINEARIZABLE_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace gorge::testing {

// A call with its arguments and results, and when it began and ended, by a
// clock that all callers share.
template <class Op>
struct Call {
  Op op;
  std::uint64_t begin;
  std::uint64_t end;
};

// apply(state, op): the state after op; nullopt if op cannot have had its
// result in this state. States are ordered by <. At most 64 calls.
template <class Op, class State, class Apply>
class LinearizationSearch {
 public:
  LinearizationSearch(const std::vector<Call<Op>>& calls, Apply apply)
      : calls_(calls), apply_(apply) {}

  // Whether those that are not in `done`, a set of bits, can follow on `state`.
  bool Run(const State& state, std::uint64_t done = 0) {
    if (done == AllDone()) return true;
    if (!tried_.emplace(done, state).second) return false;
    const std::uint64_t first_end = FirstEnd(done);
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      // One that begins after another has ended cannot come before it.
      if (IsIn(done, i) || calls_[i].begin > first_end) continue;
      const std::optional<State> next = apply_(state, calls_[i].op);
      if (next && Run(*next, done | Bit(i))) return true;
    }
    return false;
  }

 private:
  static std::uint64_t Bit(std::size_t i) { return std::uint64_t{1} << i; }
  static bool IsIn(std::uint64_t set, std::size_t i) { return set & Bit(i); }

  std::uint64_t AllDone() const {
    return calls_.size() == 64 ? ~std::uint64_t{0} : Bit(calls_.size()) - 1;
  }

  std::uint64_t FirstEnd(std::uint64_t done) const {
    std::uint64_t first = ~std::uint64_t{0};
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      if (!IsIn(done, i)) first = std::min(first, calls_[i].end);
    }
    return first;
  }

  const std::vector<Call<Op>>& calls_;
  Apply apply_;
  std::set<std::pair<std::uint64_t, State>> tried_;
};

template <class Op, class State, class Apply>
bool IsLinearizable(const std::vector<Call<Op>>& calls, const State& initial,
                    Apply apply) {
  return LinearizationSearch<Op, State, Apply>(calls, apply).Run(initial);
}

}  // namespace gorge::testing

#endif  // GORGE_TESTS_SUPPORT_LINEARIZABLE_H_
