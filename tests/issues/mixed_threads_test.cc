// Case B32: what blocks works from plain threads, mixed with goroutines in
// every way, and without any; and a std::mutex that is held across no call that
// blocks, however many goroutines have one.

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/core/runtime.h"
#include "gorge/select/select.h"
#include "gorge/select/selector.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/channels.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::AwaitWaiting;
using ::gorge::testing::Kind;
using ::gorge::testing::kKinds;
using ::gorge::testing::kSendOnClosed;
using ::gorge::testing::PanicText;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::gorge::testing::Team;

class MixedThreadsTest : public RuntimeTest {
 protected:
  // Calls f with each pair of kinds.
  template <class F>
  static void ForEachPair(F f) {
    for (const Kind a : kKinds) {
      for (const Kind b : kKinds) {
        SCOPED_TRACE(::testing::Message() << a << " and " << b);
        f(a, b);
      }
    }
  }
};
GORGE_INSTANTIATE(MixedThreadsTest);

TEST_P(MixedThreadsTest, AChannelConnectsSeveralOfEach) {
  const int n = Scaled(500) + 1;
  for (const int capacity : {0, 1, 16}) {
    ForEachPair([&](Kind senders, Kind receivers) {
      const auto c = MakeChan<int>(capacity);
      std::atomic<int> count{0};
      Team receiving;
      Team sending;
      for (int i = 0; i < 3; ++i) {
        sending.Go(i == 0 ? Kind::kThread : senders, [&] {
          for (int k = 0; k < n; ++k) c.Send(k);
        });
        receiving.Go(i == 0 ? Kind::kThread : receivers, [&] {
          for ([[maybe_unused]] const int value : c) ++count;
        });
      }

      sending.Wait();
      c.Close();
      receiving.Wait();

      EXPECT_EQ(count, 3 * n);
    });
  }
}

TEST_P(MixedThreadsTest, ACloseWakesWhateverWaits) {
  ForEachPair([&](Kind waiting, Kind closing) {
    const auto received = MakeChan<int>();
    const auto sent = MakeChan<int>();
    std::atomic<int> ended{0};
    Team team;
    for (int i = 0; i < 3; ++i) {
      team.Go(waiting, [&] { ended += received.Recv() == std::nullopt; });
      team.Go(waiting, [&] {
        ended += PanicText([&] { sent.Send(1); }) == kSendOnClosed;
      });
      team.Go(waiting, [&] {
        Select(OnRecv(received, [&](std::optional<int> v) { ended += !v; }),
               OnRecv(Chan<int>()));
      });
    }
    AwaitWaiting(received, 6);
    AwaitWaiting(sent, 3);

    Team closer;
    closer.Go(closing, [&] {
      received.Close();
      sent.Close();
    });

    closer.Wait();
    team.Wait();
    EXPECT_EQ(ended, 9);
  });
}

// Both ends in a Select, each of which waits for the other on two channels.
TEST_P(MixedThreadsTest, SelectMeetsSelect) {
  const int n = Scaled(1'000) + 1;
  ForEachPair([&](Kind a, Kind b) {
    const auto there = MakeChan<int>();
    const auto back = MakeChan<int>();
    std::atomic<int> sum{0};
    const auto exchange = [&](const Chan<int>& out, const Chan<int>& in) {
      int sends = 0;
      int receives = 0;
      while (sends < n || receives < n) {
        Select(OnSend(sends < n ? out : Chan<int>(), 1, [&] { ++sends; }),
               OnRecv(receives < n ? in : Chan<int>(), [&](int v) {
                 sum += v;
                 ++receives;
               }));
      }
    };
    Team team;
    team.Go(a, [&] { exchange(there, back); });
    team.Go(b, [&] { exchange(back, there); });
    team.Wait();
    EXPECT_EQ(sum, 2 * n);
  });
}

TEST_P(MixedThreadsTest, ASelectorOfEitherKindIsFedByEither) {
  const int n = Scaled(500) + 1;
  ForEachPair([&](Kind selecting, Kind sending) {
    std::vector<Chan<int>> channels;
    for (int i = 0; i < 5; ++i) channels.push_back(MakeChan<int>(i % 2));
    int sum = 0;
    Team team;
    team.Go(selecting, [&] {
      Selector selector;
      for (const Chan<int>& c : channels) {
        selector.AddRecv(c, [&](std::optional<int> v) { sum += *v; });
      }
      for (int i = 0; i < 5 * n; ++i) selector.Run();
    });
    for (const Chan<int>& c : channels) {
      team.Go(sending, [=] {
        for (int i = 0; i < n; ++i) c.Send(1);
      });
    }
    team.Wait();
    EXPECT_EQ(sum, 5 * n);
  });
}

TEST_P(MixedThreadsTest, AWaitGroupIsWaitedForByBothAtOnce) {
  for (int round = 0; round < Scaled(100) + 1; ++round) {
    ForEachPair([&](Kind waiting, Kind finishing) {
      WaitGroup tasks;
      tasks.Add(4);
      std::atomic<int> done{0};
      std::atomic<int> saw_all{0};
      Team waiters;
      for (int i = 0; i < 2; ++i) {
        for (const Kind kind : {waiting, Kind::kGoroutine}) {
          waiters.Go(kind, [&] {
            tasks.Wait();
            saw_all += done == 4 ? 1 : 0;
          });
        }
      }
      Team workers;
      for (int i = 0; i < 4; ++i) {
        workers.Go(i == 0 ? Kind::kThread : finishing, [&] {
          ++done;
          tasks.Done();
        });
      }
      waiters.Wait();
      workers.Wait();
      ASSERT_EQ(saw_all, 4);
    });
  }
}

// A thread starts goroutines that start threads, and each waits for its own.
TEST_P(MixedThreadsTest, TheyStartEachOther) {
  std::atomic<int> leaves{0};
  const std::function<void(int)> grow = [&](int depth) {
    if (depth == 0) {
      ++leaves;
      return;
    }
    Team team;
    for (const Kind kind : kKinds) team.Go(kind, [&] { grow(depth - 1); });
  };

  grow(4);

  EXPECT_EQ(leaves, 16);
}

// More goroutines than Ps, each with a mutex of its own, and all with the one
// that they share with a thread.
TEST_P(MixedThreadsTest, AMutexHeldAcrossNoParkIsHarmless) {
  const int goroutines = 2 * procs();
  const int n = Scaled(300) + 1;
  const auto c = MakeChan<int>();
  std::mutex shared;
  int in_shared = 0;
  int received = 0;
  struct Own {
    std::mutex mutex;
    int count = 0;
  };
  std::vector<std::unique_ptr<Own>> own;
  Team team;
  for (int i = 0; i < goroutines; ++i) {
    own.push_back(std::make_unique<Own>());
    team.Go(Kind::kGoroutine, [&, mine = own.back().get()] {
      for (int k = 0; k < n; ++k) {
        {
          const std::lock_guard<std::mutex> hold(mine->mutex);
          const std::lock_guard<std::mutex> hold_shared(shared);
          ++mine->count;
          ++in_shared;
          // What does not block may be called.
          received += c.TrySend(1) ? 1 : 0;
        }
        // Unlocked on the thread that locked it, before another one goes on.
        c.Send(1);
      }
    });
  }
  team.Go(Kind::kThread, [&] {
    for (int k = 0; k < goroutines * n; ++k) {
      {
        const std::lock_guard<std::mutex> hold(shared);
        ++in_shared;
      }
      Gosched();
    }
  });
  // The server is queued behind them.
  std::atomic<int> taken{0};
  Team server;
  server.Go(Kind::kGoroutine, [&] {
    for ([[maybe_unused]] const int value : c) ++taken;
  });

  team.Wait();
  c.Close();
  server.Wait();

  EXPECT_EQ(in_shared, 2 * goroutines * n);
  EXPECT_EQ(taken, goroutines * n + received);
  for (const auto& one : own) EXPECT_EQ(one->count, n);
}

}  // namespace
}  // namespace gorge
