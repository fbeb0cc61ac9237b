// sync/once.h -- what is done once.
//
//   gorge::Once once;
//   once.Do([] { Load(); });
//
//   auto config = gorge::OnceValue([] { return ReadConfig(); });
//   Use(config());

#ifndef GORGE_SYNC_ONCE_H_
#define GORGE_SYNC_ONCE_H_

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

#include "gorge/core/internal/check.h"
#include "gorge/sync/mutex.h"

namespace gorge {

// Constant-initialisable; neither copyable nor movable. Go: sync.Once.
class Once {
 public:
  constexpr Once() = default;
  Once(const Once&) = delete;
  Once& operator=(const Once&) = delete;

  // Calls f() if this is the first call of Do for this Once; f counts as done
  // even if it throws or calls Goexit.
  //
  // Blocks:   until the first call's f is done; for ever if f calls Do.
  // Throws:   what f throws, in the first call.
  // Ordering: what f does happens before the return of every Do.
  // Go:       (*Once).Do.
  template <class F>
  void Do(F&& f) {
    // Acquire: pairs with the release in DoSlow.
    if (!done_.load(std::memory_order_acquire)) DoSlow(std::forward<F>(f));
  }

 private:
  template <class F>
  void DoSlow(F&& f) {
    const std::lock_guard hold(mutex_);
    if (done_.load(std::memory_order_relaxed)) return;
    struct Finish {
      std::atomic<bool>& done;
      // Release: publishes what f has done.
      ~Finish() { done.store(true, std::memory_order_release); }
    } finish{done_};
    std::invoke(std::forward<F>(f));
  }

  std::atomic<bool> done_{false};
  Mutex mutex_;
};

namespace internal {

// The state that the copies of a OnceFunc or OnceValue share. T is void for the
// former.
template <class F, class T>
struct OnceCall {
  explicit OnceCall(F&& function)
      : f(std::make_unique<F>(std::move(function))) {}

  void Run() {
    once.Do([this] {
      const std::unique_ptr<F> function =
          std::move(f);  // Gone when it is done.
      try {
        if constexpr (std::is_void_v<T>) {
          std::invoke(*function);
        } else {
          value.emplace(std::invoke(*function));
        }
        returned = true;
      } catch (...) {
        thrown = std::current_exception();
        if (thrown == nullptr) throw;  // Goexit.
      }
    });
    if (thrown != nullptr) std::rethrow_exception(thrown);
    if (!returned) RaisePanic("sync: the function of a OnceFunc called Goexit");
  }

  Once once;
  std::unique_ptr<F> f;
  std::conditional_t<std::is_void_v<T>, bool, std::optional<T>> value{};
  std::exception_ptr thrown;
  bool returned = false;
};

}  // namespace internal

// Returns a function that calls f() the first time it is called. If f throws,
// that call and every later one throws the same. Copies are the same function.
//
// Blocks: its calls, until the first one's f is done.
// Go:     sync.OnceFunc.
template <class F>
[[nodiscard]] auto OnceFunc(F f) {
  auto call = std::make_shared<internal::OnceCall<F, void>>(std::move(f));
  return [call = std::move(call)] { call->Run(); };
}

// Returns a function that returns what f() returned the first time it was
// called: a reference that is valid as long as a copy of the function is.
// Otherwise as OnceFunc. Go: sync.OnceValue.
template <class F>
[[nodiscard]] auto OnceValue(F f) {
  using T = std::decay_t<std::invoke_result_t<F&>>;
  auto call = std::make_shared<internal::OnceCall<F, T>>(std::move(f));
  return [call = std::move(call)]() -> const T& {
    call->Run();
    return *call->value;
  };
}

}  // namespace gorge

#endif  // GORGE_SYNC_ONCE_H_
