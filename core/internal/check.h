// core/internal/check.h -- the three ways in which gorge says that something
// is wrong, kept apart.
//
//   RaisePanic   misuse that the caller can recover from: throws gorge::Panic.
//   Fatal        misuse after which nothing can be trusted: message, abort.
//   GORGE_CHECK  a broken invariant of this library: message, abort.
//
// All three are the same in every build type. Outcomes that a correct program
// must expect are none of these; they are [[nodiscard]] results.

#ifndef GORGE_CORE_INTERNAL_CHECK_H_
#define GORGE_CORE_INTERNAL_CHECK_H_

#include <stdexcept>

namespace gorge {

// Thrown where Go would panic on misuse that a caller may recover from, with
// Go's text where Go has one. See core/panic.h.
class Panic : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

namespace internal {

// Throws gorge::Panic(text). Out of line, to keep fast paths short.
[[noreturn]] void RaisePanic(const char* text);

// Prints "fatal error: <text>" and the running goroutine on stderr; aborts.
[[noreturn]] void Fatal(const char* text);

// Reports the broken invariant `text` of this library; aborts.
[[noreturn]] void CheckFailed(const char* file, int line, const char* text);

// Writes `text` to stderr with nothing but write(2): usable in a signal
// handler and while the heap is broken.
void WriteError(const char* text);

// Comes first in a report that ends the process. Of several threads that end it
// at once one speaks; the others wait here for the end. Safe in a signal
// handler.
void BeginReport();

// How Fatal names the running goroutine; set by the scheduler, which lies above
// this file. Must be safe in a signal handler.
void SetGoroutineDescriber(void (*describe)());

#define GORGE_CHECK(condition, text)                            \
  do {                                                          \
    if (!(condition)) [[unlikely]] {                            \
      ::gorge::internal::CheckFailed(__FILE__, __LINE__, text); \
    }                                                           \
  } while (false)

}  // namespace internal
}  // namespace gorge

#endif  // GORGE_CORE_INTERNAL_CHECK_H_
