// time/internal/func_timer.h -- a timer that starts a goroutine.
//
// Counted references: one for each handle, one for the queue that the timer is
// armed in, which passes to the goroutine when it fires.

#ifndef GORGE_TIME_INTERNAL_FUNC_TIMER_H_
#define GORGE_TIME_INTERNAL_FUNC_TIMER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

#include "gorge/core/internal/location.h"
#include "gorge/core/internal/timers.h"

namespace gorge {

class Timer;

namespace internal {

class FuncTimer {
 public:
  explicit FuncTimer(const Location& location) : location_(location) {}
  FuncTimer(const FuncTimer&) = delete;
  FuncTimer& operator=(const FuncTimer&) = delete;

  // Relaxed: whoever copies a reference has one.
  void Ref() { references_.fetch_add(1, std::memory_order_relaxed); }
  void Unref() {
    // Acq_rel: each one's uses come before the destruction.
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  bool Stop();
  bool Reset(std::int64_t nanos);

 protected:
  virtual ~FuncTimer() = default;

 private:
  virtual void Run() = 0;

  static FuncTimer& Of(TimerNode& node);
  static void Fire(TimerNode& node, std::int64_t now);
  static const TimerActions kActions;

  const Location location_;  // Of the AfterFunc.
  std::atomic<std::uint32_t> references_{1};
  struct Node : TimerNode {
    explicit Node(FuncTimer& its_timer)
        : TimerNode(kActions), timer(its_timer) {}
    FuncTimer& timer;
  } node_{*this};
};

class FuncTimerRef {
 public:
  constexpr FuncTimerRef() = default;
  // Takes over a reference that the caller has.
  explicit FuncTimerRef(FuncTimer* timer) : timer_(timer) {}
  FuncTimerRef(const FuncTimerRef& other) : timer_(other.timer_) {
    if (timer_ != nullptr) timer_->Ref();
  }
  FuncTimerRef(FuncTimerRef&& other) noexcept
      : timer_(std::exchange(other.timer_, nullptr)) {}
  FuncTimerRef& operator=(FuncTimerRef other) noexcept {
    std::swap(timer_, other.timer_);
    return *this;
  }
  ~FuncTimerRef() {
    if (timer_ != nullptr) timer_->Unref();
  }

  FuncTimer* get() const { return timer_; }
  // Gives the reference up, to whom it is passed.
  FuncTimer* Release() { return std::exchange(timer_, nullptr); }

 private:
  FuncTimer* timer_ = nullptr;
};

template <class F>
class FuncTimerOf final : public FuncTimer {
 public:
  template <class G>
  FuncTimerOf(G&& f, const Location& location)
      : FuncTimer(location), f_(std::forward<G>(f)) {}

 private:
  void Run() override { std::invoke(f_); }

  F f_;
};

template <class F>
FuncTimerRef MakeFuncTimer(F&& f, const Location& location) {
  return FuncTimerRef(
      new FuncTimerOf<std::decay_t<F>>(std::forward<F>(f), location));
}

Timer StartFuncTimer(FuncTimerRef func, std::int64_t nanos);

}  // namespace internal
}  // namespace gorge

#endif  // GORGE_TIME_INTERNAL_FUNC_TIMER_H_
