// tests/support/channels.h -- looking at channels from outside, and at panics.

#ifndef GORGE_TESTS_SUPPORT_CHANNELS_H_
#define GORGE_TESTS_SUPPORT_CHANNELS_H_

#include <string>
#include <utility>

#include "gorge/chan/internal/chan_ref.h"
#include "gorge/core/panic.h"
#include "gorge/core/runtime.h"

namespace gorge::testing {

// The number of goroutines and threads parked on a channel; a select counts
// once for each of its cases there.
template <class Handle>
int Waiting(const Handle& channel) {
  return internal::ChanAccess::Ref(channel).get()->Waiting();
}

// Returns once n are parked there. Callable from goroutines and threads.
template <class Handle>
void AwaitWaiting(const Handle& channel, int n) {
  while (Waiting(channel) < n) Gosched();
}

inline constexpr char kNoPanic[] = "no panic";
inline constexpr char kSendOnClosed[] = "send on closed channel";
inline constexpr char kCloseOfClosed[] = "close of closed channel";
inline constexpr char kCloseOfNil[] = "close of nil channel";
inline constexpr char kBadSize[] = "makechan: size out of range";

// The text of the Panic that f() ends with, or kNoPanic.
template <class F>
std::string PanicText(F&& f) {
  try {
    std::forward<F>(f)();
  } catch (const Panic& panic) {
    return panic.what();
  }
  return kNoPanic;
}

}  // namespace gorge::testing

#endif  // GORGE_TESTS_SUPPORT_CHANNELS_H_
