#include "gorge/core/internal/procs.h"

#include <sched.h>

#include <cstdlib>
#include <string>
#include <thread>

#include "gorge/core/runtime.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/death_test.h"
#include "gtest/gtest.h"

namespace gorge::internal {
namespace {

using ::gorge::testing::DeathTest;
using ::gorge::testing::InChild;
using ::testing::ExitedWithCode;

// The first CPU of this thread's mask.
int FirstCpu() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  ::sched_getaffinity(0, sizeof mask, &mask);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &mask)) return cpu;
  }
  return -1;
}

bool PinToOneCpu() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CPU_SET(FirstCpu(), &mask);
  return ::sched_setaffinity(0, sizeof mask, &mask) == 0;
}

TEST(ProcsTest, CountsTheCpusOfTheAffinityMask) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  ASSERT_EQ(::sched_getaffinity(0, sizeof mask, &mask), 0);

  EXPECT_EQ(CountCpus(), CPU_COUNT(&mask));
  EXPECT_EQ(NumCPU(), CountCpus());
}

TEST(ProcsTest, FollowsTheMaskAtTheTimeOfTheCall) {
  std::thread([] {
    ASSERT_TRUE(PinToOneCpu());
    EXPECT_EQ(NumCPU(), 1);
  }).join();
}

// What GORGE_MAXPROCS is, and what comes of it; 0: the number of CPUs.
struct Setting {
  const char* text;
  int procs;
};

class EnvironmentTest : public ::testing::TestWithParam<Setting> {};

INSTANTIATE_TEST_SUITE_P(
    Settings, EnvironmentTest,
    ::testing::Values(Setting{"1", 1}, Setting{"3", 3}, Setting{"007", 7},
                      Setting{"1024", 1024}, Setting{"16384", kMaxProcsLimit},
                      Setting{"16385", 0}, Setting{"0", 0}, Setting{"-1", 0},
                      Setting{"abc", 0}, Setting{"", 0}, Setting{" 2", 0},
                      Setting{"2 ", 0}, Setting{"2x", 0}, Setting{"+2", 0},
                      Setting{"2.5", 0}, Setting{"1000000000", 0},
                      Setting{"4294967298", 0},
                      Setting{"99999999999999999999999", 0}));

TEST_P(EnvironmentTest, OnlyASensibleNumberCounts) {
  ASSERT_EQ(::setenv("GORGE_MAXPROCS", GetParam().text, 1), 0);

  EXPECT_EQ(DefaultMaxProcs(),
            GetParam().procs != 0 ? GetParam().procs : CountCpus())
      << '"' << GetParam().text << '"';

  ::unsetenv("GORGE_MAXPROCS");
}

using MaxProcsTest = DeathTest;

TEST_F(MaxProcsTest, IsTheNumberOfCpusByDefault) {
  EXPECT_EXIT(InChild([] {
                ::unsetenv("GORGE_MAXPROCS");
                std::exit(MaxProcs() == NumCPU() ? 0 : 1);
              }),
              ExitedWithCode(0), "");
}

TEST_F(MaxProcsTest, FollowsTheAffinityMaskWhenTheRuntimeStarts) {
  EXPECT_EXIT(InChild([] {
                ::unsetenv("GORGE_MAXPROCS");
                if (!PinToOneCpu()) std::exit(2);
                std::exit(MaxProcs() == 1 ? 0 : 1);
              }),
              ExitedWithCode(0), "");
}

TEST_F(MaxProcsTest, FollowsTheEnvironment) {
  EXPECT_EXIT(InChild([] {
                ::setenv("GORGE_MAXPROCS", "5", 1);
                std::exit(MaxProcs());
              }),
              ExitedWithCode(5), "");
}

TEST_F(MaxProcsTest, ConfigureHasTheLastWord) {
  EXPECT_EXIT(InChild([] {
                ::setenv("GORGE_MAXPROCS", "5", 1);
                Configure({.max_procs = 3});
                std::exit(MaxProcs());
              }),
              ExitedWithCode(3), "");
}

TEST_F(MaxProcsTest, IsFixedWhileTheRuntimeRuns) {
  EXPECT_EXIT(InChild([] {
                Configure({.max_procs = 3});
                if (MaxProcs() != 3) std::exit(1);
                ::setenv("GORGE_MAXPROCS", "5", 1);
                std::exit(MaxProcs());
              }),
              ExitedWithCode(3), "");
}

TEST_F(MaxProcsTest, AThousandWork) {
  EXPECT_EXIT(InChild([] {
                ::setenv("GORGE_MAXPROCS", "1024", 1);
                WaitGroup group;
                for (int i = 0; i < 5'000; ++i) group.Go([] { Gosched(); });
                group.Wait();
                Shutdown();
                std::exit(MaxProcs() == 1024 ? 0 : 1);
              }),
              ExitedWithCode(0), "");
}

}  // namespace
}  // namespace gorge::internal
