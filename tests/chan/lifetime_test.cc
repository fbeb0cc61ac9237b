// The lifetime of elements: each is destroyed as often as it is constructed, at
// the moment one expects, whatever becomes of its channel.
//
// RuntimeTest fails a test after which Counted elements are left; under
// AddressSanitizer, what is freed twice or not at all shows as well.

#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "gorge/chan/chan.h"
#include "gorge/select/select.h"
#include "gorge/tests/support/channels.h"
#include "gorge/tests/support/counted.h"
#include "gorge/tests/support/paths.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::AwaitWaiting;
using ::gorge::testing::Counted;
using ::gorge::testing::Kind;
using ::gorge::testing::kKinds;
using ::gorge::testing::kSendOnClosed;
using ::gorge::testing::PanicText;
using ::gorge::testing::Paths;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::gorge::testing::Team;

class LifetimeTest : public RuntimeTest {};
GORGE_INSTANTIATE(LifetimeTest);

TEST_P(LifetimeTest, OfOneElementAlongEveryWay) {
  Run([] {
    Paths<Counted>([] { return Counted(7); },
                   [](Counted& v) { EXPECT_EQ(v.value(), 7); })
        .TakeAll();
    EXPECT_EQ(Counted::live, 0);
    Paths<std::shared_ptr<Counted>>(
        [] { return std::make_shared<Counted>(7); },
        [](const auto& v) { EXPECT_EQ(v->value(), 7); })
        .TakeAll();
    EXPECT_EQ(Counted::live, 0);
  });
}

TEST_P(LifetimeTest, ABufferHoldsOneInstanceOfEachElement) {
  const Chan<Counted> c = MakeChan<Counted>(10);
  for (int i = 1; i <= 10; ++i) {
    c.Send(Counted(i));
    EXPECT_EQ(Counted::live, i);
  }
  for (int i = 9; i >= 0; --i) {
    EXPECT_TRUE(c.Recv().has_value());
    EXPECT_EQ(Counted::live, i);
  }
}

TEST_P(LifetimeTest, AWaitingSenderHoldsItsElement) {
  Run([] {
    const Chan<Counted> c = MakeChan<Counted>();
    Team team;
    team.Go(Kind::kGoroutine, [&] { c.Send(Counted(7)); });
    AwaitWaiting(c, 1);
    // The temporary may be the parameter itself.
    EXPECT_GE(Counted::live, 1);

    EXPECT_EQ(c.Recv()->value(), 7);

    team.Wait();
    EXPECT_EQ(Counted::live, 0);
  });
}

TEST_P(LifetimeTest, AWaitingReceiverHoldsNone) {
  Run([] {
    const Chan<Counted> c = MakeChan<Counted>();
    Team team;
    team.Go(Kind::kGoroutine, [&] { EXPECT_EQ(c.Recv()->value(), 7); });
    AwaitWaiting(c, 1);
    EXPECT_EQ(Counted::live, 0);
    c.Send(Counted(7));
  });
}

TEST_P(LifetimeTest, EndsWithTheChannelForWhatNobodyReceived) {
  for (const bool closed : {false, true}) {
    {
      const Chan<Counted> c = MakeChan<Counted>(3);
      for (int i = 0; i < 3; ++i) c.Send(Counted(i));
      if (closed) c.Close();
    }
    EXPECT_EQ(Counted::live, 0);
  }
}

TEST_P(LifetimeTest, EndsWithALoopThatIsLeft) {
  {
    const Chan<Counted> c = MakeChan<Counted>(3);
    for (int i = 0; i < 3; ++i) c.Send(Counted(i));
    for (const Counted& element : c) {
      if (element.value() == 1) break;
    }
    EXPECT_EQ(Counted::live, 1);
  }
  EXPECT_EQ(Counted::live, 0);
}

TEST_P(LifetimeTest, EndsWithASendThatPanics) {
  Run([] {
    const Chan<Counted> c = MakeChan<Counted>();
    Team team;
    team.Go(Kind::kGoroutine, [&] {
      EXPECT_EQ(PanicText([&] { c.Send(Counted(7)); }), kSendOnClosed);
      EXPECT_EQ(Counted::live, 0);
    });
    AwaitWaiting(c, 1);
    c.Close();
    team.Wait();
    EXPECT_EQ(PanicText([&] { c.Send(Counted(8)); }), kSendOnClosed);
    EXPECT_EQ(Counted::live, 0);
  });
}

TEST_P(LifetimeTest, EndsWithTheTargetThatIsOverwritten) {
  const Chan<Counted> c = MakeChan<Counted>(3);
  for (int i = 1; i <= 2; ++i) c.Send(Counted(i));
  c.Close();
  std::optional<Counted> maybe(Counted(10));
  Counted value(20);
  bool ok = false;

  Select(OnRecv(c, &maybe));
  EXPECT_EQ(maybe->value(), 1);
  Select(OnRecv(c, &value, &ok));
  EXPECT_TRUE(ok);
  EXPECT_EQ(value.value(), 2);
  EXPECT_EQ(Counted::live, 2);

  Select(OnRecv(c, &maybe));
  EXPECT_FALSE(maybe.has_value());
  Select(OnRecv(c, &value, &ok));
  EXPECT_FALSE(ok);
  EXPECT_EQ(value.value(), 0);
  EXPECT_EQ(Counted::live, 1);
}

TEST_P(LifetimeTest, EndsWithADiscardedElement) {
  const Chan<Counted> c = MakeChan<Counted>(4);
  for (int i = 0; i < 4; ++i) c.Send(Counted(i));
  c.Recv();
  EXPECT_EQ(Counted::live, 3);
  (void)c.TryRecv();
  EXPECT_EQ(Counted::live, 2);
  Select(OnRecv(c));
  EXPECT_EQ(Counted::live, 1);
  Select(OnRecv(c, [] { EXPECT_EQ(Counted::live, 0); }));
}

TEST_P(LifetimeTest, OfElementsThatHoldTheirOwnChannel) {
  struct Holder {
    Chan<Holder> channel;
    Counted counted;
  };
  // Received, the channel may live on in its own element, and go with it.
  {
    Chan<Holder> c = MakeChan<Holder>(2);
    c.Send({c, Counted(1)});
    c.Close();
    std::optional<Holder> holder = c.Recv();
    c = {};
    EXPECT_EQ(Counted::live, 1);
    EXPECT_FALSE(holder->channel.Recv().has_value());
  }
  EXPECT_EQ(Counted::live, 0);
}

TEST_P(LifetimeTest, OfAChainOfChannels) {
  struct Link {
    Chan<Link> next;
    Counted counted;
  };
  {
    Chan<Link> first = MakeChan<Link>(1);
    for (int i = 0; i < 100; ++i) {
      Chan<Link> before = MakeChan<Link>(1);
      before.Send({std::move(first), Counted(i)});
      first = std::move(before);
    }
    EXPECT_EQ(Counted::live, 100);
  }
  EXPECT_EQ(Counted::live, 0);
}

TEST_P(LifetimeTest, OfManyElementsBetweenManyUntilACloseInTheMiddle) {
  for (const int capacity : {0, 1, 7}) {
    for (int round = 0; round < Scaled(40); ++round) {
      const Chan<Counted> c = MakeChan<Counted>(capacity);
      std::atomic<int> sent{0};
      std::atomic<int> received{0};
      Team team;
      for (int i = 0; i < 4; ++i) {
        team.Go(kKinds[i % 2], [&] {
          PanicText([&] {
            while (true) {
              c.Send(Counted(7));
              ++sent;
            }
          });
        });
        team.Go(kKinds[i % 2], [&] {
          for (const Counted& element : c) {
            EXPECT_EQ(element.value(), 7);
            ++received;
          }
        });
      }
      Await([&] { return received > 50; });
      c.Close();
      team.Wait();
      EXPECT_EQ(sent, received);
      EXPECT_EQ(Counted::live, 0);
    }
  }
}

}  // namespace
}  // namespace gorge
