#include "gorge/core/internal/check.h"

#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace gorge::internal {
namespace {

std::atomic<void (*)()> goroutine_describer{nullptr};

[[noreturn]] void DescribeAndAbort() {
  // Acquire: pairs with the release in SetGoroutineDescriber.
  if (auto* describe = goroutine_describer.load(std::memory_order_acquire)) {
    describe();
  }
  std::abort();
}

}  // namespace

void RaisePanic(const char* text) { throw Panic(text); }

void WriteError(const char* text) {
  std::size_t left = std::strlen(text);
  while (left > 0) {
    const ssize_t written = ::write(STDERR_FILENO, text, left);
    if (written <= 0) return;
    text += written;
    left -= static_cast<std::size_t>(written);
  }
}

void Fatal(const char* text) {
  WriteError("fatal error: ");
  WriteError(text);
  WriteError("\n");
  DescribeAndAbort();
}

void CheckFailed(const char* file, int line, const char* text) {
  char digits[16] = {};
  std::to_chars(digits, digits + sizeof digits - 1, line);
  WriteError("gorge: broken invariant at ");
  WriteError(file);
  WriteError(":");
  WriteError(digits);
  WriteError(": ");
  WriteError(text);
  WriteError("\n");
  DescribeAndAbort();
}

void SetGoroutineDescriber(void (*describe)()) {
  goroutine_describer.store(describe, std::memory_order_release);
}

}  // namespace gorge::internal
