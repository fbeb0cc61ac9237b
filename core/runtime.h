// core/runtime.h -- the scheduler as a program sees it. Go: package runtime.
//
// What is not said to block or to panic does neither. All of it may be called
// by goroutines and by plain threads, unless said otherwise.
//
// fork(2): in the child of a process whose runtime runs, only exec and _exit
// are of use; whatever would start or wait for a goroutine is fatal there. If
// the runtime has not been started, or is stopped, both may start one.

#ifndef GORGE_CORE_RUNTIME_H_
#define GORGE_CORE_RUNTIME_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "gorge/core/internal/check.h"
#include "gorge/core/internal/location.h"

namespace gorge {

namespace internal {

// Runs call(argument) as the main goroutine and then stops the runtime. False
// if somebody else stopped it before: then call() may still be running.
bool RunMain(void (*call)(void* argument), void* argument,
             const Location& location);

}  // namespace internal

// Runs main_fn as the main goroutine. When it returns, the goroutines still
// running are abandoned as in Go: stopped where they are, without running any
// destructor of theirs, and never resumed. Returns main_fn's int, 0 for void.
//
// A goroutine is stopped at its next call that blocks, yields or starts a
// goroutine. One that makes no such call for a second is left to run on. An
// abandoned goroutine keeps its place in the queues it waits in: what is sent
// to it later is lost. So a channel should not outlive the Run that it is for.
//
// Blocks:   the calling thread.
// Panics:   in a goroutine; "Run is called while another Run runs"; "Run: the
//           runtime was shut down meanwhile", if somebody calls Shutdown.
// Ordering: what precedes Run happens before main_fn, and main_fn before the
//           return of Run.
// Go:       func main.
template <class F>
int Run(F main_fn, const char* file = __builtin_FILE(),
        int line = __builtin_LINE()) {
  struct Main {
    F f;
    int status = 0;
  };
  auto main = std::make_unique<Main>(Main{std::move(main_fn)});
  const bool ended = internal::RunMain(
      [](void* argument) {
        auto& m = *static_cast<Main*>(argument);
        if constexpr (std::is_void_v<std::invoke_result_t<F&>>) {
          std::invoke(m.f);
        } else {
          m.status = std::invoke(m.f);
        }
      },
      main.get(), {file, line});
  if (!ended) {
    static_cast<void>(main.release());  // It may still be used.
    internal::RaisePanic("Run: the runtime was shut down meanwhile");
  }
  return main->status;
}

// Lets other goroutines run: the caller goes to the end of the global queue.
// In a plain thread: sched_yield(2).
//
// Blocks: the goroutine, until its turn comes again.
void Gosched();

// Ends the calling goroutine, running the destructors of its frames. Not an
// exception: a catch (...) on the way runs and must rethrow (one that does not
// is fatal), handlers for other types are passed by, and a noexcept function
// on the way calls std::terminate; so does the C++ library if it meets a catch
// (...) inside the handler of another exception. Not to be called by what runs
// because of a Goexit. If the main goroutine calls it, Run goes on waiting, as
// in Go.
//
// Panics: in a plain thread.
[[noreturn]] void Goexit();

// The number of goroutines started and not yet ended. Plain threads that take
// part do not count. A snapshot: others start and end meanwhile.
int NumGoroutine();

// The CPUs this process may run on: the affinity mask's, at the time of the
// call.
int NumCPU();

// The number of goroutines that can run at the same time. From Configure, else
// from GORGE_MAXPROCS, else NumCPU(); fixed when the runtime starts, which this
// call brings about. Go: GOMAXPROCS(0).
int MaxProcs();

// How the runtime starts. Zero: the default.
struct Config {
  int max_procs = 0;
  std::size_t stack_size = 0;  // Bytes that a goroutine's frames may use.
};

// Sets how the runtime starts from now on.
//
// Panics: while the runtime runs, and if a value is out of range.
void Configure(const Config& config);

// Stops every worker thread and abandons every goroutine, as at the end of Run;
// the main goroutine, too, if there is one, whose Run then panics. The next use
// starts the runtime again. Does nothing if it does not run.
//
// Blocks: the calling thread, until the goroutines that are running have come
//         to a call that blocks, yields or starts a goroutine; a second at
//         most.
// Panics: in a goroutine.
void Shutdown();

// Returns the memory of pooled stacks to the system; they come back as they are
// needed. Costs about a microsecond for each stack. Go: debug.FreeOSMemory.
//
// Blocks: the thread. Goroutines that start meanwhile may wait for it.
void FreeOSMemory();

}  // namespace gorge

#endif  // GORGE_CORE_RUNTIME_H_
