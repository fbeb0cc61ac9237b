// tests/support/team.h -- goroutines and plain threads that work on one task.
//
// What blocks must work from both, and between both: such a test runs its parts
// in a Team, once for each Kind.

#ifndef GORGE_TESTS_SUPPORT_TEAM_H_
#define GORGE_TESTS_SUPPORT_TEAM_H_

#include <ostream>
#include <thread>
#include <utility>
#include <vector>

#include "gorge/sync/wait_group.h"

namespace gorge::testing {

enum class Kind { kGoroutine, kThread };

inline constexpr Kind kKinds[] = {Kind::kGoroutine, Kind::kThread};

inline std::ostream& operator<<(std::ostream& out, Kind kind) {
  return out << (kind == Kind::kGoroutine ? "goroutine" : "thread");
}

// The destructor waits, as Wait does. Used by one goroutine or thread.
class Team {
 public:
  Team() = default;
  ~Team() { Wait(); }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  // Starts f() as a goroutine or in a thread of its own.
  template <class F>
  void Go(Kind kind, F f) {
    if (kind == Kind::kGoroutine) {
      group_.Go(std::move(f));
      return;
    }
    group_.Add(1);
    threads_.emplace_back([this, f = std::move(f)]() mutable {
      f();
      group_.Done();
    });
  }

  // Returns once all have ended.
  void Wait() {
    // The goroutine parks here, so that joining takes no time: a join would
    // hold the thread that those waited for may need.
    group_.Wait();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  WaitGroup group_;
  std::vector<std::thread> threads_;
};

}  // namespace gorge::testing

#endif  // GORGE_TESTS_SUPPORT_TEAM_H_
