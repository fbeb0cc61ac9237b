// Long chains, many children, and all of it at the same time.

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gorge/chan/chan.h"
#include "gorge/context/context.h"
#include "gorge/core/go.h"
#include "gorge/core/runtime.h"
#include "gorge/select/select.h"
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

const absl::Status kCanceled = absl::CancelledError("context canceled");
constexpr Key<int> kNumber("number");
constexpr Key<int> kOther("other");
constexpr Key<Counted> kCounted("counted");

class TreeTest : public RuntimeTest {};
GORGE_INSTANTIATE(TreeTest);

bool HasEnded(const Context& ctx) {
  return !ctx.Err().ok() && ctx.Done().TryRecv().ready;
}

// The stack of a goroutine has room for a few thousand frames, and what is
// quadratic in these numbers does not end in time.

TEST_P(TreeTest, AMillionValuesAreLookedUpAndDestroyedOnASmallStack) {
  Run([] {
    Context ctx = WithValue(Background(), kCounted, Counted(1));
    ctx = WithValue(ctx, kNumber, 42);
    for (int i = 0; i < Scaled(1'000'000); ++i) ctx = WithValue(ctx, kOther, i);
    EXPECT_EQ(*ctx.Value(kNumber), 42);
    EXPECT_EQ(ctx.Value(Key<int>("none")), nullptr);
    EXPECT_TRUE(ctx.Err().ok());
    ctx = Context();
    EXPECT_EQ(Counted::live, 0);
  });
}

TEST_P(TreeTest, AChainOfCancelsIsCancelledAndDestroyedOnASmallStack) {
  Run([] {
    const int n = Scaled(200'000);
    std::vector<CancelFunc> cancels;
    Context ctx = WithValue(Background(), kNumber, 42);
    ctx = WithValue(ctx, kCounted, Counted(1));
    Context middle;
    for (int i = 0; i < n; ++i) {
      auto [next, cancel] = WithCancel(ctx);
      cancels.push_back(std::move(cancel));
      ctx = next;
      if (i == n / 2) middle = ctx;
    }
    EXPECT_EQ(*ctx.Value(kNumber), 42);
    EXPECT_TRUE(ctx.Err().ok());

    cancels[0](absl::AbortedError("top"));

    EXPECT_EQ(middle.Err(), kCanceled);
    EXPECT_EQ(ctx.Err(), kCanceled);
    EXPECT_EQ(Cause(ctx), absl::AbortedError("top"));
    cancels.clear();
    middle = Context();
    EXPECT_EQ(Counted::live, 1);
    ctx = Context();
    EXPECT_EQ(Counted::live, 0);
  });
}

TEST_P(TreeTest, AChainIsCancelledFromBelowOneByOne) {
  Run([] {
    std::vector<Cancelable> chain;
    Context ctx = Background();
    for (int i = 0; i < Scaled(100'000); ++i) {
      chain.push_back(WithCancel(ctx));
      ctx = chain.back().ctx;
    }
    while (!chain.empty()) {
      if (chain.size() > 1) {
        ASSERT_TRUE(chain[chain.size() - 2].ctx.Err().ok());
      }
      chain.pop_back();
    }
    EXPECT_EQ(ctx.Err(), kCanceled);
  });
}

TEST_P(TreeTest, ManyChildrenHaveAllEndedWhenCancelReturns) {
  Run([] {
    auto [root, cancel_root] = WithCancel(Background());
    std::vector<Cancelable> children;
    for (int i = 0; i < Scaled(100'000); ++i) {
      children.push_back(WithCancel(root));
      if (i % 2 == 0) static_cast<void>(children.back().ctx.Done());
    }
    cancel_root();
    for (const Cancelable& child : children) ASSERT_TRUE(HasEnded(child.ctx));
  });
}

TEST_P(TreeTest, ManyChildrenLeaveInAnyOrder) {
  Run([] {
    auto [root, cancel_root] = WithCancel(Background());
    std::vector<Cancelable> children;
    for (int i = 0; i < Scaled(100'000); ++i) {
      children.push_back(WithCancel(root));
    }
    std::shuffle(children.begin(), children.end(), std::mt19937(7));
    const std::size_t half = children.size() / 2;
    for (std::size_t i = 0; i < half; ++i) {
      children[i].cancel();
      ASSERT_FALSE(children[i].ctx.Err().ok());
    }
    for (std::size_t i = half; i < children.size(); ++i) {
      ASSERT_TRUE(children[i].ctx.Err().ok());
    }
    cancel_root();
    for (const Cancelable& child : children) {
      ASSERT_FALSE(child.ctx.Err().ok());
    }
  });
}

TEST_P(TreeTest, ARootForgetsTheChildrenThatCameAndWent) {
  Run([] {
    auto [root, cancel_root] = WithCancel(Background());
    for (int i = 0; i < Scaled(200'000); ++i) {
      auto [ctx, cancel] = WithCancel(WithValue(root, kCounted, Counted(i)));
      ASSERT_LE(Counted::live, 1);
    }
    EXPECT_EQ(Counted::live, 0);
  });
}

// A tree: each node has `fanout` children, three levels deep, all kinds mixed.
class Tree {
 public:
  Tree(const Context& root, int fanout, bool with_done) {
    Grow(root, fanout, 3, with_done);
  }

  void Grow(const Context& above, int fanout, int levels, bool with_done) {
    if (levels == 0) return;
    for (int i = 0; i < fanout; ++i) {
      Context parent = above;
      if (i % 3 == 1) parent = WithValue(parent, kNumber, i);
      nodes_.push_back(i % 3 == 2 ? WithTimeout(parent, absl::Hours(1))
                                  : WithCancel(parent));
      const Context ctx = nodes_.back().ctx;
      if (with_done) static_cast<void>(ctx.Done());
      Grow(ctx, fanout, levels - 1, with_done);
    }
  }

  bool AllEnded() const {
    return std::all_of(nodes_.begin(), nodes_.end(),
                       [](const Cancelable& n) { return HasEnded(n.ctx); });
  }
  std::vector<Cancelable>& nodes() { return nodes_; }

 private:
  std::vector<Cancelable> nodes_;
};

TEST_P(TreeTest, EveryCancelReturnsWhenAllBelowHaveEnded) {
  Run([] {
    for (int round = 0; round < Scaled(300); ++round) {
      auto [root, cancel] = WithCancel(Background());
      Tree tree(root, 4, round % 2 == 0);
      Team team;
      for (int i = 0; i < 4; ++i) {
        team.Go(kKinds[i % 2], [&tree, cancel = cancel] {
          cancel();
          EXPECT_TRUE(tree.AllEnded());
        });
      }
    }
  });
}

// Those who come while it is being cancelled, and just when it has been, wait
// for each other at one lock: each returns all the same.
TEST_P(TreeTest, ManyCancelsOfOneContextAllReturn) {
  Run([] {
    constexpr int kCallers = 6;
    for (int round = 0; round < Scaled(500); ++round) {
      auto [root, cancel] = WithCancel(Background());
      const Cancelable child = WithCancel(root);
      static_cast<void>(child.ctx.Done());
      std::atomic<int> ready{0};
      Team team;
      for (int i = 0; i < kCallers; ++i) {
        team.Go(kKinds[i % 2], [&, cancel = cancel] {
          ++ready;
          while (ready < kCallers) Gosched();
          cancel();
          EXPECT_TRUE(HasEnded(child.ctx));
        });
      }
    }
  });
}

TEST_P(TreeTest, CancelsOfParentsAndChildrenMeet) {
  Run([] {
    for (int round = 0; round < Scaled(300); ++round) {
      auto [root, cancel] = WithCancel(Background());
      Tree tree(root, 3, round % 2 == 0);
      std::vector<Cancelable>& nodes = tree.nodes();
      Team team;
      for (int i = 0; i < 4; ++i) {
        team.Go(kKinds[i % 2], [&nodes, &tree, i, round, cancel = cancel] {
          if (i == 0) {
            cancel();
            EXPECT_TRUE(tree.AllEnded());
            return;
          }
          std::mt19937 random(static_cast<unsigned>(round * 4 + i));
          for (int k = 0; k < 10; ++k) {
            const Cancelable& node = nodes[random() % nodes.size()];
            node.cancel();
            EXPECT_TRUE(HasEnded(node.ctx));
          }
        });
      }
    }
  });
}

TEST_P(TreeTest, ACancelWaitsForTheOneThatIsAtAChild) {
  Run([] {
    for (int round = 0; round < Scaled(100); ++round) {
      auto [root, cancel_root] = WithCancel(Background());
      auto [middle, cancel_middle] = WithCancel(root);
      std::vector<Cancelable> children;
      for (int i = 0; i < Scaled(2'000); ++i) {
        children.push_back(WithCancel(middle));
      }
      Team team;
      team.Go(Kind::kThread, [cancel = cancel_middle] { cancel(); });
      team.Go(kKinds[round % 2], [&, &middle = middle, &cancel = cancel_root] {
        while (middle.Err().ok()) Gosched();
        cancel();
        for (const Cancelable& child : children) {
          ASSERT_TRUE(HasEnded(child.ctx));
        }
      });
    }
  });
}

// Waits without a system call, as long as that may help.
void SpinUntil(const std::function<bool()>& condition) {
  for (int i = 1; !condition(); ++i) {
    if (i % 256 == 0) std::this_thread::yield();
  }
}

// Two threads that meet again and again, with nothing in between.
class Meeting {
 public:
  void Await(int round) {
    arrived_.fetch_add(1);
    SpinUntil([&] { return arrived_.load() >= 2 * (round + 1); });
  }

 private:
  std::atomic<int> arrived_{0};
};

// Again and again calls is_early(ctx) in one thread, while another cancels that
// context. How often it was true.
template <class F>
int CountEarly(F is_early) {
  const int rounds = Scaled(3'000);
  std::vector<Cancelable> all;
  for (int i = 0; i < rounds; ++i) {
    all.push_back(WithCancel(Background()));
    static_cast<void>(all.back().ctx.Done());
  }
  Meeting meeting;
  std::atomic<int> early{0};
  Team team;
  team.Go(Kind::kThread, [&] {
    for (int i = 0; i < rounds; ++i) {
      meeting.Await(i);
      early += is_early(all[static_cast<std::size_t>(i)].ctx);
    }
  });
  team.Go(Kind::kThread, [&] {
    for (int i = 0; i < rounds; ++i) {
      meeting.Await(i);
      all[static_cast<std::size_t>(i)].cancel();
    }
  });
  team.Wait();
  return early;
}

TEST_P(TreeTest, NoOneSeesTheErrorBeforeDoneIsClosed) {
  EXPECT_EQ(CountEarly([](const Context& ctx) {
              const RecvChan<std::monostate>& done = ctx.Done();
              for (int k = 1; ctx.Err().ok(); ++k) {
                if (k % 256 == 0) std::this_thread::yield();
              }
              return !done.TryRecv().ready;
            }),
            0);
}

TEST_P(TreeTest, NoChildEndsBeforeItsParentIfItIsMadeMeanwhile) {
  EXPECT_EQ(CountEarly([](const Context& ctx) {
              while (true) {
                const auto [child, cancel] = WithCancel(ctx);
                if (!child.Err().ok()) return ctx.Err().ok();
              }
            }),
            0);
}

TEST_P(TreeTest, AllOfManyCancelledAtOnceInAnyOrderEnd) {
  Run([] {
    auto [root, cancel] = WithCancel(Background());
    Tree tree(root, 5, true);
    std::vector<Cancelable> shuffled = tree.nodes();
    std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937(3));
    Team team;
    for (const Cancelable& node : shuffled) {
      team.Go(Kind::kGoroutine, [&node] { node.ctx.Done().Recv(); });
      team.Go(Kind::kGoroutine, [&node] { node.cancel(); });
    }
    team.Wait();
    EXPECT_TRUE(tree.AllEnded());
    EXPECT_TRUE(root.Err().ok());
  });
}

TEST_P(TreeTest, WhoeverSeesTheErrorFindsDoneClosed) {
  Run([] {
    for (int round = 0; round < Scaled(1'000); ++round) {
      auto [ctx, cancel] = WithCancel(Background());
      auto [child, cancel_child] = WithCancel(ctx);
      Team team;
      team.Go(kKinds[round % 2], [&ctx = ctx] {
        while (ctx.Err().ok()) Gosched();
        EXPECT_TRUE(ctx.Done().TryRecv().ready);
        EXPECT_EQ(Cause(ctx), kCanceled);
      });
      team.Go(Kind::kGoroutine, [&child = child, &ctx = ctx] {
        child.Done().Recv();
        EXPECT_EQ(child.Err(), kCanceled);
        // No child ends before its parent.
        EXPECT_EQ(ctx.Err(), kCanceled);
      });
      team.Go(kKinds[(round + 1) % 2], [&ctx = ctx] {
        ctx.Done().Recv();
        EXPECT_EQ(ctx.Err(), kCanceled);
      });
      team.Go(Kind::kGoroutine, [cancel = cancel] { cancel(); });
    }
  });
}

TEST_P(TreeTest, AChildMadeDuringTheCancelEndsToo) {
  Run([] {
    const absl::Status why = absl::AbortedError("why");
    for (int round = 0; round < Scaled(2'000); ++round) {
      auto [ctx, cancel] = WithCancelCause(Background());
      if (round % 2 == 0) static_cast<void>(ctx.Done());
      Team team;
      team.Go(kKinds[round / 2 % 2], [cancel = cancel, why] { cancel(why); });
      for (int i = 0; i < 2; ++i) {
        team.Go(Kind::kGoroutine, [&ctx = ctx, why] {
          auto [child, cancel_child] = WithCancel(WithValue(ctx, kNumber, 1));
          auto [grandchild, cancel_grandchild] = WithCancel(child);
          grandchild.Done().Recv();
          EXPECT_EQ(Cause(grandchild), why);
          EXPECT_EQ(Cause(child), why);
          EXPECT_EQ(Cause(ctx), why);
        });
      }
    }
  });
}

TEST_P(TreeTest, ChildrenComeAndGoOnAllSidesUntilTheEnd) {
  Run([] {
    auto [root, cancel] = WithCancel(Background());
    Team team;
    std::atomic<int> made{0};
    for (int i = 0; i < 4; ++i) {
      team.Go(kKinds[i % 2], [&root = root, &made] {
        while (root.Err().ok()) {
          auto [child, cancel_child] =
              WithCancel(WithValue(root, kCounted, Counted(1)));
          if (made++ % 3 == 0) static_cast<void>(child.Done());
          if (made % 2 == 0) cancel_child();
          if (made % 16 == 0) Gosched();
        }
      });
    }
    Await([&] { return made > Scaled(20'000); });
    cancel();
    team.Wait();
    EXPECT_EQ(Counted::live, 0);
  });
}

TEST_P(TreeTest, WhoWaitsForTheParentMayCancelTheChild) {
  Run([] {
    auto [parent, cancel_parent] = WithCancel(Background());
    auto [child, cancel_child] = WithCancel(parent);
    Team team;
    for (int i = 0; i < 2; ++i) {
      team.Go(kKinds[i], [&parent = parent, &cancel_child = cancel_child] {
        parent.Done().Recv();
        cancel_child();
      });
    }
    cancel_parent();
    team.Wait();
    EXPECT_TRUE(HasEnded(child));
  });
}

TEST_P(TreeTest, LayersOfAllKindsFindTheirValuesAndEnd) {
  Run([] {
    static constexpr Key<int> kKeys[] = {Key<int>("0"), Key<int>("1"),
                                         Key<int>("2"), Key<int>("3")};
    for (unsigned seed = 0; seed < 50; ++seed) {
      std::mt19937 random(seed);
      std::vector<Cancelable> cancels;
      std::vector<int> expected(4, -1);
      auto [root, cancel_root] = WithCancel(Background());
      Context ctx = root;
      for (int layer = 0; layer < 200; ++layer) {
        const auto key = random() % 4;
        switch (random() % 4) {
          case 0:
            cancels.push_back(WithCancel(ctx));
            ctx = cancels.back().ctx;
            break;
          case 1:
            cancels.push_back(WithTimeout(ctx, absl::Hours(1 + layer)));
            ctx = cancels.back().ctx;
            break;
          default:
            ctx = WithValue(ctx, kKeys[key], layer);
            expected[key] = layer;
        }
      }
      for (std::size_t key = 0; key < 4; ++key) {
        const int* value = ctx.Value(kKeys[key]);
        EXPECT_EQ(value == nullptr ? -1 : *value, expected[key]);
      }
      EXPECT_TRUE(ctx.Err().ok());
      if (seed % 2 == 0 || cancels.empty()) {
        cancel_root();
      } else {
        cancels[random() % cancels.size()].cancel();
      }
      EXPECT_TRUE(HasEnded(ctx));
      EXPECT_EQ(ctx.Err(), kCanceled);
      EXPECT_EQ(root.Err().ok(), seed % 2 != 0 && !cancels.empty());
    }
  });
}

}  // namespace
}  // namespace gorge
