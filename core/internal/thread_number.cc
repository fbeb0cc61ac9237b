#include "gorge/core/internal/thread_number.h"

#include <atomic>

namespace gorge::internal {
namespace {

// Initial-exec: one load, in a shared library too.
#define GORGE_TLS \
  static thread_local constinit __attribute__((tls_model("initial-exec")))

constexpr int kNotAsked = -2;
constexpr int kNone = -1;

GORGE_TLS int own = kNotAsked;

constinit std::atomic<bool> taken[kThreadNumbers] = {};
constinit std::atomic<int> given{0};

int Take() {
  for (int i = 0; i < kThreadNumbers; ++i) {
    // Acquire: pairs with the release in GiveBack.
    if (taken[i].load(std::memory_order_relaxed) ||
        taken[i].exchange(true, std::memory_order_acquire)) {
      continue;
    }
    int seen = given.load(std::memory_order_relaxed);
    // Seq_cst, and before the number is used: who fences heavily sees it.
    while (seen <= i && !given.compare_exchange_weak(seen, i + 1)) {
    }
    return i;
  }
  return kNone;
}

// Gives the number back at the end of the thread. The destructors of other
// thread-locals may still ask, and get none.
struct GiveBack {
  ~GiveBack() {
    // Release: publishes what was written with the number to the next owner.
    if (own >= 0) taken[own].store(false, std::memory_order_release);
    own = kNone;
  }
};

int AskForNumber() {
  own = Take();
  static thread_local GiveBack at_exit;
  (void)&at_exit;
  return own;
}

}  // namespace

__attribute__((noinline)) int ThreadNumber() {
  asm volatile("" ::: "memory");
  if (own == kNotAsked) [[unlikely]]
    return AskForNumber();
  return own;
}

int ThreadNumbersGiven() { return given.load(std::memory_order_seq_cst); }

}  // namespace gorge::internal
