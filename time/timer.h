// time/timer.h -- something that happens once, later.
//
//   gorge::Timer timeout(absl::Seconds(5));
//   gorge::Select(gorge::OnRecv(work, handle),
//                 gorge::OnRecv(timeout.C(), give_up));
//
//   gorge::Timer cleanup = gorge::AfterFunc(absl::Minutes(1), [] { ... });

#ifndef GORGE_TIME_TIMER_H_
#define GORGE_TIME_TIMER_H_

#include <utility>

#include "absl/time/time.h"
#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/time/internal/duration.h"
#include "gorge/time/internal/func_timer.h"

namespace gorge {

// A handle: copies mean the same timer. Dropping it stops nothing: as long as
// somebody holds the channel it gets its value, and the function of an
// AfterFunc runs. But a timer whose channel nobody can receive from any more
// costs nothing.
//
// Whenever it is armed (by its constructor, AfterFunc, or Reset), at most one
// of three things happens: its value is received (its function is started),
// Stop returns true, or Reset returns true. After Stop or Reset no value of
// before can be received. A Shutdown of the runtime stops all timers.
//
// All methods may be called by any thread, at the same time. Go: time.Timer,
// with the semantics of Go 1.23.
class Timer {
 public:
  // No timer: its channel is nil.
  Timer() = default;

  // Sends the time of day on C(), once `d` is over.
  //
  // Blocks: never. Starts the runtime on first use.
  // Go:     time.NewTimer.
  explicit Timer(absl::Duration d);
  template <class Rep, class Period>
  explicit Timer(std::chrono::duration<Rep, Period> d)
      : Timer(internal::ToAbsl(d)) {}

  // Its channel, which is never closed, and whose Len and Cap are 0. Nil if the
  // timer runs a function.
  RecvChan<absl::Time> C() const { return chan_; }

  // True if this prevents the value from being received, or the function from
  // being started; false if that has happened, or the timer is stopped already.
  // Does not wait for the function to end.
  //
  // Blocks: never.
  // Panics: "time: Stop called on uninitialized Timer".
  bool Stop() const;

  // Arms the timer anew, to go off once `d` is over. Returns what Stop would
  // have returned. If the function is running it may so run twice at a time.
  //
  // Blocks: never.
  // Panics: "time: Reset called on uninitialized Timer".
  bool Reset(absl::Duration d) const;
  template <class Rep, class Period>
  bool Reset(std::chrono::duration<Rep, Period> d) const {
    return Reset(internal::ToAbsl(d));
  }

 private:
  explicit Timer(internal::FuncTimerRef func) : func_(std::move(func)) {}
  friend Timer internal::StartFuncTimer(internal::FuncTimerRef func,
                                        std::int64_t nanos);

  RecvChan<absl::Time> chan_;
  internal::FuncTimerRef func_;
};

// Calls f() in a goroutine of its own, once `d` is over, unless the timer is
// stopped before. f may be called again, also at the same time, if the timer is
// reset. It is destroyed with the last handle, but not before it has run.
//
// Blocks: never. Starts the runtime on first use.
// Panics: "go of nil func value".
// Go:     time.AfterFunc.
template <class F>
requires(std::is_invocable_v<std::decay_t<F>&>) Timer
    AfterFunc(absl::Duration d, F&& f, const char* file = __builtin_FILE(),
              int line = __builtin_LINE()) {
  if (internal::IsNil(f)) internal::RaisePanic("go of nil func value");
  return internal::StartFuncTimer(
      internal::MakeFuncTimer(std::forward<F>(f), {file, line}),
      internal::ToNanos(d));
}
template <class Rep, class Period, class F>
requires(std::is_invocable_v<std::decay_t<F>&>) Timer
    AfterFunc(std::chrono::duration<Rep, Period> d, F&& f,
              const char* file = __builtin_FILE(),
              int line = __builtin_LINE()) {
  return AfterFunc(internal::ToAbsl(d), std::forward<F>(f), file, line);
}

}  // namespace gorge

#endif  // GORGE_TIME_TIMER_H_
