// time/time.h -- waiting for a while.
//
//   gorge::Sleep(absl::Milliseconds(10));
//   gorge::Select(gorge::OnRecv(work, handle),
//                 gorge::OnRecv(gorge::After(absl::Seconds(1)), give_up));
//
// All waits run on the monotonic clock: setting the time of day changes
// nothing. They are never too short; how much too long depends on what else
// there is to run. A duration that is too large to be added to the clock is
// endless. Every absl::Duration may also be a std::chrono::duration.

#ifndef GORGE_TIME_TIME_H_
#define GORGE_TIME_TIME_H_

#include "absl/time/time.h"
#include "gorge/chan/chan.h"
#include "gorge/time/internal/duration.h"
#include "gorge/time/ticker.h"  // IWYU pragma: export
#include "gorge/time/timer.h"   // IWYU pragma: export

namespace gorge {

// Blocks: for at least `d`, the goroutine, never its worker thread; in a plain
//         thread, the thread. Not at all if `d` is not positive.
// Go:     time.Sleep.
void Sleep(absl::Duration d);
template <class Rep, class Period>
void Sleep(std::chrono::duration<Rep, Period> d) {
  Sleep(internal::ToAbsl(d));
}

// Returns a channel that gets the time once, after `d`: Timer(d).C(). It costs
// nothing any more when the last handle to it is gone.
//
// Blocks: never.
// Go:     time.After.
[[nodiscard]] RecvChan<absl::Time> After(absl::Duration d);
template <class Rep, class Period>
[[nodiscard]] RecvChan<absl::Time> After(std::chrono::duration<Rep, Period> d) {
  return After(internal::ToAbsl(d));
}

// Returns a channel that gets the time every `d`: Ticker(d).C(). Nil, i.e. a
// channel that is never ready, if `d` is not positive.
//
// Blocks: never.
// Go:     time.Tick.
[[nodiscard]] RecvChan<absl::Time> Tick(absl::Duration d);
template <class Rep, class Period>
[[nodiscard]] RecvChan<absl::Time> Tick(std::chrono::duration<Rep, Period> d) {
  return Tick(internal::ToAbsl(d));
}

}  // namespace gorge

#endif  // GORGE_TIME_TIME_H_
