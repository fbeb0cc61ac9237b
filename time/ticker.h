// time/ticker.h -- something that happens again and again.
//
//   gorge::Ticker ticker(absl::Seconds(1));
//   for (absl::Time now : ticker.C()) Report(now);

#ifndef GORGE_TIME_TICKER_H_
#define GORGE_TIME_TICKER_H_

#include "absl/time/time.h"
#include "gorge/chan/chan.h"
#include "gorge/time/internal/duration.h"

namespace gorge {

// A handle: copies mean the same ticker. It costs nothing any more when nobody
// can receive from its channel. A Shutdown of the runtime stops all tickers.
//
// All methods may be called by any thread, at the same time. Go: time.Ticker.
class Ticker {
 public:
  // Sends the time of day on C() every `d`. A tick that comes before the last
  // one was received is dropped: a slow receiver misses ticks, and the others
  // stay at multiples of `d`.
  //
  // Blocks: never. Starts the runtime on first use.
  // Panics: "non-positive interval for NewTicker".
  // Go:     time.NewTicker.
  explicit Ticker(absl::Duration d);
  template <class Rep, class Period>
  explicit Ticker(std::chrono::duration<Rep, Period> d)
      : Ticker(internal::ToAbsl(d)) {}

  // Its channel, which is never closed, not by Stop either; its Len and Cap are
  // 0.
  RecvChan<absl::Time> C() const { return chan_; }

  // No tick can be received after this, until it is reset.
  //
  // Blocks: never.
  void Stop() const;

  // Ticks every `d` from now on.
  //
  // Blocks: never.
  // Panics: "non-positive interval for Ticker.Reset".
  void Reset(absl::Duration d) const;
  template <class Rep, class Period>
  void Reset(std::chrono::duration<Rep, Period> d) const {
    Reset(internal::ToAbsl(d));
  }

 private:
  RecvChan<absl::Time> chan_;
};

}  // namespace gorge

#endif  // GORGE_TIME_TICKER_H_
