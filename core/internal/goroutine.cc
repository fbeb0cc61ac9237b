#include "gorge/core/internal/goroutine.h"

#include "gorge/core/internal/sanitizer.h"

namespace gorge::internal {
namespace {

// Initial-exec: one load, in a shared library too.
#define GORGE_TLS \
  static thread_local constinit __attribute__((tls_model("initial-exec")))

// What Self() returns; null in a thread that has not asked yet.
GORGE_TLS G* current = nullptr;

// A plain thread's own G. Has no destructor, so that it can be used by the
// destructors of other thread-local objects.
GORGE_TLS G own;

G* AdoptThisThread() {
  own.is_thread = true;
  own.state.store(State::kRunning, std::memory_order_relaxed);
  own.random = Random(reinterpret_cast<std::uintptr_t>(&own));
  AdoptThread(own);
  current = &own;
  return current;
}

}  // namespace

__attribute__((noinline)) G* Self() {
  asm volatile("" ::: "memory");
  if (current == nullptr) [[unlikely]]
    return AdoptThisThread();
  return current;
}

__attribute__((noinline)) G** SelfSlot() {
  asm volatile("" ::: "memory");
  return &current;
}

}  // namespace gorge::internal
