#include "gorge/core/internal/sanitizer.h"

#include "gorge/core/internal/goroutine.h"

#if GORGE_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#endif
#if GORGE_TSAN
#include <sanitizer/tsan_interface.h>
#endif
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif

namespace gorge::internal {

#if GORGE_ASAN

void AdoptThread(G&) {}

void PrepareFiber(G& g) {
  g.context.fake_stack = nullptr;
  // Poison left by the previous goroutine's frames.
  __asan_unpoison_memory_region(g.context.bottom, g.context.size);
}

void ReleaseFiber(G& g) {
  // The next closure is written to this stack before PrepareFiber.
  __asan_unpoison_memory_region(g.context.bottom, g.context.size);
}

void StartSwitch(G& from, G& to, bool from_dies) {
  __sanitizer_start_switch_fiber(from_dies ? nullptr : &from.context.fake_stack,
                                 to.context.bottom, to.context.size);
}

void FinishSwitch(G& arrived, G& from) {
  // The bounds of `from` come back: that is how a g0 learns its own.
  __sanitizer_finish_switch_fiber(arrived.context.fake_stack,
                                  &from.context.bottom, &from.context.size);
}

void SkipFrames() { __asan_handle_no_return(); }

#elif GORGE_TSAN

void AdoptThread(G& g) { g.context.tsan_fiber = __tsan_get_current_fiber(); }

void PrepareFiber(G& g) { g.context.tsan_fiber = __tsan_create_fiber(0); }

void ReleaseFiber(G& g) { __tsan_destroy_fiber(g.context.tsan_fiber); }

// Not instrumented: it would be entered on one fiber's shadow stack and left on
// another's.
#if defined(__clang__)
__attribute__((disable_sanitizer_instrumentation))
#else
__attribute__((no_sanitize_thread))
#endif
void StartSwitch(G&, G& to, bool) {
  // Flag 0: the switch orders memory, as it does on one thread.
  __tsan_switch_to_fiber(to.context.tsan_fiber, 0);
}

void FinishSwitch(G&, G&) {}

void SkipFrames() {}

#endif

void RegisterStack([[maybe_unused]] char* low,
                   [[maybe_unused]] std::size_t size) {
#if GORGE_ASAN
  __lsan_register_root_region(low, size);
#endif
#if defined(VALGRIND_STACK_REGISTER)
  VALGRIND_STACK_REGISTER(low, low + size);
#endif
}

}  // namespace gorge::internal
