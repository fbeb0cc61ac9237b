// tests/support/allocations.h -- counts what operator new gives.
//
// Defines operator new and delete for the whole program, so only one file of it
// may include this. A sanitizer brings its own: then nothing is counted.

#ifndef GORGE_TESTS_SUPPORT_ALLOCATIONS_H_
#define GORGE_TESTS_SUPPORT_ALLOCATIONS_H_

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>

#include "gorge/core/internal/sanitizer.h"

namespace gorge::testing {

struct Allocations {
  int blocks;
  std::size_t bytes;
};

inline std::atomic<int> allocated_blocks{0};
inline std::atomic<std::size_t> allocated_bytes{0};

// What f() allocates, in whatever thread.
template <class F>
Allocations AllocationsOf(F&& f) {
  const int blocks = allocated_blocks;
  const std::size_t bytes = allocated_bytes;
  std::forward<F>(f)();
  return {allocated_blocks - blocks, allocated_bytes - bytes};
}

}  // namespace gorge::testing

#if !GORGE_ASAN && !GORGE_TSAN

// None is inlined: the compiler would take malloc and free for a mistake.

[[gnu::noinline]] void* operator new(std::size_t size,
                                     std::align_val_t alignment) {
  ++gorge::testing::allocated_blocks;
  gorge::testing::allocated_bytes += size;
  const auto align = static_cast<std::size_t>(alignment);
  void* memory = nullptr;
  if (align <= __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
    memory = std::malloc(size);
  } else if (posix_memalign(&memory, align, size) != 0) {
    memory = nullptr;
  }
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void* operator new(std::size_t size) {
  return operator new (size, std::align_val_t{1});
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory,
                                       std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t,
                                       std::align_val_t) noexcept {
  std::free(memory);
}

#endif  // !GORGE_ASAN && !GORGE_TSAN

#endif  // GORGE_TESTS_SUPPORT_ALLOCATIONS_H_
