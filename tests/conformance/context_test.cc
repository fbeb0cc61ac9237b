// Contexts: causes, a context of the user's own with a cause, and cancels that
// wait for each other. Answers context/x_test.go and context/context_test.go;
// each case has the name of the test it answers.

#include "gorge/context/context.h"

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gorge/chan/chan.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/mutex.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::kKinds;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::gorge::testing::Team;

const absl::Status kOk = absl::OkStatus();
const absl::Status kCanceled = absl::CancelledError("context canceled");
const absl::Status kExceeded =
    absl::DeadlineExceededError("context deadline exceeded");
const absl::Status kParent = absl::AbortedError("parent");
const absl::Status kChild = absl::NotFoundError("child");
const absl::Status kLate = absl::UnavailableError("too late");
constexpr absl::Duration kLong = absl::Hours(1);

class ContextConformanceTest : public RuntimeTest {};
GORGE_INSTANTIATE(ContextConformanceTest);

// -- Cause.

// A context with one above it, ended or not, and what it then says.
struct Row {
  const char* name;
  // Returns the context; keeps alive what it needs.
  std::function<Context(std::vector<Cancelable>& kept)> make;
  absl::Status error;
  absl::Status cause;
};

Context Keep(std::vector<Cancelable>& kept, Cancelable made) {
  kept.push_back(std::move(made));
  return kept.back().ctx;
}

// A child below a parent, both with a cause, cancelled in this order.
Context ParentThenChild(std::vector<Cancelable>& kept,
                        const absl::Status& parent, const absl::Status& child) {
  Keep(kept, WithCancelCause(Background()));
  const Context ctx = Keep(kept, WithCancelCause(kept[0].ctx));
  kept[0].cancel(parent);
  kept[1].cancel(child);
  return ctx;
}
Context ChildThenParent(std::vector<Cancelable>& kept,
                        const absl::Status& parent, const absl::Status& child) {
  Keep(kept, WithCancelCause(Background()));
  const Context ctx = Keep(kept, WithCancelCause(kept[0].ctx));
  kept[1].cancel(child);
  kept[0].cancel(parent);
  return ctx;
}

using Kept = std::vector<Cancelable>;

const Row kRows[] = {
    {"Background", [](Kept&) { return Background(); }, kOk, kOk},
    {"TODO", [](Kept&) { return TODO(); }, kOk, kOk},
    {"a live one",
     [](Kept& kept) { return Keep(kept, WithCancelCause(Background())); }, kOk,
     kOk},
    {"a cancel without a cause",
     [](Kept& kept) {
       const Context ctx = Keep(kept, WithCancel(Background()));
       kept[0].cancel();
       return ctx;
     },
     kCanceled, kCanceled},
    {"a cause",
     [](Kept& kept) {
       const Context ctx = Keep(kept, WithCancelCause(Background()));
       kept[0].cancel(kParent);
       return ctx;
     },
     kCanceled, kParent},
    {"no cause",
     [](Kept& kept) {
       const Context ctx = Keep(kept, WithCancelCause(Background()));
       kept[0].cancel(kOk);
       return ctx;
     },
     kCanceled, kCanceled},
    {"the parent's, then the child's",
     [](Kept& kept) { return ParentThenChild(kept, kParent, kChild); },
     kCanceled, kParent},
    {"the parent's, then none of the child",
     [](Kept& kept) { return ParentThenChild(kept, kParent, kOk); }, kCanceled,
     kParent},
    {"none of the parent, then the child's",
     [](Kept& kept) { return ParentThenChild(kept, kOk, kChild); }, kCanceled,
     kCanceled},
    {"the child's, then the parent's",
     [](Kept& kept) { return ChildThenParent(kept, kParent, kChild); },
     kCanceled, kChild},
    {"the child's, then none of the parent",
     [](Kept& kept) { return ChildThenParent(kept, kOk, kChild); }, kCanceled,
     kChild},
    {"none of the child, then the parent's",
     [](Kept& kept) { return ChildThenParent(kept, kParent, kOk); }, kCanceled,
     kCanceled},
    {"a timeout",
     [](Kept& kept) {
       return Keep(kept, WithTimeout(Background(), absl::ZeroDuration()));
     },
     kExceeded, kExceeded},
    {"a cancel before a timeout",
     [](Kept& kept) {
       const Context ctx = Keep(kept, WithTimeout(Background(), kLong));
       kept[0].cancel();
       return ctx;
     },
     kCanceled, kCanceled},
    {"a timeout with a cause",
     [](Kept& kept) {
       return Keep(kept,
                   WithTimeoutCause(Background(), absl::ZeroDuration(), kLate));
     },
     kExceeded, kLate},
    {"a cancel before a timeout with a cause",
     [](Kept& kept) {
       const Context ctx =
           Keep(kept, WithTimeoutCause(Background(), kLong, kLate));
       kept[0].cancel();
       return ctx;
     },
     kCanceled, kCanceled},
    {"a timeout with a cause below a cause",
     [](Kept& kept) {
       Keep(kept, WithCancelCause(Background()));
       const Context ctx = Keep(
           kept, WithTimeoutCause(kept[0].ctx, absl::ZeroDuration(), kLate));
       kept[0].cancel(kParent);
       return ctx;
     },
     kExceeded, kLate},
    {"a cause above a timeout that has not passed",
     [](Kept& kept) {
       Keep(kept, WithCancelCause(Background()));
       const Context ctx =
           Keep(kept, WithTimeoutCause(kept[0].ctx, kLong, kLate));
       kept[0].cancel(kParent);
       return ctx;
     },
     kCanceled, kParent},
    {"a later timeout below one that has passed",
     [](Kept& kept) {
       Keep(kept, WithTimeoutCause(Background(), absl::ZeroDuration(), kLate));
       return Keep(kept, WithTimeoutCause(kept[0].ctx, kLong, kChild));
     },
     kExceeded, kLate},
    {"cut off",
     [](Kept& kept) {
       const Context ctx = WithoutCancel(Keep(kept, WithCancel(Background())));
       kept[0].cancel(kParent);
       return ctx;
     },
     kOk, kOk},
    {"below a cut",
     [](Kept& kept) {
       Keep(kept, WithCancelCause(Background()));
       const Context ctx =
           Keep(kept, WithCancelCause(WithoutCancel(kept[0].ctx)));
       kept[1].cancel(kChild);
       kept[0].cancel(kParent);
       return ctx;
     },
     kCanceled, kChild},
    {"a timeout below a cut",
     [](Kept& kept) {
       Keep(kept, WithCancelCause(Background()));
       kept[0].cancel(kParent);
       return Keep(
           kept, WithTimeout(WithoutCancel(kept[0].ctx), absl::ZeroDuration()));
     },
     kExceeded, kExceeded},
};

TEST_P(ContextConformanceTest, Cause) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.name);
    Kept kept;
    const Context ctx = row.make(kept);
    EXPECT_EQ(ctx.Err(), row.error);
    EXPECT_EQ(gorge::Cause(ctx), row.cause);
  }
}

// -- Contexts of the user's own.

// Has a Done and an error of its own, and the values of the context it wraps;
// its cancel calls that of a child, after it has let go of its lock.
class Own : public ContextInterface {
 public:
  explicit Own(Context above) : above_(std::move(above)) {}

  std::optional<absl::Time> Deadline() const override { return std::nullopt; }
  RecvChan<std::monostate> Done() const override { return done_; }
  absl::Status Err() const override {
    const std::lock_guard hold(mutex_);
    return error_;
  }
  const void* Value(const void* key) const override {
    return above_.Value(key);
  }

  void CallOnCancel(CancelFunc cancel) { child_ = std::move(cancel); }
  void Cancel() {
    {
      const std::lock_guard hold(mutex_);
      if (!error_.ok()) return;
      error_ = kCanceled;
      done_.Close();
    }
    child_();
  }

 private:
  const Context above_;
  const Chan<std::monostate> done_ = MakeChan<std::monostate>();
  mutable Mutex mutex_;
  absl::Status error_;  // Guarded by mutex_.
  CancelFunc child_;
};

void ExpectEnded(const Context& ctx, const absl::Status& error,
                 const absl::Status& cause) {
  EXPECT_EQ(ctx.Err(), error);
  EXPECT_EQ(gorge::Cause(ctx), cause);
}

class CustomContextCauseTest : public RuntimeTest {
 protected:
  // Above is one of ours with a cause, below another.
  static void InFourSituations(
      const std::function<void(const CancelFunc& above,
                               const std::shared_ptr<Own>& own,
                               const Context& ctx, const Context& child,
                               const CancelFunc& cancel_child)>& body) {
    Run([&] {
      auto [above, cancel_above] = WithCancelCause(Background());
      const auto own = std::make_shared<Own>(above);
      const Context ctx = own;
      auto [child, cancel_child] = WithCancelCause(ctx);
      own->CallOnCancel(cancel_child);
      body(cancel_above, own, ctx, child, cancel_child);
      own->Cancel();
      own->CallOnCancel(CancelFunc());
    });
  }
};
GORGE_INSTANTIATE(CustomContextCauseTest);

TEST_P(CustomContextCauseTest, CustomContextCause) {
  // It is live.
  InFourSituations([](const CancelFunc&, const std::shared_ptr<Own>&,
                      const Context& ctx, const Context& child,
                      const CancelFunc&) {
    ExpectEnded(ctx, kOk, kOk);
    ExpectEnded(child, kOk, kOk);
  });
  // It has ended.
  InFourSituations([](const CancelFunc&, const std::shared_ptr<Own>& own,
                      const Context& ctx, const Context& child,
                      const CancelFunc&) {
    own->Cancel();
    ExpectEnded(ctx, kCanceled, kCanceled);
    child.Done().Recv();
    ExpectEnded(child, kCanceled, kCanceled);
  });
  // The one above has ended, it has not: it is its own Done that counts.
  InFourSituations([](const CancelFunc& above, const std::shared_ptr<Own>& own,
                      const Context& ctx, const Context& child,
                      const CancelFunc&) {
    above(kParent);
    EXPECT_EQ(ctx.Err(), kOk);
    ExpectEnded(child, kOk, kOk);
    own->Cancel();
    ExpectEnded(ctx, kCanceled, kParent);
    child.Done().Recv();
    EXPECT_EQ(child.Err(), kCanceled);
  });
  // The one below has ended with a cause, and nobody else is touched.
  InFourSituations([](const CancelFunc&, const std::shared_ptr<Own>& own,
                      const Context& ctx, const Context& child,
                      const CancelFunc& cancel_child) {
    cancel_child(kChild);
    ExpectEnded(child, kCanceled, kChild);
    ExpectEnded(ctx, kOk, kOk);
    own->Cancel();
    ExpectEnded(ctx, kCanceled, kCanceled);
    ExpectEnded(child, kCanceled, kChild);
  });
}

// -- Cancels.

// Cancelled by one who waits for the parent to end, while the parent's end is
// on its way to it.
TEST_P(ContextConformanceTest, InterlockedCancels) {
  for (int round = 0; round < Scaled(500) + 4; ++round) {
    auto [parent, cancel_parent] = WithCancel(Background());
    auto [child, cancel_child] = WithCancel(parent);
    Team team;
    team.Go(kKinds[round % 2],
            [&parent = parent, &cancel_child = cancel_child] {
              parent.Done().Recv();
              cancel_child();
            });
    team.Go(kKinds[round / 2 % 2],
            [&child = child, &cancel_parent = cancel_parent] {
              child.Done().Recv();
              cancel_parent();
            });
    cancel_parent();
    child.Done().Recv();
    EXPECT_EQ(child.Err(), kCanceled);
  }
}

}  // namespace
}  // namespace gorge
