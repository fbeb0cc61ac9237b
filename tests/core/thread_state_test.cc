// errno and the control bits of the floating-point unit belong to the thread;
// goroutines take them along.

#include <cerrno>
#include <cfenv>
#include <cstddef>
#include <thread>
#include <vector>

#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;

class ThreadStateTest : public RuntimeTest {};

GORGE_INSTANTIATE(ThreadStateTest);

// Out of line: the compiler believes that the address of errno is the same
// throughout a function, which is not so across a call that parks.
__attribute__((noinline)) int Errno() {
  asm volatile("" ::: "memory");
  return errno;
}
__attribute__((noinline)) void SetErrno(int value) {
  errno = value;
  asm volatile("" ::: "memory");
}

// Likewise: rounds 1/3 as the processor now does, in SSE and in x87.
__attribute__((noinline)) double Third() {
  volatile double one = 1;
  volatile double three = 3;
  return one / three;
}
__attribute__((noinline)) long double LongThird() {
  volatile long double one = 1;
  volatile long double three = 3;
  return one / three;
}

TEST_P(ThreadStateTest, ErrnoIsTheGoroutinesOwn) {
  Run([] {
    WaitGroup all;
    for (int id = 1; id <= 16; ++id) {
      all.Go([id] {
        for (int i = 0; i < Scaled(500) + 2; ++i) {
          SetErrno(100 * id + i % 100);
          Gosched();
          ASSERT_EQ(Errno(), 100 * id + i % 100);
        }
      });
    }
    all.Wait();
  });
}

TEST_P(ThreadStateTest, ErrnoSurvivesABlockingReceive) {
  Run([] {
    const auto wake = MakeChan<int>();
    WaitGroup all;
    for (int id = 1; id <= 8; ++id) {
      all.Go([id, wake] {
        SetErrno(id);
        wake.Recv();
        EXPECT_EQ(Errno(), id);
      });
    }
    AwaitParked(8);
    SetErrno(77);
    wake.Close();
    all.Wait();
    EXPECT_EQ(Errno(), 77);
  });
}

TEST_P(ThreadStateTest, ErrnoStartsAtZero) {
  Run([] {
    SetErrno(EINTR);
    WaitGroup done;
    done.Go([] { EXPECT_EQ(Errno(), 0); });
    done.Wait();
    EXPECT_EQ(Errno(), EINTR);
  });
}

#if defined(__x86_64__)

struct Rounding {
  int mode;
  double third;
  long double long_third;
};

// What one third is in each mode.
std::vector<Rounding> Roundings() {
  std::vector<Rounding> all;
  for (const int mode : {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO}) {
    std::fesetround(mode);
    all.push_back({mode, Third(), LongThird()});
  }
  std::fesetround(FE_TONEAREST);
  return all;
}

TEST_P(ThreadStateTest, TheRoundingModeIsTheGoroutinesOwn) {
  const std::vector<Rounding> roundings = Roundings();
  ASSERT_NE(roundings[1].third, roundings[2].third);
  ASSERT_NE(roundings[1].long_third, roundings[2].long_third);
  Run([&] {
    WaitGroup all;
    for (std::size_t id = 0; id < 16; ++id) {
      all.Go([&mine = roundings[id % 4]] {
        std::fesetround(mine.mode);
        for (int i = 0; i < Scaled(500) + 2; ++i) {
          Gosched();
          ASSERT_EQ(std::fegetround(), mine.mode);
          ASSERT_EQ(Third(), mine.third);
          ASSERT_EQ(LongThird(), mine.long_third);
        }
      });
    }
    all.Wait();
    EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  });
}

// As a thread does.
TEST_P(ThreadStateTest, ANewGoroutineRoundsAsItsStarterDid) {
  Run([] {
    std::fesetround(FE_UPWARD);
    WaitGroup done;
    done.Go([] { EXPECT_EQ(std::fegetround(), FE_UPWARD); });
    std::fesetround(FE_TONEAREST);
    done.Wait();
    done.Go([] { EXPECT_EQ(std::fegetround(), FE_TONEAREST); });
    done.Wait();
  });
}

TEST_P(ThreadStateTest, StickyFlagsDoNotLeakIntoOtherGoroutines) {
  Run([] {
    std::feraiseexcept(FE_INEXACT | FE_DIVBYZERO);
    WaitGroup done;
    done.Go([] { EXPECT_EQ(std::fetestexcept(FE_DIVBYZERO), 0); });
    done.Wait();
  });
}

#endif

}  // namespace
}  // namespace gorge
