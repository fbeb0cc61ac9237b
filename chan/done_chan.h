// chan/done_chan.h -- a channel that carries nothing: it is open, then closed.
// Go: the `done := make(chan struct{})` that is there to be closed.
//
// Thousands of goroutines may select on one, on all CPUs at once, without
// taking turns: while nobody closes it, they do not write to any word that they
// share. A Chan cannot promise that, since one might send on it. The Done of a
// Context is made so.
//
//   const DoneChan done = MakeDoneChan();
//   go([results, quit = done.View()] {
//     while (Select(OnRecv(quit), OnSend(results, Next())) != 0) {
//     }
//   });
//   ...
//   done.Close();
//
// A handle, as Chan is. Those who wait are woken in no particular order.

#ifndef GORGE_CHAN_DONE_CHAN_H_
#define GORGE_CHAN_DONE_CHAN_H_

#include <variant>

#include "gorge/chan/chan.h"
#include "gorge/chan/internal/chan_ref.h"
#include "gorge/chan/internal/element.h"
#include "gorge/chan/internal/hchan.h"
#include "gorge/core/internal/check.h"

namespace gorge {

class DoneChan {
 public:
  // Nil: nobody can close it, and who receives from it blocks for ever.
  DoneChan() = default;

  // What others wait on, the same channel; nil of nil.
  const RecvChan<std::monostate>& View() const { return view_; }

  // Closes the channel: all who wait return, and so does at once who comes
  // later. What precedes Close happens before that.
  //
  // Blocks: never.
  // Panics: "close of closed channel", "close of nil channel".
  // Go:     close(done).
  void Close() const {
    internal::Hchan* hchan = internal::ChanAccess::Ref(view_).get();
    if (hchan == nullptr) internal::RaisePanic("close of nil channel");
    hchan->Close();
  }

  // True unless nil.
  explicit operator bool() const { return static_cast<bool>(view_); }
  friend bool operator==(const DoneChan&, const DoneChan&) = default;

 private:
  friend DoneChan MakeDoneChan();

  RecvChan<std::monostate> view_;
};

// Throws: std::bad_alloc.
// Go:     make(chan struct{}).
[[nodiscard]] inline DoneChan MakeDoneChan() {
  DoneChan done;
  done.view_ =
      internal::ChanAccess::Make<RecvChan<std::monostate>>(internal::ChanRef(
          internal::Hchan::MakeDone(internal::kElementType<std::monostate>)));
  return done;
}

}  // namespace gorge

#endif  // GORGE_CHAN_DONE_CHAN_H_
