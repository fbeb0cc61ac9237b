// core/internal/sanitizer.h -- tells the sanitizers which stack is in use.
//
// Empty in other builds. Included by .cc files only: a program may be built
// with a sanitizer and this library without, or the other way round, and then
// no header that both see may differ between the two.

#ifndef GORGE_CORE_INTERNAL_SANITIZER_H_
#define GORGE_CORE_INTERNAL_SANITIZER_H_

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define GORGE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GORGE_ASAN 1
#endif
#endif
#ifndef GORGE_ASAN
#define GORGE_ASAN 0
#endif

#if defined(__SANITIZE_THREAD__)
#define GORGE_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define GORGE_TSAN 1
#endif
#endif
#ifndef GORGE_TSAN
#define GORGE_TSAN 0
#endif

namespace gorge::internal {

struct G;

#if GORGE_ASAN || GORGE_TSAN

// A thread's own G, before its first switch.
void AdoptThread(G& g);
// A goroutine that is about to be started on a clean stack.
void PrepareFiber(G& g);
// A goroutine that has ended; called on another stack.
void ReleaseFiber(G& g);
// Right before the jump, and right after it on the far side.
void StartSwitch(G& from, G& to, bool from_dies);
void FinishSwitch(G& arrived, G& from);
// Frames are about to be skipped without returning (Goexit).
void SkipFrames();

#else

inline void AdoptThread(G&) {}
inline void PrepareFiber(G&) {}
inline void ReleaseFiber(G&) {}
inline void StartSwitch(G&, G&, bool) {}
inline void FinishSwitch(G&, G&) {}
inline void SkipFrames() {}

#endif

// Memory for stacks, [low, low + size): told to LeakSanitizer, which does not
// scan mapped memory of its own accord, and to Valgrind.
void RegisterStack(char* low, std::size_t size);

}  // namespace gorge::internal

#endif  // GORGE_CORE_INTERNAL_SANITIZER_H_
