// What many parked goroutines cost: memory, mappings, and no CPU at all.

#include <atomic>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/core/internal/sanitizer.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/census.h"
#include "gorge/tests/support/resources.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::AllPsAreIdle;
using ::gorge::testing::kSlowdown;
using ::gorge::testing::ProcessCpuTime;
using ::gorge::testing::ResidentBytes;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;

constexpr double kMegabyte = 1e6;

constexpr bool kOptimized =
#ifdef __OPTIMIZE__
    true;
#else
    false;
#endif

int CountMappings() {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);) ++count;
  return count;
}

double AvailableBytes() {
  std::ifstream info("/proc/meminfo");
  std::string name;
  double kilobytes = 0;
  while (info >> name >> kilobytes && name != "MemAvailable:") {
    info.ignore(100, '\n');
  }
  return kilobytes * 1024;
}

// `count` goroutines, parked from construction on.
class Crowd {
 public:
  explicit Crowd(int count) {
    std::atomic<int> arrived{0};
    for (int i = 0; i < count; ++i) {
      ended_.Go([this, &arrived] {
        // Release, acquire: `arrived` goes when all have been here.
        arrived.fetch_add(1, std::memory_order_release);
        gate_.Recv();
      });
    }
    while (arrived.load(std::memory_order_acquire) < count) {
      std::this_thread::yield();
    }
  }
  ~Crowd() {
    gate_.Close();
    ended_.Wait();
  }

 private:
  Chan<int> gate_ = MakeChan<int>();
  WaitGroup ended_;
};

class ManyParkedTest : public RuntimeTest {
 protected:
  // Sanitizers keep books of memory of their own.
  static constexpr bool kCountsBytes = !GORGE_ASAN && !GORGE_TSAN;

  // Parks `count` goroutines from a plain thread, and ends them.
  static void MeasureCrowd(int count, int procs) {
    MaxProcs();  // Starts the runtime.
    const long before = ResidentBytes();
    const int mappings = CountMappings();
    {
      const Crowd crowd(count);
      AwaitParked(count);
      if (kCountsBytes) {
        // The second term is for what does not grow with the count.
        EXPECT_LE(static_cast<double>(ResidentBytes() - before),
                  5'200.0 * count + 2 * kMegabyte);
        // A machine has some too: stacks, an arena of the allocator.
        EXPECT_LE(CountMappings() - mappings, 16 + 8 * procs);
      }
    }
    FreeOSMemory();
    if (kCountsBytes) {
      EXPECT_LE(static_cast<double>(ResidentBytes() - before), 50 * kMegabyte);
    }
  }
};

GORGE_INSTANTIATE(ManyParkedTest);

TEST_P(ManyParkedTest, AHundredThousandTakeAPageEachAndGiveItBack) {
  MeasureCrowd(Scaled(100'000), procs());
}

class MillionParkedTest : public ManyParkedTest {};
INSTANTIATE_TEST_SUITE_P(Procs, MillionParkedTest, ::testing::Values(2),
                         ::testing::PrintToStringParamName());

TEST_P(MillionParkedTest, StartParkWakeAndEnd) {
  if (kSlowdown > 1 || !kOptimized || AvailableBytes() < 8e9) {
    GTEST_SKIP() << "needs 4 GB of memory and an optimized build";
  }
  MeasureCrowd(1'000'000, procs());
}

TEST_P(ManyParkedTest, TenThousandUseNoCpu) {
  const Crowd crowd(Scaled(10'000));
  AwaitParked(Scaled(10'000));
  Await(&AllPsAreIdle);

  const auto before = ProcessCpuTime();
  std::this_thread::sleep_for(std::chrono::seconds(2));  // What is measured.

  EXPECT_LE(ProcessCpuTime() - before,
            kSlowdown * std::chrono::milliseconds(2));
}

}  // namespace
}  // namespace gorge
