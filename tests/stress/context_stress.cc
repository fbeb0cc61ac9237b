// tests/stress/context_stress.cc -- contexts derived from each other,
// cancelled, awaited and dropped by goroutines and plain threads at once.
// Checked:
//   - when a cancel returns, all below have ended, whoever cancelled them;
//   - Err, Done and Cause tell the same, and never change;
//   - each function is either started or stopped, once;
//   - nothing is left: no context, no goroutine, no timer.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gorge/chan/chan.h"
#include "gorge/context/context.h"
#include "gorge/core/internal/timers.h"
#include "gorge/core/runtime.h"
#include "gorge/select/select.h"
#include "gorge/sync/mutex.h"
#include "gorge/tests/support/counted.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/stress.h"
#include "gorge/time/time.h"

namespace gorge::testing {
namespace {

constexpr Key<Counted> kCounted("counted");

// A context of the user's: that of its parent, but with a Done of its own,
// which ends with the parent.
class Foreign : public ContextInterface {
 public:
  explicit Foreign(const Context& parent)
      : parent_(parent),
        stop_(gorge::AfterFunc(parent, [done = done_] { done.Close(); })) {}
  ~Foreign() override { stop_(); }
  std::optional<absl::Time> Deadline() const override {
    return parent_.Deadline();
  }
  RecvChan<std::monostate> Done() const override { return done_; }
  absl::Status Err() const override {
    return RecvChan<std::monostate>(done_).TryRecv().ready ? parent_.Err()
                                                           : absl::OkStatus();
  }
  const void* Value(const void* key) const override {
    return parent_.Value(key);
  }

 private:
  const Context parent_;
  const Chan<std::monostate> done_ = MakeChan<std::monostate>();
  const StopFunc stop_;
};

void CheckEnded(const Context& ctx) {
  const absl::Status error = ctx.Err();
  if (error.ok()) Fail("a context is live below one that was cancelled");
  if (!ctx.Done().TryRecv().ready) Fail("Err tells, but Done is open");
  const absl::Status cause = Cause(ctx);
  if (cause.ok()) Fail("Err tells, but Cause does not");
  if (ctx.Err() != error || Cause(ctx) != cause) Fail("an end has changed");
}

// Contexts that all know, and replace.
class World {
 public:
  explicit World(StressRound& round) : round_(round) {
    for (Cancelable& slot : slots_) slot = WithCancel(Background());
  }

  void Act() {
    Random random = round_.NewRandom();
    for (int i = Scaled(2'000); i > 0; --i) {
      switch (random.Below(5)) {
        case 0:
          Replace(random);
          break;
        case 1:
          CancelAbove(random);
          break;
        case 2:
          Register(random);
          break;
        case 3:
          Await(random);
          break;
        case 4:
          Look(random);
          break;
      }
      if (OneIn(8, random)) Gosched();
      if (OneIn(500, random)) Stop();
    }
    Progress();
  }

  // When all actors have ended.
  void End() {
    for (Cancelable& slot : slots_) slot.cancel();
    for (Cancelable& slot : slots_) slot = Cancelable();
    testing::Await([this] { return started_ + stopped_ >= registered_; });
    if (started_ + stopped_ != registered_) {
      Fail("%d functions: %d started, %d stopped", +registered_, +started_,
           +stopped_);
    }
  }

 private:
  Cancelable Pick(Random& random) {
    const std::lock_guard hold(mutex_);
    return slots_[random.Below(slots_.size())];
  }

  Cancelable Derive(const Context& parent, Random& random) {
    switch (random.Below(8)) {
      case 0:
        return WithTimeout(parent, absl::Microseconds(random.Below(200)));
      case 1:
        return WithTimeout(parent, absl::Hours(1));
      case 2:
        return WithCancel(WithValue(parent, kCounted, Counted(1)));
      case 3: {
        std::stop_token token;
        {
          const std::lock_guard hold(mutex_);
          token = source_.get_token();
        }
        return WithStopToken(parent, token);
      }
      case 4:
        if (OneIn(4, random)) {
          return WithCancel(Context(std::make_shared<Foreign>(parent)));
        }
        [[fallthrough]];
      default:
        return WithCancel(parent);
    }
  }

  // A slot is cancelled when it is replaced, as its CancelFuncs go.
  void Replace(Random& random) {
    Cancelable next = OneIn(20, random) ? WithCancel(Background())
                                        : Derive(Pick(random).ctx, random);
    const std::lock_guard hold(mutex_);
    std::swap(slots_[random.Below(slots_.size())], next);
  }

  void CancelAbove(Random& random) {
    const Cancelable top = Pick(random);
    // Below a context of the user's the end comes by way of a goroutine.
    std::vector<Cancelable> chain;
    Context ctx = top.ctx;
    for (std::uint32_t i = 1 + random.Below(5); i > 0; --i) {
      chain.push_back(OneIn(3, random)
                          ? WithTimeout(ctx, absl::Hours(1))
                          : WithCancel(WithValue(ctx, kCounted, Counted(2))));
      ctx = chain.back().ctx;
    }
    const Cancelable& which =
        OneIn(2, random) ? top : chain[random.Below(chain.size())];
    const std::size_t first =
        &which == &top ? 0 : static_cast<std::size_t>(&which - chain.data());
    if (OneIn(2, random)) {
      which.cancel(absl::AbortedError("stress"));
    } else {
      which.cancel();
    }
    CheckEnded(which.ctx);
    for (std::size_t i = first; i < chain.size(); ++i) CheckEnded(chain[i].ctx);
  }

  void Register(Random& random) {
    const Cancelable slot = Pick(random);
    ++registered_;
    const StopFunc stop = AfterFunc(slot.ctx, [this] { ++started_; });
    if (OneIn(4, random)) slot.cancel();
    if (OneIn(2, random) && stop()) ++stopped_;
  }

  void Await(Random& random) {
    const Context ctx = Pick(random).ctx;
    const Cancelable bounded =
        WithTimeout(ctx, absl::Microseconds(random.Below(100)));
    if (OneIn(2, random)) {
      bounded.ctx.Done().Recv();
    } else {
      Select(OnRecv(ctx.Done()), OnRecv(bounded.ctx.Done()));
      bounded.cancel();
    }
    CheckEnded(bounded.ctx);
  }

  void Look(Random& random) {
    const Context ctx = Pick(random).ctx;
    if (!ctx.Err().ok()) CheckEnded(ctx);
    const Counted* value = ctx.Value(kCounted);
    if (value != nullptr && value->moved_from()) Fail("a value is gone");
  }

  void Stop() {
    std::stop_source source;
    {
      const std::lock_guard hold(mutex_);
      std::swap(source, source_);
    }
    source.request_stop();
  }

  StressRound& round_;
  Mutex mutex_;
  std::array<Cancelable, 16> slots_;
  std::stop_source source_;
  std::atomic<int> registered_{0};
  std::atomic<int> started_{0};
  std::atomic<int> stopped_{0};
};

void PlayRound(StressRound& round) {
  Random random = round.NewRandom();
  World world(round);
  Crowd crowd;
  for (int i = 0; i < 8; ++i) {
    crowd.Start(OneIn(3, random), [&world] { world.Act(); });
  }
  crowd.Join();
  world.End();
  Await([] {
    return NumGoroutine() == 0 && internal::CountTimers() == 0 &&
           Counted::live == 0;
  });
}

}  // namespace
}  // namespace gorge::testing

int main(int argc, char** argv) {
  return gorge::testing::RunStress(argc, argv, gorge::testing::PlayRound);
}
