// core/internal/annotations.h -- names for clang's thread-safety analysis.
//
// Under g++ they expand to nothing; the clang cell compiles with
// -Wthread-safety -Werror.

#ifndef GORGE_CORE_INTERNAL_ANNOTATIONS_H_
#define GORGE_CORE_INTERNAL_ANNOTATIONS_H_

#if defined(__clang__)
#define GORGE_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define GORGE_THREAD_ANNOTATION(x)
#endif

#define GORGE_CAPABILITY(x) GORGE_THREAD_ANNOTATION(capability(x))
#define GORGE_SCOPED_CAPABILITY GORGE_THREAD_ANNOTATION(scoped_lockable)
#define GORGE_GUARDED_BY(x) GORGE_THREAD_ANNOTATION(guarded_by(x))
#define GORGE_REQUIRES(...) \
  GORGE_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define GORGE_ACQUIRE(...) \
  GORGE_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define GORGE_RELEASE(...) \
  GORGE_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define GORGE_TRY_ACQUIRE(...) \
  GORGE_THREAD_ANNOTATION(try_acquire_capability(__VA_ARGS__))
#define GORGE_RETURN_CAPABILITY(x) GORGE_THREAD_ANNOTATION(lock_returned(x))
#define GORGE_EXCLUDES(...) GORGE_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))

// For the few functions that hand a lock to another stack or take locks from a
// list: the analysis follows neither. Each use says why it is right.
#define GORGE_NO_THREAD_SAFETY_ANALYSIS \
  GORGE_THREAD_ANNOTATION(no_thread_safety_analysis)

// For what runs at every switch between goroutines. After a switch each return
// of the chain that led to it is mispredicted, since the processor predicts it
// from the calls of the other stack, at about 4 ns each: so the chain is one
// function.
#define GORGE_ALWAYS_INLINE inline __attribute__((always_inline))

#endif  // GORGE_CORE_INTERNAL_ANNOTATIONS_H_
