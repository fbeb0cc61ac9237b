// Elements without a value: channels that only signal.

#include <atomic>
#include <cstddef>
#include <optional>
#include <unordered_set>
#include <variant>
#include <vector>

#include "gorge/chan/chan.h"
#include "gorge/select/select.h"
#include "gorge/tests/support/channels.h"
#include "gorge/tests/support/paths.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::AwaitWaiting;
using ::gorge::testing::kKinds;
using ::gorge::testing::Paths;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::gorge::testing::Team;

struct Empty {};
struct alignas(64) AlignedEmpty {};
struct FinalEmpty final {};

// Empty, yet each instance counts.
struct Ticket {
  Ticket() { ++live; }
  Ticket(Ticket&&) noexcept { ++live; }
  ~Ticket() { --live; }
  static inline std::atomic<int> live{0};
};

class EmptyElementTest : public RuntimeTest {};
GORGE_INSTANTIATE(EmptyElementTest);

template <class T>
void SendAlongEveryWay() {
  std::atomic<int> received{0};
  Paths<T> paths([] { return T(); }, [&](T&) { ++received; });
  paths.TakeAll();
  EXPECT_GT(received, 100);
}

TEST_P(EmptyElementTest, TakeEveryWay) {
  Run([] {
    SendAlongEveryWay<std::monostate>();
    SendAlongEveryWay<Empty>();
    SendAlongEveryWay<AlignedEmpty>();
    SendAlongEveryWay<FinalEmpty>();
    SendAlongEveryWay<Ticket>();
    EXPECT_EQ(Ticket::live, 0);
  });
}

TEST_P(EmptyElementTest, AreCountedThoughTheyTakeNoRoom) {
  const Chan<Empty> c = MakeChan<Empty>(std::ptrdiff_t{1} << 40);
  for (std::size_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(c.Len(), i);
    c.Send({});
  }
  for (std::size_t i = 1000; i > 0; --i) {
    EXPECT_EQ(c.Len(), i);
    EXPECT_TRUE(c.Recv().has_value());
  }
  EXPECT_FALSE(c.TryRecv().ready);
}

TEST_P(EmptyElementTest, AFullBufferIsFull) {
  const Chan<Empty> c = MakeChan<Empty>(3);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(c.TrySend({}));
  EXPECT_FALSE(c.TrySend({}));
  c.Close();
  int received = 0;
  for ([[maybe_unused]] const Empty& e : c) ++received;
  EXPECT_EQ(received, 3);
}

TEST_P(EmptyElementTest, AreConstructedAndDestroyedLikeOthers) {
  {
    const Chan<Ticket> c = MakeChan<Ticket>(5);
    for (int i = 0; i < 5; ++i) c.Send({});
    EXPECT_EQ(Ticket::live, 5);
    EXPECT_TRUE(c.Recv().has_value());
    EXPECT_EQ(Ticket::live, 4);
  }
  EXPECT_EQ(Ticket::live, 0);
}

TEST_P(EmptyElementTest, ManyPass) {
  const int n = Scaled(20000);
  for (const int capacity : {0, 1, 1000}) {
    const Chan<Empty> c = MakeChan<Empty>(capacity);
    std::atomic<int> received{0};
    Team team;
    for (int i = 0; i < 2; ++i) {
      team.Go(kKinds[i], [&] {
        for ([[maybe_unused]] const Empty& e : c) ++received;
      });
    }
    for (int i = 0; i < n; ++i) c.Send({});
    c.Close();
    team.Wait();
    EXPECT_EQ(received, n);
  }
}

TEST_P(EmptyElementTest, TheirChannelsAreTold) {
  // Nothing is stored, but each is a place of its own.
  std::vector<Chan<Empty>> channels;
  std::unordered_set<Chan<Empty>> set;
  for (int i = 0; i < 100; ++i) {
    channels.push_back(MakeChan<Empty>(i));
    set.insert(channels.back());
  }
  EXPECT_EQ(set.size(), 100u);
}

}  // namespace
}  // namespace gorge
