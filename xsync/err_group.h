// xsync/err_group.h -- goroutines that work on one task, the first error of
// which ends it.
//
//   auto [group, ctx] = gorge::ErrGroup::WithContext(parent);
//   for (const Url& url : urls) {
//     group.Go([&, &ctx = ctx] { return Fetch(ctx, url); });
//   }
//   return group.Wait();

#ifndef GORGE_XSYNC_ERR_GROUP_H_
#define GORGE_XSYNC_ERR_GROUP_H_

#include <functional>
#include <type_traits>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "gorge/chan/chan.h"
#include "gorge/context/context.h"
#include "gorge/core/panic.h"
#include "gorge/sync/once.h"
#include "gorge/sync/wait_group.h"

namespace gorge {

// An exception that leaves a function ends the process, as in any goroutine;
// one that calls Goexit has no error. Neither copyable nor movable.
//
// Go: golang.org/x/sync/errgroup.
class ErrGroup {
 public:
  struct AndContext;

  // Without a context: an error ends nothing.
  ErrGroup() = default;
  // Waits; before that, ends the context.
  ~ErrGroup();
  ErrGroup(const ErrGroup&) = delete;
  ErrGroup& operator=(const ErrGroup&) = delete;

  // A group, and a context for what it does: derived from `parent`, it ends as
  // soon as a function returns an error, which is its Cause, or Wait returns.
  static AndContext WithContext(const Context& parent);

  // Starts f() -> absl::Status as a goroutine.
  //
  // Blocks:   while as many run as the limit allows.
  // Panics:   "go of nil func value".
  // Ordering: what f does happens before the return of Wait.
  template <class F>
  void Go(F&& f, const char* file = __builtin_FILE(),
          int line = __builtin_LINE()) {
    CheckNotNil(f);
    if (tokens_) tokens_.Send({});
    Start(std::forward<F>(f), file, line);
  }

  // The same if the limit allows it now; else false, and f was not moved from.
  //
  // Blocks: never.
  // Panics: "go of nil func value".
  template <class F>
  [[nodiscard]] bool TryGo(F&& f, const char* file = __builtin_FILE(),
                           int line = __builtin_LINE()) {
    CheckNotNil(f);
    if (tokens_ && !tokens_.TrySend({})) return false;
    Start(std::forward<F>(f), file, line);
    return true;
  }

  // Returns the error of the function that was the first to return one, once
  // all have ended. Ends the context.
  //
  // Blocks: until then.
  absl::Status Wait();

  // At most `limit` goroutines run at a time, none if it is zero; any number if
  // it is negative, as without this call.
  //
  // Blocks: never.
  // Panics: "errgroup: modify limit while goroutines in the group are still
  //         active".
  void SetLimit(int limit);

 private:
  explicit ErrGroup(CancelFunc cancel) : cancel_(std::move(cancel)) {}

  // Gives the token back at the end of a goroutine, also after Goexit.
  struct Running {
    const Chan<std::monostate>& tokens;
    ~Running() {
      if (tokens) static_cast<void>(tokens.Recv());
    }
  };

  template <class F>
  static void CheckNotNil(const F& f) {
    if constexpr (!std::is_function_v<F> && requires { f == nullptr; }) {
      if (f == nullptr) throw Panic("go of nil func value");
    }
  }

  template <class F>
  void Start(F&& f, const char* file, int line) {
    static_assert(std::is_invocable_r_v<absl::Status, std::decay_t<F>>,
                  "a function of an ErrGroup returns absl::Status");
    const auto run = [this](auto& function) {
      absl::Status status = std::invoke(std::move(function));
      if (!status.ok()) Fail(std::move(status));
    };
    try {
      all_.Go(
          [this, run,
           function = std::decay_t<F>(std::forward<F>(f))]() mutable {
            const Running running{tokens_};
            run(function);
          },
          file, line);
    } catch (...) {
      if (tokens_) static_cast<void>(tokens_.Recv());
      throw;
    }
  }

  void Fail(absl::Status status);

  CancelFunc cancel_;
  Chan<std::monostate> tokens_;  // One in it for each goroutine. Nil: no limit.
  Once failed_;
  absl::Status error_;  // Set once, under failed_.
  WaitGroup all_;
};

struct ErrGroup::AndContext {
  ErrGroup group;
  Context ctx;
};

}  // namespace gorge

#endif  // GORGE_XSYNC_ERR_GROUP_H_
