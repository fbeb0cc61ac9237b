// Any thread may call everything, with no registration: what would park a
// goroutine blocks the thread.

#include <atomic>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/core/internal/goroutine.h"
#include "gorge/core/runtime.h"
#include "gorge/select/select.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;

class PlainThreadTest : public RuntimeTest {};

GORGE_INSTANTIATE(PlainThreadTest);

TEST_P(PlainThreadTest, TalksToAGoroutine) {
  const auto ping = MakeChan<int>();
  const auto pong = MakeChan<int>();
  go([=] {
    for (const int i : ping) pong.Send(i + 1);
    pong.Close();
  });

  for (int i = 0; i < Scaled(5'000); ++i) {
    ping.Send(i);
    ASSERT_EQ(pong.Recv(), i + 1);
  }
  ping.Close();
  EXPECT_EQ(pong.Recv(), std::nullopt);
}

TEST_P(PlainThreadTest, TalksToAnotherThreadWithoutAnyGoroutine) {
  const auto c = MakeChan<int>();
  std::thread sender([c] {
    for (int i = 0; i < Scaled(5'000); ++i) c.Send(i);
    c.Close();
  });

  int expected = 0;
  for (const int i : c) ASSERT_EQ(i, expected++);
  sender.join();

  EXPECT_EQ(expected, Scaled(5'000));
}

TEST_P(PlainThreadTest, SelectsAmongGoroutinesAndThreads) {
  const auto from_thread = MakeChan<int>();
  const auto from_goroutine = MakeChan<int>();
  const auto quit = MakeChan<int>();
  const int n = Scaled(2'000);
  std::thread thread([&] {
    for (int i = 0; i < n; ++i) from_thread.Send(1);
  });
  go([&] {
    for (int i = 0; i < n; ++i) from_goroutine.Send(1);
  });

  int threads = 0;
  int goroutines = 0;
  while (threads + goroutines < 2 * n) {
    Select(OnRecv(from_thread, [&](int i) { threads += i; }),
           OnRecv(from_goroutine, [&](int i) { goroutines += i; }),
           OnRecv(quit));
  }
  thread.join();

  EXPECT_EQ(threads, n);
  EXPECT_EQ(goroutines, n);
}

TEST_P(PlainThreadTest, WaitsForGoroutinesAndIsWaitedForByThem) {
  for (int i = 0; i < Scaled(1'000); ++i) {
    WaitGroup goroutines;
    WaitGroup threads;
    threads.Add(1);
    std::atomic<int> sum{0};
    for (int k = 0; k < 4; ++k) {
      goroutines.Go([&] {
        threads.Wait();
        ++sum;
      });
    }
    std::thread([&] { threads.Done(); }).join();
    goroutines.Wait();

    ASSERT_EQ(sum, 4);
  }
}

TEST_P(PlainThreadTest, ReadiesGoroutinesFromOutside) {
  const auto c = MakeChan<int>(16);
  std::atomic<int> received{0};
  const int n = Scaled(4'000);
  WaitGroup receivers;
  for (int i = 0; i < 8; ++i) {
    receivers.Go([&] {
      for ([[maybe_unused]] const int value : c) ++received;
    });
  }

  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < n; ++i) c.Send(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  c.Close();
  receivers.Wait();

  EXPECT_EQ(received, 4 * n);
}

TEST_P(PlainThreadTest, DoesNotCountAsAGoroutine) {
  MaxProcs();
  const auto c = MakeChan<int>();
  std::thread blocked([c] { c.Recv(); });
  EXPECT_EQ(NumGoroutine(), 0);
  c.Send(1);
  blocked.join();
}

// Many short-lived threads, each of which blocks: nothing of theirs is left.
TEST_P(PlainThreadTest, MayEndAtAnyTimeAfterItsCall) {
  const auto c = MakeChan<int>();
  go([c] {
    for (int i = 0;; ++i) {
      if (!c.Recv().has_value()) return;
    }
  });
  for (int i = 0; i < Scaled(300) + 10; ++i) {
    std::thread([c, i] { c.Send(i); }).join();
  }
  c.Close();
}

// thread_local objects that use the library when their thread ends, be they
// made before or after its first call.
struct SaysGoodbye {
  explicit SaysGoodbye(Chan<int> c) : out(std::move(c)) {}
  ~SaysGoodbye() { out.Send(1); }
  Chan<int> out;
};

TEST_P(PlainThreadTest, ThreadLocalDestructorsMayBlock) {
  const auto out = MakeChan<int>();
  const auto ready = MakeChan<int>(2);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      if (i % 2 == 0) ready.Send(1);
      thread_local const SaysGoodbye goodbye(out);
      static_cast<void>(goodbye);
    });
  }

  for (int i = 0; i < 4; ++i) EXPECT_EQ(out.Recv(), 1);
  for (std::thread& thread : threads) thread.join();
}

TEST_P(PlainThreadTest, StaysItselfWhileGoroutinesCome) {
  const internal::G* self = internal::Self();
  Run([] { Gosched(); });
  EXPECT_EQ(internal::Self(), self);
}

}  // namespace
}  // namespace gorge
