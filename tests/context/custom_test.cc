// Contexts of the user's own making, as parents.

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gorge/chan/chan.h"
#include "gorge/context/context.h"
#include "gorge/core/go.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/mutex.h"
#include "gorge/tests/support/counted.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::Counted;
using ::gorge::testing::Kind;
using ::gorge::testing::kKinds;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::gorge::testing::Team;

using Signal = std::monostate;

const absl::Status kCanceled = absl::CancelledError("context canceled");
const absl::Status kOwnError = absl::ResourceExhaustedError("own");
constexpr Key<int> kNumber("number");
constexpr Key<Counted> kCounted("counted");

// Passes all on to the context it wraps.
class Wrapper : public ContextInterface {
 public:
  explicit Wrapper(Context parent) : parent_(std::move(parent)) {}
  std::optional<absl::Time> Deadline() const override {
    return parent_.Deadline();
  }
  RecvChan<Signal> Done() const override { return parent_.Done(); }
  absl::Status Err() const override { return parent_.Err(); }
  const void* Value(const void* key) const override {
    return parent_.Value(key);
  }

 private:
  Context parent_;
};

// Ends by a cancel of its own; has the values of the context it wraps. Each
// method takes the lock that Cancel holds.
class OwnDone : public ContextInterface {
 public:
  explicit OwnDone(Context parent = Background())
      : parent_(std::move(parent)) {}
  std::optional<absl::Time> Deadline() const override {
    const std::lock_guard hold(mutex_);
    return std::nullopt;
  }
  RecvChan<Signal> Done() const override {
    const std::lock_guard hold(mutex_);
    return done_;
  }
  absl::Status Err() const override {
    const std::lock_guard hold(mutex_);
    return error_;
  }
  const void* Value(const void* key) const override {
    { const std::lock_guard hold(mutex_); }
    return parent_.Value(key);
  }

  virtual void Cancel(absl::Status error = kOwnError) {
    const std::lock_guard hold(mutex_);
    if (!error_.ok()) return;
    error_ = std::move(error);
    done_.Close();
  }

 protected:
  const Context parent_;
  mutable Mutex mutex_;
  const Chan<Signal> done_ = MakeChan<Signal>();
  absl::Status error_;
};

// Offers AfterFunc as well.
class WithList : public OwnDone {
 public:
  using OwnDone::OwnDone;
  std::optional<StopFunc> AfterFunc(std::function<void()> f) override {
    std::unique_lock hold(mutex_);
    if (called_) {
      hold.unlock();
      f();
      return StopFunc();
    }
    const int id = next_++;
    functions_.emplace(id, std::move(f));
    ++added_;
    return StopFunc([this, id] { return Remove(id); });
  }
  void Cancel(absl::Status error = kOwnError) override {
    OwnDone::Cancel(std::move(error));
    std::map<int, std::function<void()>> functions;
    {
      const std::lock_guard hold(mutex_);
      functions.swap(functions_);
      called_ = true;
    }
    for (auto& [id, f] : functions) f();
  }
  std::size_t size() const {
    const std::lock_guard hold(mutex_);
    return functions_.size();
  }
  int added() const { return added_; }

 private:
  bool Remove(int id) {
    std::function<void()> f;  // Destroyed without the lock.
    const std::lock_guard hold(mutex_);
    const auto found = functions_.find(id);
    if (found == functions_.end()) return false;
    f = std::move(found->second);
    functions_.erase(found);
    return true;
  }

  std::map<int, std::function<void()>> functions_;
  bool called_ = false;
  int next_ = 0;
  std::atomic<int> added_{0};
};

class CustomTest : public RuntimeTest {};
GORGE_INSTANTIATE(CustomTest);

bool HasEnded(const Context& ctx) {
  return !ctx.Err().ok() && ctx.Done().TryRecv().ready;
}

TEST_P(CustomTest, IsAskedThroughItsHandle) {
  const auto own =
      std::make_shared<OwnDone>(WithValue(Background(), kNumber, 7));
  const Context ctx = own;
  EXPECT_EQ(ctx, Context(own));
  EXPECT_NE(ctx, Context(std::make_shared<OwnDone>()));
  EXPECT_TRUE(ctx.Err().ok());
  EXPECT_TRUE(Cause(ctx).ok());
  EXPECT_FALSE(ctx.Deadline().has_value());
  EXPECT_EQ(*ctx.Value(kNumber), 7);
  const RecvChan<Signal> done = ctx.Done();
  EXPECT_FALSE(done.TryRecv().ready);
  own->Cancel();
  EXPECT_TRUE(done.TryRecv().ready);
  EXPECT_EQ(ctx.Err(), kOwnError);
  EXPECT_EQ(Cause(ctx), kOwnError);
  EXPECT_EQ(WithValue(ctx, kNumber, 8).Err(), kOwnError);
}

TEST_P(CustomTest, IsKeptByWhatIsDerivedFromIt) {
  {
    Cancelable child;
    {
      const Context ctx = std::make_shared<Wrapper>(
          WithValue(Background(), kCounted, Counted(1)));
      child = WithCancel(ctx);
    }
    EXPECT_EQ(child.ctx.Value(kCounted)->value(), 1);
  }
  EXPECT_EQ(Counted::live, 0);
}

TEST_P(CustomTest, HandsItsDeadlineDown) {
  const absl::Time soon = absl::Now() + absl::Hours(1);
  const auto [inner, cancel_inner] = WithDeadline(Background(), soon);
  const Context custom = std::make_shared<Wrapper>(inner);
  EXPECT_EQ(custom.Deadline(), soon);
  const auto [later, cancel_later] = WithTimeout(custom, absl::Hours(2));
  EXPECT_EQ(later.Deadline(), soon);
  const auto [child, cancel_child] = WithCancel(WithValue(later, kNumber, 1));
  EXPECT_EQ(child.Deadline(), soon);
  EXPECT_FALSE(WithoutCancel(child).Deadline().has_value());
}

// -- How the end of a user's context reaches what is derived from it.

// With `goroutines` goroutines for each child.
template <class Own>
void ExpectEndsItsChildren(int goroutines) {
  const auto own = std::make_shared<Own>();
  const Context ctx = own;
  const int before = NumGoroutine();
  std::vector<Cancelable> children;
  for (int i = 0; i < 10; ++i) {
    children.push_back(i % 2 == 0 ? WithCancel(WithValue(ctx, kNumber, i))
                                  : WithTimeout(ctx, absl::Hours(1)));
  }
  EXPECT_EQ(NumGoroutine(), before + 10 * goroutines);
  children[0].cancel();
  EXPECT_EQ(children[0].ctx.Err(), kCanceled);
  own->Cancel();
  for (std::size_t i = 1; i < children.size(); ++i) {
    children[i].ctx.Done().Recv();
    EXPECT_EQ(children[i].ctx.Err(), kOwnError);
    EXPECT_EQ(Cause(children[i].ctx), kOwnError);
  }
  EXPECT_EQ(WithCancel(ctx).ctx.Err(), kOwnError);
  while (NumGoroutine() > before) Gosched();
}

TEST_P(CustomTest, WithADoneOfItsOwnCostsAGoroutineForEachChild) {
  Run([] { ExpectEndsItsChildren<OwnDone>(1); });
}

TEST_P(CustomTest, ThatOffersAfterFuncCostsNoGoroutine) {
  Run([] { ExpectEndsItsChildren<WithList>(0); });
}

TEST_P(CustomTest, TheGoroutineEndsWithTheChild) {
  Run([] {
    const Context ctx = std::make_shared<OwnDone>();
    const int before = NumGoroutine();
    {
      auto [one, cancel_one] = WithCancel(ctx);
      auto [two, cancel_two] = WithCancel(ctx);
      const StopFunc stop = AfterFunc(ctx, [] { ADD_FAILURE(); });
      EXPECT_EQ(NumGoroutine(), before + 3);
      cancel_one();
      EXPECT_TRUE(stop());
      Await([&] { return NumGoroutine() == before + 1; });
    }
    Await([&] { return NumGoroutine() == before; });
  });
}

TEST_P(CustomTest, ThatWrapsAContextOfOursCostsNoGoroutineAndEndsWithIt) {
  Run([] {
    auto [inner, cancel_inner] = WithCancelCause(Background());
    const Context ctx = std::make_shared<Wrapper>(
        WithValue(std::make_shared<Wrapper>(inner), kNumber, 1));
    const int before = NumGoroutine();
    auto [one, cancel_one] = WithCancel(ctx);
    auto [two, cancel_two] = WithCancel(ctx);
    auto [below, cancel_below] = WithCancel(two);
    const auto called = MakeChan<Signal>(1);
    AfterFunc(ctx, [called] { called.Send({}); });
    EXPECT_EQ(NumGoroutine(), before);
    cancel_one();
    EXPECT_EQ(one.Err(), kCanceled);
    EXPECT_TRUE(two.Err().ok());

    cancel_inner(absl::AbortedError("why"));

    EXPECT_TRUE(HasEnded(two));
    EXPECT_TRUE(HasEnded(below));
    EXPECT_EQ(Cause(below), absl::AbortedError("why"));
    EXPECT_EQ(Cause(ctx), absl::AbortedError("why"));
    EXPECT_EQ(Cause(one), kCanceled);
    called.Recv();
  });
}

TEST_P(CustomTest, ThatNeverEndsIsNoParentToWaitFor) {
  Run([] {
    const Context ctx = std::make_shared<Wrapper>(Background());
    const int before = NumGoroutine();
    auto [child, cancel] = WithCancel(ctx);
    EXPECT_EQ(NumGoroutine(), before);
    EXPECT_FALSE(ctx.Done());
    cancel();
    EXPECT_TRUE(HasEnded(child));
  });
}

TEST_P(CustomTest, ThatHasEndedEndsTheChildAtOnce) {
  Run([] {
    for (const bool list : {false, true}) {
      const std::shared_ptr<OwnDone> own =
          list ? std::make_shared<WithList>() : std::make_shared<OwnDone>();
      own->Cancel();
      auto [child, cancel] = WithCancel(Context(own));
      EXPECT_TRUE(HasEnded(child));
      EXPECT_EQ(child.Err(), kOwnError);
      const auto called = MakeChan<Signal>();
      AfterFunc(Context(own), [called] { called.Send({}); });
      called.Recv();
    }
  });
}

TEST_P(CustomTest, TakesTheCauseOfTheContextThatItWraps) {
  Run([] {
    // Own Done, so a goroutine passes on the end, with the inner one's cause.
    auto [inner, cancel_inner] = WithCancelCause(Background());
    const auto own = std::make_shared<OwnDone>(inner);
    auto [child, cancel] = WithCancel(Context(own));
    cancel_inner(absl::AbortedError("inner"));
    EXPECT_EQ(Cause(Context(own)), absl::AbortedError("inner"));
    EXPECT_TRUE(child.Err().ok());
    own->Cancel();
    child.Done().Recv();
    EXPECT_EQ(child.Err(), kOwnError);
    EXPECT_EQ(Cause(child), absl::AbortedError("inner"));
  });
}

// -- Registrations with AfterFunc.

TEST_P(CustomTest, AChildThatEndsFirstTakesItsFunctionOff) {
  const auto own = std::make_shared<WithList>();
  auto [child, cancel] = WithCancel(Context(own));
  auto [timed, cancel_timed] = WithTimeout(Context(own), absl::Hours(1));
  const StopFunc stop = AfterFunc(Context(own), [] { ADD_FAILURE(); });
  EXPECT_EQ(own->size(), 3u);
  cancel();
  EXPECT_EQ(own->size(), 2u);
  cancel_timed();
  EXPECT_EQ(own->size(), 1u);
  EXPECT_TRUE(stop());
  EXPECT_EQ(own->size(), 0u);
  own->Cancel();
  EXPECT_EQ(own->added(), 3);
}

TEST_P(CustomTest, AnAfterFuncOnItIsCalled) {
  Run([] {
    const auto called = MakeChan<Signal>();
    const auto own = std::make_shared<WithList>();
    const StopFunc stop =
        AfterFunc(Context(own), [called] { called.Send({}); });
    own->Cancel();
    called.Recv();
    EXPECT_FALSE(stop());
  });
}

TEST_P(CustomTest, CancelsFromAllSidesMeet) {
  Run([] {
    for (int round = 0; round < Scaled(300); ++round) {
      const std::shared_ptr<OwnDone> own = round % 2 == 0
                                               ? std::make_shared<WithList>()
                                               : std::make_shared<OwnDone>();
      std::vector<Cancelable> children;
      for (int i = 0; i < 4; ++i) children.push_back(WithCancel(Context(own)));
      Team team;
      team.Go(kKinds[round / 2 % 2], [own] { own->Cancel(); });
      for (int i = 0; i < 4; ++i) {
        team.Go(kKinds[i % 2], [own, i, child = std::move(children[i])] {
          auto [below, cancel] = WithCancel(child.ctx);
          auto [beside, cancel_beside] = WithCancel(Context(own));
          if (i < 2) child.cancel();
          child.ctx.Done().Recv();
          below.Done().Recv();
          beside.Done().Recv();
          EXPECT_EQ(beside.Err(), kOwnError);
        });
      }
    }
  });
}

// -- Contexts that do not keep their word.

// Done is what it is given; Err is always OK.
class Liar : public Wrapper {
 public:
  explicit Liar(RecvChan<Signal> done)
      : Wrapper(Background()), done_(std::move(done)) {}
  RecvChan<Signal> Done() const override { return done_; }

 private:
  RecvChan<Signal> done_;
};

void ExpectEndedByALiar(const Context& ctx) {
  ctx.Done().Recv();
  EXPECT_EQ(ctx.Err(), kCanceled);
  EXPECT_TRUE(absl::IsInternal(Cause(ctx))) << Cause(ctx);
}

TEST_P(CustomTest, ThatEndsWithoutAnErrorEndsItsChildrenWithAClearCause) {
  Run([] {
    const auto done = MakeChan<Signal>();
    const Context ctx = std::make_shared<Liar>(done);
    auto [before, cancel_before] = WithCancel(ctx);
    done.Close();
    ExpectEndedByALiar(before);
    auto [after, cancel_after] = WithCancel(ctx);
    ExpectEndedByALiar(after);
  });
}

TEST_P(CustomTest, ThatSendsOnDoneEndsTheChildThatGetsIt) {
  Run([] {
    const auto done = MakeChan<Signal>(1);
    const Context ctx = std::make_shared<Liar>(done);
    auto [child, cancel] = WithCancel(ctx);
    done.Send({});
    ExpectEndedByALiar(child);
    done.Send({});
    auto [late, cancel_late] = WithCancel(ctx);
    ExpectEndedByALiar(late);
  });
}

// Each Err is another one.
class Fickle : public OwnDone {
 public:
  absl::Status Err() const override {
    if (OwnDone::Err().ok()) return absl::OkStatus();
    return ++asked_ % 2 == 0 ? kOwnError : absl::UnknownError("another");
  }

 private:
  mutable std::atomic<int> asked_{0};
};

TEST_P(CustomTest, WhoseErrChangesIsTakenAtItsFirstWord) {
  const auto own = std::make_shared<Fickle>();
  const Context ctx = own;
  own->Cancel();
  const absl::Status first = ctx.Err();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ctx.Err(), first);
  auto [child, cancel] = WithCancel(ctx);
  EXPECT_EQ(child.Err(), first);
}

TEST_P(CustomTest, ThatThrowsWhenAChildIsMadeLeavesNothingBehind) {
  class Throws : public OwnDone {
   public:
    using OwnDone::OwnDone;
    std::optional<StopFunc> AfterFunc(std::function<void()>) override {
      throw 7;
    }
  };
  {
    const Context ctx =
        std::make_shared<Throws>(WithValue(Background(), kCounted, Counted(1)));
    EXPECT_THROW(static_cast<void>(WithCancel(ctx)), int);
    EXPECT_THROW(static_cast<void>(WithTimeout(ctx, absl::Hours(1))), int);
    EXPECT_THROW(static_cast<void>(AfterFunc(ctx, [] {})), int);
  }
  EXPECT_EQ(Counted::live, 0);
}

}  // namespace
}  // namespace gorge
