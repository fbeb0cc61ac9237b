// core/internal/main_goroutine.h -- the goroutine that Run waits for.
//
// There is at most one. It is over when its function has returned, or when a
// stop, which may be somebody else's Shutdown, has ended its epoch: then it is
// abandoned and Run must not wait for it any more. Both are events: they first
// become visible and then change the word that Run sleeps on, and Run reads
// that word before it looks.

#ifndef GORGE_CORE_INTERNAL_MAIN_GOROUTINE_H_
#define GORGE_CORE_INTERNAL_MAIN_GOROUTINE_H_

#include <atomic>
#include <cstdint>

namespace gorge::internal {

// True if there is no main goroutine, so the caller may start one.
[[nodiscard]] bool ClaimMain();

// The end of an epoch: its main goroutine, if it has one, is over, and another
// may come.
void ReleaseMain();

// The last act of a main goroutine, after it has set `ended`.
void NoteMainEnded();

// Returns true once `ended` is set; false if `epoch` is over before that.
//
// Blocks: the thread.
[[nodiscard]] bool AwaitMain(const std::atomic<bool>& ended,
                             std::uint32_t epoch);

}  // namespace gorge::internal

#endif  // GORGE_CORE_INTERNAL_MAIN_GOROUTINE_H_
