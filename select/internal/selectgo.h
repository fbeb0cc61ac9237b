// select/internal/selectgo.h -- one select statement over untyped cases.
//
// Pass 0 tries each case by itself, in random order, with one channel locked at
// a time. That is a fair choice among the cases that are ready, and mostly the
// end of it. Only a select that must say "none is ready" needs all channels at
// one moment, since a value may be on its way from one of them to another:
//
//   pass 1  with every channel locked, take a case that can proceed now;
//   pass 2  else queue a sudog on every channel, and park;
//   pass 3  a waker has completed one case: withdraw from the others.
//
// A receive on a DoneChan may wait in a lane (lanes.h), whose lock and queue
// then stand for the channel's.
//
// Channels are locked in the order of the locks' addresses, each once, and
// released in reverse. A select in list order (SelectInOrder) has no pass 0:
// looking at one channel after the other it could take the second although the
// first got its element earlier.
//
// Parking releases the locks from another stack, one after the other, and as
// soon as the first is free a waker may claim this goroutine and ready it. It
// then stops at the first lock of pass 3 that is not free yet, which is there:
// a channel still locked has not been the one to claim it, so is among the
// losers. So the frame with the list of locks stays until the last release,
// and after that nobody reads it.

#ifndef GORGE_SELECT_INTERNAL_SELECTGO_H_
#define GORGE_SELECT_INTERNAL_SELECTGO_H_

#include <cstddef>
#include <cstdint>

#include "gorge/chan/internal/hchan.h"
#include "gorge/core/internal/annotations.h"
#include "gorge/core/internal/sudog.h"

namespace gorge::internal {

struct SelectCase {
  Hchan* hchan = nullptr;   // Null: never ready.
  void* element = nullptr;  // Send: T to move from. Receive: optional<T>.
  bool is_send = false;

  // Of a select that parks.
  bool owes_ref = false;  // To the channel.
  Lane* lane = nullptr;   // Where a receive waits; null: at the channel.
};

// Room for a sudog, made only if the select parks.
struct SudogRoom {
  alignas(Sudog) unsigned char bytes[sizeof(Sudog)];
};

// A select's working memory, for `count` cases.
struct SelectFrame {
  SelectCase* cases;
  std::uint32_t* poll_order;  // Room for count.
  std::uint32_t* lock_order;  // Room for count.
  SudogRoom* sudogs;          // Room for count.
  std::uint32_t count;
};

enum class SelectOrder : std::uint8_t { kRandom, kList };

struct SelectResult {
  static constexpr std::uint32_t kDefault = UINT32_MAX;

  std::uint32_t index = kDefault;
  bool received = false;  // Of a receive: an element, not the close.
};

// A select of one case, whose channel is not nil: the plain operation.
GORGE_ALWAYS_INLINE SelectResult SelectOne(const SelectCase& c,
                                           bool has_default) {
  SelectResult result{.index = 0, .received = false};
  if (c.is_send) {
    if (has_default) {
      if (!c.hchan->TrySend(c.element)) return {};
    } else {
      c.hchan->Send(c.element);
    }
    return result;
  }
  const RecvResult received =
      has_default ? c.hchan->TryRecv(c.element) : c.hchan->Recv(c.element);
  if (received == RecvResult::kWouldBlock) return {};
  result.received = received == RecvResult::kValue;
  return result;
}

// Performs one of the cases. If none is ready: returns kDefault if has_default,
// else blocks.
//
// Panics: "send on closed channel".
SelectResult SelectGo(const SelectFrame& frame, bool has_default,
                      SelectOrder order);

}  // namespace gorge::internal

#endif  // GORGE_SELECT_INTERNAL_SELECTGO_H_
