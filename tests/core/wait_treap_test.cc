#include "gorge/core/internal/wait_treap.h"

#include <cstddef>
#include <deque>
#include <map>
#include <vector>

#include "gorge/core/internal/random.h"
#include "gorge/tests/support/scale.h"
#include "gtest/gtest.h"

namespace gorge::internal {
namespace {

using ::gorge::testing::Scaled;

class WaitTreapTest : public ::testing::Test {
 protected:
  SemWaiter Waiter(std::size_t place) {
    SemWaiter waiter;
    waiter.address = &places_[place];
    waiter.priority = random_.Next();
    return waiter;
  }

  char places_[100] = {};
  Random random_{1};
  WaitTreap treap_;
};

TEST_F(WaitTreapTest, AnAddressHasItsWaitersInOrder) {
  SemWaiter a = Waiter(0);
  SemWaiter b = Waiter(0);
  SemWaiter other = Waiter(1);
  treap_.PushLast(a);
  treap_.PushLast(other);
  treap_.PushLast(b);

  EXPECT_EQ(treap_.Pop(&places_[0]), &a);
  EXPECT_EQ(treap_.Pop(&places_[0]), &b);
  EXPECT_EQ(treap_.Pop(&places_[0]), nullptr);
  EXPECT_EQ(treap_.Pop(&places_[1]), &other);
}

TEST_F(WaitTreapTest, OneThatComesBackIsFirst) {
  SemWaiter a = Waiter(0);
  SemWaiter b = Waiter(0);
  SemWaiter back = Waiter(0);
  treap_.PushLast(a);
  treap_.PushLast(b);
  treap_.PushFirst(back);

  EXPECT_EQ(treap_.Find(&places_[0]), &back);
  EXPECT_EQ(treap_.Pop(&places_[0]), &back);
  EXPECT_EQ(treap_.Pop(&places_[0]), &a);
  EXPECT_EQ(treap_.Pop(&places_[0]), &b);
}

TEST_F(WaitTreapTest, OneThatComesBackMayBeAlone) {
  SemWaiter back = Waiter(0);
  SemWaiter next = Waiter(0);
  treap_.PushFirst(back);
  treap_.PushLast(next);

  EXPECT_EQ(treap_.Pop(&places_[0]), &back);
  EXPECT_EQ(treap_.Pop(&places_[0]), &next);
}

// Against a map of deques.
TEST_F(WaitTreapTest, BehavesAsAQueueForEachAddressWhateverComes) {
  const int steps = Scaled(200'000);
  std::deque<SemWaiter> made;  // Stay where they are.
  std::map<const void*, std::deque<SemWaiter*>> model;
  for (int i = 0; i < steps; ++i) {
    const std::size_t place = random_.Below(sizeof places_);
    std::deque<SemWaiter*>& queue = model[&places_[place]];
    switch (random_.Below(5)) {
      case 0:
        queue.push_front(&made.emplace_back(Waiter(place)));
        treap_.PushFirst(*queue.front());
        break;
      case 1:
      case 2:
        queue.push_back(&made.emplace_back(Waiter(place)));
        treap_.PushLast(*queue.back());
        break;
      default:
        SemWaiter* expected = nullptr;
        if (!queue.empty()) {
          expected = queue.front();
          queue.pop_front();
        }
        ASSERT_EQ(treap_.Pop(&places_[place]), expected);
    }
    ASSERT_EQ(treap_.Find(&places_[place]),
              queue.empty() ? nullptr : queue.front());
  }
}

}  // namespace
}  // namespace gorge::internal
