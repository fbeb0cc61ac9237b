// core/internal/thread_number.h -- small numbers for the threads that are
// alive.
//
// Who wants something for each thread or each P, so that two CPUs do not write
// to one cache line, indexes it with this. It is the thread's and not the P's
// number because a P can change hands at any instruction, while a goroutine
// stays on its thread from one of its calls that may park to the next: up to
// there nobody else has the number, goroutine or plain thread.
//
// A number is given when a thread first asks, the smallest that is free, and
// taken back when the thread ends. Who gets it next sees all that was written
// with it before.

#ifndef GORGE_CORE_INTERNAL_THREAD_NUMBER_H_
#define GORGE_CORE_INTERNAL_THREAD_NUMBER_H_

namespace gorge::internal {

inline constexpr int kThreadNumbers = 1024;

// The number of the calling thread, in [0, kThreadNumbers); or -1 if all are
// taken, or if the thread is ending and has given it back.
//
// Not inline, for the reason of Self(): what it returns must not be used after
// a park.
int ThreadNumber();

// No number from this one on has ever been given.
int ThreadNumbersGiven();

}  // namespace gorge::internal

#endif  // GORGE_CORE_INTERNAL_THREAD_NUMBER_H_
