// time/internal/chan_timer.h -- a timer that sends the time on a channel.
//
// It lies behind its channel, in the same memory, and ends with it. The channel
// has room for one element, which Len and Cap do not show.
//
// What counts is `armed_` and `when_`, under the channel's lock, under which
// the value is sent, too. The queue of
// timers (core/internal/timers.h) only says when to look: it may come too
// early, when the timer has been reset meanwhile, and finds nothing due then;
// the new arming is in a queue as well. So a Stop that has cleared `armed_`,
// and taken out the value if it is there, is the end of it, even if the queue
// has let the timer go already and is about to fire.
//
// A receive looks at the timer as well, and sends itself the value if it is
// due: who polls the channel in a loop need not let the scheduler run, and who
// comes late need not wait for it. Who waits already is left to the scheduler.
//
// A receive that must not block looks without the lock, and at one word, which
// says when there is something to receive. So it sees the timer as it was at
// one moment. Tempting and wrong: to look at the buffer and at when the timer
// is due; between the two looks a Reset may move what there is from the one to
// the other, and a value is missed that was there all the time.
//
// While the queue has the timer it holds no reference to the channel: a timer
// that nobody can receive from must go. Instead the last handle's end disarms
// it, and claim() finds out, under the queue's lock, whether there still is
// one.

#ifndef GORGE_TIME_INTERNAL_CHAN_TIMER_H_
#define GORGE_TIME_INTERNAL_CHAN_TIMER_H_

#include <atomic>
#include <cstdint>

#include "absl/time/time.h"
#include "gorge/chan/chan.h"
#include "gorge/chan/internal/hchan.h"
#include "gorge/core/internal/timers.h"

namespace gorge::internal {

class ChanTimer {
 public:
  // Makes a channel with an armed timer. It goes off after `nanos`; and then
  // every `period`, if that is positive.
  static RecvChan<absl::Time> Make(std::int64_t nanos, std::int64_t period);

  // The timer of such a channel.
  static ChanTimer& Of(const RecvChan<absl::Time>& channel);

  // True if the value will not be received: see Timer.
  bool Stop();
  bool Reset(std::int64_t nanos, std::int64_t period);

 private:
  explicit ChanTimer(Hchan& hchan) : hchan_(hchan) {}

  static ChanTimer& Of(Hchan& hchan);
  static ChanTimer& Of(TimerNode& node);
  static void Fire(TimerNode& node, std::int64_t now);
  static bool IsDue(Hchan& hchan);
  static void Look(Hchan& hchan);
  static const TimerActions kActions;
  static const TimerHooks kHooks;

  // Who calls one of these two calls Publish, once, before it drops the lock.
  //
  // Disarms it and takes the value out. True if there was either.
  bool Clear() GORGE_REQUIRES(hchan_.lock());
  // If it is due: the value goes to the oldest receiver, who is to be readied,
  // or into the buffer; and the timer is armed for the next tick, or no more.
  void SendIfDue(std::int64_t now, G*& receiver) GORGE_REQUIRES(hchan_.lock());

  void Publish() GORGE_REQUIRES(hchan_.lock());

  Hchan& hchan_;
  bool armed_ GORGE_GUARDED_BY(hchan_.lock()) = false;
  bool is_sent_ GORGE_GUARDED_BY(hchan_.lock()) =
      false;  // It is in the buffer.
  // Of the current or last arming.
  std::int64_t when_ GORGE_GUARDED_BY(hchan_.lock()) = kNever;
  std::int64_t period_ GORGE_GUARDED_BY(hchan_.lock()) = 0;
  // From when on there is something to receive; kNever: from never on. Changed
  // under the lock, read without it.
  std::atomic<std::int64_t> ready_at_{kNever};
  struct Node : TimerNode {
    explicit Node(ChanTimer& its_timer)
        : TimerNode(kActions), timer(its_timer) {}
    ChanTimer& timer;
  } node_{*this};
};

}  // namespace gorge::internal

#endif  // GORGE_TIME_INTERNAL_CHAN_TIMER_H_
