// Handles: copies, moves, comparison, hashing, conversion to one end.

#include <cstddef>
#include <functional>
#include <map>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "gorge/chan/chan.h"
#include "gorge/tests/support/counted.h"
#include "gorge/tests/support/runtime_test.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::Counted;
using ::gorge::testing::RuntimeTest;

// A handle is as large as a pointer and moves like one.
static_assert(sizeof(Chan<int>) == sizeof(void*));
static_assert(sizeof(SendChan<int>) == sizeof(void*));
static_assert(sizeof(RecvChan<int>) == sizeof(void*));
static_assert(std::is_nothrow_move_constructible_v<Chan<int>>);
static_assert(std::is_nothrow_move_assignable_v<Chan<int>>);
static_assert(std::is_copy_assignable_v<Chan<int>>);
static_assert(std::is_nothrow_default_constructible_v<Chan<int>>);

// Tested for nil, but never taken for a number.
static_assert(std::is_constructible_v<bool, Chan<int>>);
static_assert(!std::is_convertible_v<Chan<int>, bool>);
static_assert(!std::is_convertible_v<SendChan<int>, bool>);
static_assert(!std::is_convertible_v<RecvChan<int>, int>);

class HandlesTest : public RuntimeTest {};
GORGE_INSTANTIATE(HandlesTest);

TEST_P(HandlesTest, CopiesMeanTheSameChannel) {
  const Chan<int> c = MakeChan<int>(2);
  const Chan<int> copy = c;  // NOLINT(performance-unnecessary-copy-*)
  Chan<int> assigned;
  assigned = c;

  copy.Send(1);
  assigned.Send(2);

  EXPECT_EQ(c.Recv(), 1);
  EXPECT_EQ(c.Recv(), 2);
  assigned.Close();
  EXPECT_EQ(copy.Recv(), std::nullopt);
}

TEST_P(HandlesTest, AMoveLeavesNilBehind) {
  Chan<int> c = MakeChan<int>(1);
  c.Send(7);

  Chan<int> moved = std::move(c);
  EXPECT_FALSE(c);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(moved.Recv(), 7);

  Chan<int> assigned = MakeChan<int>();
  assigned = std::move(moved);
  EXPECT_FALSE(moved);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(assigned.Cap(), 1u);
}

TEST_P(HandlesTest, SelfAssignmentChangesNothing) {
  Chan<int> c = MakeChan<int>(1);
  Chan<int>& same = c;
  c.Send(7);

  c = same;
  c = std::move(same);

  ASSERT_TRUE(c);
  EXPECT_EQ(c.Recv(), 7);
}

TEST_P(HandlesTest, HandlesAreEqualIfTheyMeanTheSameChannel) {
  const Chan<int> a = MakeChan<int>();
  const Chan<int> b = MakeChan<int>();
  const Chan<int> copy = a;  // NOLINT(performance-unnecessary-copy-*)
  EXPECT_TRUE(a == copy);
  EXPECT_TRUE(a != b);
  EXPECT_TRUE(a != Chan<int>());
  EXPECT_TRUE(Chan<int>() == Chan<int>());

  EXPECT_TRUE(SendChan<int>(a) == SendChan<int>(copy));
  EXPECT_TRUE(RecvChan<int>(a) != RecvChan<int>(b));
  EXPECT_TRUE(RecvChan<int>() == RecvChan<int>(Chan<int>()));
  // One end and both: what converts compares.
  EXPECT_TRUE(SendChan<int>(a) == a);
  EXPECT_TRUE(b != RecvChan<int>(a));
}

TEST_P(HandlesTest, EqualHandlesHashAlike) {
  const Chan<int> a = MakeChan<int>();
  const Chan<int> copy = a;  // NOLINT(performance-unnecessary-copy-*)
  EXPECT_EQ(std::hash<Chan<int>>()(a), std::hash<Chan<int>>()(copy));
  EXPECT_EQ(absl::Hash<Chan<int>>()(a), absl::Hash<Chan<int>>()(copy));
  EXPECT_EQ(std::hash<SendChan<int>>()(a), std::hash<SendChan<int>>()(copy));
  EXPECT_EQ(absl::Hash<RecvChan<int>>()(a), absl::Hash<RecvChan<int>>()(copy));
  EXPECT_EQ(std::hash<Chan<int>>()({}), std::hash<Chan<int>>()({}));
  EXPECT_EQ(absl::Hash<Chan<int>>()({}), absl::Hash<Chan<int>>()({}));
}

template <template <class> class Hash, class Handle>
void ExpectKeysAreTold(const std::vector<Chan<int>>& channels) {
  std::unordered_map<Handle, std::size_t, Hash<Handle>> positions;
  for (std::size_t i = 0; i < channels.size(); ++i) positions[channels[i]] = i;
  EXPECT_EQ(positions.size(), channels.size());
  for (std::size_t i = 0; i < channels.size(); ++i) {
    EXPECT_EQ(positions.at(channels[i]), i);
  }
  // Few fall together, or the hash would be of no use.
  std::unordered_set<std::size_t> hashes;
  for (const auto& channel : channels) hashes.insert(Hash<Handle>()(channel));
  EXPECT_GT(hashes.size(), channels.size() * 9 / 10);
}

TEST_P(HandlesTest, HandlesAreKeysOfHashTables) {
  std::vector<Chan<int>> channels(1);  // The nil channel is a key as well.
  for (int i = 0; i < 100; ++i) channels.push_back(MakeChan<int>());
  ExpectKeysAreTold<std::hash, Chan<int>>(channels);
  ExpectKeysAreTold<std::hash, SendChan<int>>(channels);
  ExpectKeysAreTold<std::hash, RecvChan<int>>(channels);
  ExpectKeysAreTold<absl::Hash, Chan<int>>(channels);
  ExpectKeysAreTold<absl::Hash, SendChan<int>>(channels);
  ExpectKeysAreTold<absl::Hash, RecvChan<int>>(channels);
}

TEST_P(HandlesTest, TheOneWayViewsMeanTheSameChannel) {
  const Chan<int> c = MakeChan<int>(1);
  const SendChan<int> in = c;
  const RecvChan<int> out = c;

  in.Send(7);
  EXPECT_EQ(out.Len(), 1u);
  EXPECT_EQ(out.Recv(), 7);
  in.Close();
  EXPECT_EQ(out.Recv(), std::nullopt);
  EXPECT_TRUE(in);
  EXPECT_FALSE(SendChan<int>(Chan<int>()));
}

TEST_P(HandlesTest, AViewTakesOverTheHandleItIsMovedFrom) {
  Chan<int> c = MakeChan<int>(1);
  c.Send(7);

  const RecvChan<int> out = std::move(c);

  EXPECT_FALSE(c);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(out.Recv(), 7);
}

TEST_P(HandlesTest, TheChannelLivesAsLongAsAnyHandle) {
  Chan<Counted> c = MakeChan<Counted>(1);
  c.Send(Counted(7));
  RecvChan<Counted> out = c;

  c = {};
  EXPECT_EQ(Counted::live, 1);
  EXPECT_EQ(out.Len(), 1u);

  out = {};
  EXPECT_EQ(Counted::live, 0);
}

TEST_P(HandlesTest, WhatIsBufferedGoesWithTheLastHandleClosedOrNot) {
  for (const bool closed : {false, true}) {
    Chan<Counted> c = MakeChan<Counted>(5);
    // The ring has wrapped around: its oldest element is not in slot 0.
    for (int i = 0; i < 4; ++i) c.Send(Counted(i));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(c.Recv()->value(), i);
    for (int i = 0; i < 3; ++i) c.Send(Counted(i));
    if (closed) c.Close();
    EXPECT_EQ(Counted::live, 4);

    c = {};

    EXPECT_EQ(Counted::live, 0);
  }
}

}  // namespace
}  // namespace gorge
