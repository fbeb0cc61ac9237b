#include "gorge/core/internal/check.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace gorge::internal {
namespace {

std::atomic<void (*)()> goroutine_describer{nullptr};

// The thread that reports, or 0.
std::atomic<pid_t> reporter{0};

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

void BeginReport() {
  const pid_t self = ::gettid();
  while (true) {
    pid_t other = 0;
    // Relaxed: the reports themselves share nothing.
    if (reporter.compare_exchange_strong(other, self,
                                         std::memory_order_relaxed) ||
        other == self) {
      return;
    }
    if (::syscall(SYS_tgkill, ::getpid(), other, 0) != 0) {
      // It is of the process that this one was forked from.
      reporter.compare_exchange_strong(other, 0, std::memory_order_relaxed);
      continue;
    }
    constexpr timespec kLookAgain{.tv_sec = 0, .tv_nsec = 10'000'000};
    ::nanosleep(&kLookAgain, nullptr);
  }
}

void Fatal(const char* text) {
  BeginReport();
  WriteError("fatal error: ");
  WriteError(text);
  WriteError("\n");
  DescribeAndAbort();
}

void CheckFailed(const char* file, int line, const char* text) {
  char digits[16] = {};
  std::to_chars(digits, digits + sizeof digits - 1, line);
  BeginReport();
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
