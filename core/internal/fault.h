// core/internal/fault.h -- says "stack overflow" instead of a bare SIGSEGV.
//
// A fault in the guard of the running goroutine's stack is reported with the
// goroutine's name and start; every other fault goes to the handler that was
// installed before. A frame larger than the guard (16 KiB) may jump over it,
// unless the program is compiled with -fstack-clash-protection.

#ifndef GORGE_CORE_INTERNAL_FAULT_H_
#define GORGE_CORE_INTERNAL_FAULT_H_

#include <cstddef>

namespace gorge::internal {

// Installs the handler, once.
void InstallFaultHandler();

// Writes "in goroutine 7 [name], started at file:line" to stderr, if it runs in
// one. Usable in a signal handler.
void DescribeRunningGoroutine();

// A signal stack for the calling thread, for as long as the object lives: on
// an overflow there is no room left on the other one.
class AlternateStack {
 public:
  AlternateStack();
  ~AlternateStack();
  AlternateStack(const AlternateStack&) = delete;
  AlternateStack& operator=(const AlternateStack&) = delete;

 private:
  static constexpr std::size_t kSize = 64 * 1024;
  void* memory_;
};

}  // namespace gorge::internal

#endif  // GORGE_CORE_INTERNAL_FAULT_H_
