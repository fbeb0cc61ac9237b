// core/go.h -- starting goroutines.

#ifndef GORGE_CORE_GO_H_
#define GORGE_CORE_GO_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "gorge/core/internal/check.h"
#include "gorge/core/internal/location.h"
#include "gorge/core/internal/spawn.h"

namespace gorge {

// How a goroutine is started.
struct GoOptions {
  // Shown by crash messages and dumps; its first 31 bytes are copied.
  std::string_view name = {};
  // Bytes that the goroutine's frames may use; 0: the runtime's default, a slot
  // of 256 KiB. A slot is a power of two, of which 20 KiB go to its guard and
  // to the goroutine's own data. Memory is committed page by page, as it is
  // used.
  std::size_t stack_size = 0;
};

namespace internal {

// A call that waits to be made: a callable and its arguments, decay-copied.
template <class F, class... Args>
class BoundCall {
 public:
  template <class G, class... As>
  explicit BoundCall(G&& f, As&&... args)
      : f_(std::forward<G>(f)), args_(std::forward<As>(args)...) {}

  void operator()() && { std::apply(std::move(f_), std::move(args_)); }

 private:
  F f_;
  std::tuple<Args...> args_;
};

// What does not fit in comfortably on the goroutine's stack goes to the heap.
inline constexpr std::size_t kLargestClosure = 2048;

// The body of a goroutine. Destroys the call when it is done, or unwound.
template <class Call>
void RunInPlace(void* closure) {
  std::unique_ptr<Call, void (*)(Call*)> call(
      static_cast<Call*>(closure), [](Call* c) { std::destroy_at(c); });
  std::move (*call)();
}

template <class Call>
void RunFromHeap(void* closure) {
  const std::unique_ptr<Call> call(*static_cast<Call**>(closure));
  std::move (*call)();
}

// The goroutine that is being made; given back if its closure throws.
class Unstarted {
 public:
  explicit Unstarted(const SpawnSpec& spec) : g_(&BeginGoroutine(spec)) {}
  ~Unstarted() {
    if (g_ != nullptr) AbandonGoroutine(*g_);
  }
  Unstarted(const Unstarted&) = delete;
  Unstarted& operator=(const Unstarted&) = delete;

  void* closure() const { return g_->closure; }
  void Start(void (*entry)(void*)) {
    StartGoroutine(*std::exchange(g_, nullptr), entry);
  }

 private:
  G* g_;
};

template <class F, class... Args>
void Spawn(const GoOptions& options, const Location& location, F&& f,
           Args&&... args) {
  using Call = BoundCall<std::decay_t<F>, std::decay_t<Args>...>;
  if constexpr (sizeof(Call) <= kLargestClosure) {
    Unstarted g({sizeof(Call), alignof(Call), options.stack_size, options.name,
                 location});
    ::new (g.closure()) Call(std::forward<F>(f), std::forward<Args>(args)...);
    g.Start(&RunInPlace<Call>);
  } else {
    auto call =
        std::make_unique<Call>(std::forward<F>(f), std::forward<Args>(args)...);
    Unstarted g({sizeof(Call*), alignof(Call*), options.stack_size,
                 options.name, location});
    ::new (g.closure()) Call*(call.release());
    g.Start(&RunFromHeap<Call>);
  }
}

// True for a null function pointer and for an empty std::function or the like.
template <class F>
bool IsNil(const F& f) {
  if constexpr (std::is_function_v<F> || std::is_empty_v<F>) {
    return false;
  } else if constexpr (std::is_constructible_v<bool, const F&>) {
    return !static_cast<bool>(f);
  } else {
    return false;
  }
}

// What go() takes. The first half is false for the "void&" that clang 14 tries
// when it is given {.name = "..."}, and on which std::decay does not compile.
template <class F, class... Args>
concept Startable = requires(std::remove_reference_t<F>* f) {
  f;
}
&&std::is_invocable_v<std::decay_t<F>, std::decay_t<Args>...>;

// The callable that go() is given, by reference, with the place of the call.
// A parameter of its own type can have defaulted arguments of its own, which
// one before a parameter pack cannot.
template <class... Args>
class Callee {
 public:
  template <class F>
  requires(Startable<F, Args...>)
      // NOLINTNEXTLINE(google-explicit-constructor): go(f) must convert f.
      Callee(F&& f, const char* file = __builtin_FILE(),
             int line = __builtin_LINE())
      : f_(reinterpret_cast<const void*>(std::addressof(f))),
        spawn_(&SpawnAs<F>),
        location_{file, line} {}

  void Spawn(const GoOptions& options, Args... args) const {
    spawn_(options, location_, f_, static_cast<Args&&>(args)...);
  }

 private:
  template <class F>
  static void SpawnAs(const GoOptions& options, const Location& location,
                      const void* f, Args... args) {
    using Object = std::remove_reference_t<F>;
    // Reinterpreted, since it may be a function.
    auto& callable = *reinterpret_cast<Object*>(const_cast<void*>(f));
    if (IsNil(callable)) RaisePanic("go of nil func value");
    internal::Spawn(options, location, std::forward<F>(callable),
                    static_cast<Args&&>(args)...);
  }

  const void* f_;
  void (*spawn_)(const GoOptions&, const Location&, const void*, Args...);
  Location location_;
};

}  // namespace internal

// Starts f(args...) as a goroutine of its own. Callable and arguments are
// decay-copied, as std::thread does; move-only ones work. What f returns is
// dropped. It may run before go() returns, or later, on any worker thread, and
// from one blocking call to the next on different ones.
//
// An exception that leaves f ends the process; see core/panic.h.
//
// Blocks:   never. Starts the runtime on first use.
// Panics:   "go of nil func value".
// Throws:   what copying callable or arguments throws; nothing is started then.
// Ordering: what precedes go() happens before f.
// Go:       the go statement.
template <class... Args>
void go(std::type_identity_t<internal::Callee<Args&&...>> f, Args&&... args) {
  f.Spawn({}, std::forward<Args>(args)...);
}

// The same with a name or a stack size of its own.
//
// Panics: as above, and if the stack size is out of range.
template <class... Args>
void go(const GoOptions& options,
        std::type_identity_t<internal::Callee<Args&&...>> f, Args&&... args) {
  f.Spawn(options, std::forward<Args>(args)...);
}

}  // namespace gorge

#endif  // GORGE_CORE_GO_H_
