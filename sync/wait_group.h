// sync/wait_group.h -- waiting for a number of goroutines to finish.
//
//   gorge::WaitGroup readers;
//   for (const std::string& name : names) {
//     readers.Go([&name] { Read(name); });
//   }
//   readers.Wait();

#ifndef GORGE_SYNC_WAIT_GROUP_H_
#define GORGE_SYNC_WAIT_GROUP_H_

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

#include "gorge/core/go.h"
#include "gorge/core/internal/annotations.h"
#include "gorge/core/internal/check.h"
#include "gorge/core/internal/location.h"
#include "gorge/core/internal/lock.h"
#include "gorge/core/internal/sudog.h"

namespace gorge {

// Counts tasks, and lets others wait until none is left. May be destroyed or
// used again once every Wait has returned, even if the Done that released them
// has not. Constant-initialisable; neither copyable nor movable.
// Go: sync.WaitGroup.
class WaitGroup {
 public:
  constexpr WaitGroup() = default;
  WaitGroup(const WaitGroup&) = delete;
  WaitGroup& operator=(const WaitGroup&) = delete;

  // Adds `delta`, which may be negative, to the task counter. When the counter
  // reaches zero, wakes everybody blocked in Wait.
  //
  // Requires: an Add that lifts the counter off zero happens before Wait.
  // Blocks:   never.
  // Panics:   "sync: negative WaitGroup counter", also if it would exceed
  //           2^31 - 1; "sync: WaitGroup misuse: Add called concurrently with
  //           Wait", if it lifts the counter off zero while somebody waits.
  // Ordering: what precedes an Add or Done happens before the return of each
  //           Wait that it releases.
  void Add(int delta) {
    // Acq_rel: release for the tasks' results, acquire for the one that wakes.
    const std::uint64_t state =
        state_.fetch_add(static_cast<std::uint64_t>(std::int64_t{delta}) << 32,
                         std::memory_order_acq_rel) +
        (static_cast<std::uint64_t>(std::int64_t{delta}) << 32);
    const auto counter = static_cast<std::int32_t>(state >> 32);
    const auto waiters = static_cast<std::uint32_t>(state);
    if (counter < 0 || waiters != 0) [[unlikely]] {
      AddSlow(delta, counter);
    }
  }

  // Same as Add(-1), in all respects.
  void Done() { Add(-1); }

  // Returns once the counter is zero. May be called by many at once.
  //
  // Blocks: the goroutine, never its worker thread; in a plain thread, the
  //         thread.
  // Panics: "sync: WaitGroup is reused before previous Wait has returned".
  void Wait() {
    // Acquire: pairs with the release in Add.
    if ((state_.load(std::memory_order_acquire) >> 32) != 0) WaitSlow();
  }

  // Starts f() as a goroutine that counts as one task, until f has returned and
  // is destroyed, or has called Goexit. If f throws, the process ends, as for
  // any goroutine, and Wait does not return before that.
  //
  // Blocks:   never.
  // Panics:   "go of nil func value".
  // Throws:   what moving or copying f throws; nothing is counted then.
  // Ordering: what f does happens before the return of the Wait it releases.
  template <class F>
  void Go(F&& f, const char* file = __builtin_FILE(),
          int line = __builtin_LINE()) {
    if (internal::IsNil(f)) internal::RaisePanic("go of nil func value");
    Add(1);
    try {
      internal::Spawn({}, internal::Location{file, line},
                      [this, f = Task<F>(std::forward<F>(f))]() mutable {
                        try {
                          auto task(std::move(f));
                          std::move(task)();
                        } catch (...) {
                          // No exception: Goexit.
                          if (std::current_exception() == nullptr) Done();
                          throw;
                        }
                        Done();
                      });
    } catch (...) {
      Done();
      throw;
    }
  }

 private:
  // What does not fit in comfortably on a stack is passed on by its address.
  template <class F>
  class FromHeap {
   public:
    template <class G>
    explicit FromHeap(G&& f) : f_(std::make_unique<F>(std::forward<G>(f))) {}
    void operator()() && { std::move (*f_)(); }

   private:
    std::unique_ptr<F> f_;
  };
  template <class F>
  using Task =
      std::conditional_t<sizeof(std::decay_t<F>) <= internal::kLargestClosure,
                         std::decay_t<F>, FromHeap<std::decay_t<F>>>;

  void AddSlow(int delta, std::int32_t counter);
  void WakeAll();
  void WaitSlow();

  // state_, high word first:
  //   bits 32..63  the counter, signed
  //   bits  0..31  the number of goroutines in waiters_
  std::atomic<std::uint64_t> state_{0};
  internal::Lock lock_{internal::LockRank::kWaitGroup};
  internal::WaitQueue waiters_ GORGE_GUARDED_BY(lock_);
};

}  // namespace gorge

#endif  // GORGE_SYNC_WAIT_GROUP_H_
