#include "gorge/core/internal/fault.h"

#include <signal.h>
#include <sys/mman.h>

#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstdlib>

#include "gorge/core/internal/check.h"
#include "gorge/core/internal/goroutine.h"
#include "gorge/core/internal/machine.h"

namespace gorge::internal {
namespace {

struct sigaction previous_segv;
struct sigaction previous_bus;

void WriteNumber(std::uint64_t number) {
  char digits[24] = {};
  std::to_chars(digits, digits + sizeof digits - 1, number);
  WriteError(digits);
}

// "goroutine 7 [reader], started at main.cc:12"
void DescribeGoroutine(const G& g) {
  WriteError("goroutine ");
  WriteNumber(g.id);
  if (g.name[0] != '\0') {
    WriteError(" [");
    WriteError(g.name);
    WriteError("]");
  }
  WriteError(", started at ");
  WriteError(g.started_at.file);
  WriteError(":");
  WriteNumber(static_cast<std::uint64_t>(g.started_at.line));
}

void Chain(const struct sigaction& previous, int signal, siginfo_t* info,
           void* context) {
  if ((previous.sa_flags & SA_SIGINFO) != 0) {
    previous.sa_sigaction(signal, info, context);
  } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal);
  } else if (info->si_code > 0) {
    // Returning repeats the fault, which now has its default effect.
    ::sigaction(signal, &previous, nullptr);
  } else if (previous.sa_handler == SIG_DFL) {
    // Sent by kill() or the like: nothing would repeat it.
    ::sigaction(signal, &previous, nullptr);
    ::raise(signal);
  }
}

void OnFault(int signal, siginfo_t* info, void* context) {
  const G& self = *Self();
  if (self.id != 0 && InGuard(self.stack, info->si_addr)) {
    BeginReport();
    WriteError("fatal error: stack overflow\nthe stack of ");
    DescribeGoroutine(self);
    WriteError(", has ");
    WriteNumber(
        static_cast<std::uint64_t>(self.stack.end() - self.stack.bottom()) /
        1024);
    WriteError(" KiB; GoOptions::stack_size gives it more\n");
    ::signal(SIGABRT, SIG_DFL);
    std::abort();  // Also if SIGABRT is blocked.
  }
  Chain(signal == SIGSEGV ? previous_segv : previous_bus, signal, info,
        context);
}

bool Install() {
  struct sigaction action {};
  action.sa_sigaction = &OnFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGSEGV, &action, &previous_segv);
  ::sigaction(SIGBUS, &action, &previous_bus);
  SetGoroutineDescriber(&DescribeRunningGoroutine);
  return true;
}

}  // namespace

void InstallFaultHandler() {
  [[maybe_unused]] static const bool installed = Install();
}

void DescribeRunningGoroutine() {
  const G& self = *Self();
  if (self.id == 0) return;  // A thread, or the scheduler.
  WriteError("in ");
  DescribeGoroutine(self);
  WriteError("\n");
}

AlternateStack::AlternateStack() {
  memory_ = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  GORGE_CHECK(memory_ != MAP_FAILED, "a thread that starts has memory");
  stack_t stack{};
  stack.ss_sp = memory_;
  stack.ss_size = kSize;
  ::sigaltstack(&stack, nullptr);
}

AlternateStack::~AlternateStack() {
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  ::sigaltstack(&none, nullptr);
  ::munmap(memory_, kSize);
}

}  // namespace gorge::internal
