#include "gorge/tests/support/census.h"

#include <array>
#include <cinttypes>
#include <cstdint>

#include "gorge/core/internal/goroutine.h"
#include "gorge/core/internal/lifecycle.h"
#include "gorge/core/internal/scheduler.h"
#include "gorge/core/internal/stack.h"

namespace gorge::testing {
namespace {

using internal::G;
using internal::sched;
using internal::State;

constexpr int kShown = 30;

const char* Name(State state) {
  switch (state) {
    case State::kIdle:
      return "idle";
    case State::kRunnable:
      return "runnable";
    case State::kRunning:
      return "running";
    case State::kWaiting:
      return "waiting";
    case State::kDead:
      return "dead";
  }
  return "?";
}

// What a P runs next.
template <class RunNext>
const void* Peek(const RunNext& slot) {
  if constexpr (requires { slot.Peek(); }) {
    return slot.Peek();
  } else {
    return slot.load();
  }
}

struct Listing {
  std::FILE* out;
  std::uint32_t epoch;
  int left = kShown;
};

void PrintGoroutine(const G& g, void* argument) {
  auto& listing = *static_cast<Listing*>(argument);
  const State state = g.state.load(std::memory_order_acquire);
  if (!g.BelongsTo(listing.epoch) || state == State::kDead ||
      state == State::kIdle || listing.left == 0) {
    return;
  }
  --listing.left;
  std::fprintf(listing.out, "  goroutine %" PRIu64 " %s: %s", g.id, g.name,
               Name(state));
  if (state == State::kWaiting) {
    std::fprintf(
        listing.out, ", reason %d, object %p",
        static_cast<int>(g.wait_reason.load(std::memory_order_relaxed)),
        g.wait_object.load(std::memory_order_relaxed));
  }
  std::fprintf(listing.out, ", started at %s:%d\n", g.started_at.file,
               g.started_at.line);
}

}  // namespace

Census TakeCensus() {
  struct Visit {
    std::uint32_t epoch;
    Census census;
  } visit{sched.epoch.load(), {}};
  internal::ForEachG(
      [](const G& g, void* argument) {
        auto& v = *static_cast<Visit*>(argument);
        if (!g.BelongsTo(v.epoch)) return;
        switch (g.state.load(std::memory_order_acquire)) {
          case State::kWaiting:
            ++v.census.waiting;
            break;
          case State::kRunnable:
          case State::kRunning:
            ++v.census.active;
            break;
          case State::kIdle:
          case State::kDead:
            break;
        }
      },
      &visit);
  return visit.census;
}

bool AllPsAreIdle() {
  return sched.idle_count.load() ==
             static_cast<std::uint32_t>(internal::CountProcessors()) &&
         sched.spinning.load() == 0;
}

void PrintScheduler(std::FILE* out) {
  const Census census = TakeCensus();
  std::fprintf(
      out,
      "phase %d, epoch %u: %d goroutines parked, %d runnable or running\n"
      "%u Ps, %u idle; %u machines spinning, napper %u; "
      "global queue %" PRId64 "\n",
      static_cast<int>(sched.phase.load()), sched.epoch.load(), census.waiting,
      census.active, sched.processor_count, sched.idle_count.load(),
      sched.spinning.load(), sched.napper.load(), sched.queue.Size());
  if (sched.phase.load() == internal::Phase::kRunning) {
    for (std::uint32_t i = 0; i < sched.processor_count; ++i) {
      const internal::Processor& p = sched.processors[i];
      std::fprintf(out, "  P %u: tick %u, runnext %p, ring %s\n", i,
                   p.tick.load(), Peek(p.runnext),
                   p.ring.Empty() ? "empty" : "not empty");
    }
  }
  Listing listing{out, sched.epoch.load()};
  internal::ForEachG(&PrintGoroutine, &listing);
  if (listing.left == 0) std::fprintf(out, "  ...\n");
}

}  // namespace gorge::testing
