// core/panic.h -- how gorge reports misuse.
//
// Misuse that the caller can recover from throws gorge::Panic, a
// std::logic_error whose what() is Go's own text where Go has one:
//
//   "send on closed channel", "close of closed channel",
//   "close of nil channel", "makechan: size out of range",
//   "sync: negative WaitGroup counter", ...
//
// Misuse after which nothing can be trusted is fatal instead: a message on
// stderr, then abort(). Both are the same in every build type.
//
// An exception that leaves a goroutine's function, a Panic or any other, ends
// the process: its message, the goroutine and where it was started on stderr,
// then std::terminate. Go counterpart: panic and fatal error.

#ifndef GORGE_CORE_PANIC_H_
#define GORGE_CORE_PANIC_H_

#include "gorge/core/internal/check.h"  // IWYU pragma: export

#endif  // GORGE_CORE_PANIC_H_
