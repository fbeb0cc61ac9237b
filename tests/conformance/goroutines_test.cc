// Goroutines as whole programs: chains, trees, and what may be started.

#include <unistd.h>

#include <atomic>
#include <stdexcept>

#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::kSlowdown;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;

class GoroutinesTest : public RuntimeTest {};

GORGE_INSTANTIATE(GoroutinesTest);

TEST_P(GoroutinesTest, TenThousandInAChainHandAValueOn) {
  Run([] {
    constexpr int kLinks = kSlowdown > 1 ? 500 : 10'000;
    const auto first = MakeChan<int>();
    Chan<int> in = first;
    for (int i = 0; i < kLinks; ++i) {
      const auto out = MakeChan<int>();
      go([in, out] { out.Send(*in.Recv() + 1); });
      in = out;
    }

    first.Send(0);

    EXPECT_EQ(in.Recv(), kLinks);
  });
}

TEST_P(GoroutinesTest, AFunctionOfTheSystemCanBeStarted) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);

  go(&::write, pipe[1], "42\n", 3);

  char text[4] = {};
  EXPECT_EQ(::read(pipe[0], text, 3), 3);
  EXPECT_STREQ(text, "42\n");
  ::close(pipe[0]);
  ::close(pipe[1]);
}

// Ten branches at each node; each hands the sum of its leaves up.
void Skynet(const Chan<long>& out, long first, long size) {
  if (size == 1) {
    out.Send(first);
    return;
  }
  const auto in = MakeChan<long>();
  for (long i = 0; i < 10; ++i) {
    go(Skynet, in, first + i * (size / 10), size / 10);
  }
  long sum = 0;
  for (int i = 0; i < 10; ++i) sum += *in.Recv();
  out.Send(sum);
}

TEST_P(GoroutinesTest, ATreeOfThemAddsUp) {
  Run([] {
    constexpr long kLeaves = kSlowdown > 1 ? 100 : 10'000;
    const auto out = MakeChan<long>();
    go(Skynet, out, 0L, kLeaves);
    EXPECT_EQ(out.Recv(), kLeaves * (kLeaves - 1) / 2);
  });
}

// Yields between a throw, its handler and the next round, in many at once.
TEST_P(GoroutinesTest, ThrowingAndYieldingInALoopDoesNotDeadlock) {
  Run([] {
    WaitGroup all;
    std::atomic<int> caught{0};
    const int rounds = Scaled(500) + 1;
    for (int i = 0; i < 10; ++i) {
      all.Go([&] {
        for (int k = 0; k < rounds; ++k) {
          Gosched();
          try {
            Gosched();
            throw std::runtime_error("again");
          } catch (const std::runtime_error&) {
            Gosched();
            ++caught;
          }
        }
      });
    }
    all.Wait();
    EXPECT_EQ(caught, 10 * rounds);
  });
}

// A stack does not move with its goroutine.
TEST_P(GoroutinesTest, AddressesOfLocalsStayValidAcrossParks) {
  Run([] {
    const auto pointers = MakeChan<int*>();
    const auto done = MakeChan<int>();
    go([=] {
      for (int* p : pointers) {
        ++*p;
        done.Send(1);
      }
    });
    int local = 0;
    for (int i = 0; i < Scaled(1'000) + 1; ++i) {
      pointers.Send(&local);
      done.Recv();
      ASSERT_EQ(local, i + 1);
    }
    pointers.Close();
  });
}

}  // namespace
}  // namespace gorge
