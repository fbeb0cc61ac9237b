#include "gorge/tests/support/runtime_test.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "gorge/core/go.h"
#include "gorge/core/internal/futex.h"
#include "gorge/core/internal/timers.h"
#include "gorge/core/runtime.h"
#include "gorge/tests/support/census.h"
#include "gorge/tests/support/counted.h"

namespace gorge::testing {
namespace {

// Instrumented builds are slow, and the machines that run them are busy.
std::chrono::seconds TimeLimit() {
  const char* scale = std::getenv("GORGE_TEST_TIME_SCALE");
  return std::chrono::seconds(60 * (scale != nullptr ? std::atoi(scale) : 1));
}

}  // namespace

// Kills the process if it is not destroyed in time.
class Watchdog {
 public:
  Watchdog() : thread_([this] { Guard(); }) {}
  ~Watchdog() {
    {
      const std::lock_guard<std::mutex> hold(mutex_);
      done_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

 private:
  void Guard() {
    std::unique_lock<std::mutex> hold(mutex_);
    if (changed_.wait_for(hold, TimeLimit(), [this] { return done_; })) return;
    std::fprintf(stderr, "test timed out\n");
    PrintScheduler(stderr);
    std::abort();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread thread_;
};

RuntimeTest::RuntimeTest() = default;
RuntimeTest::~RuntimeTest() = default;

void RuntimeTest::SetUp() {
  watchdog_ = std::make_unique<Watchdog>();
  Shutdown();
  Configure({.max_procs = GetParam()});
  Counted::live = 0;
}

void RuntimeTest::TearDown() {
  // Goroutines that have done their work may still be on their last steps,
  // and a timer be disarmed by the machine that fires it.
  Await([this] {
    return NumGoroutine() <= expected_blocked_ &&
           internal::CountTimers() <= expected_timers_;
  });
  const Census census = TakeCensus();
  EXPECT_EQ(census.waiting, expected_blocked_) << "goroutines left blocked";
  Shutdown();
  Configure({});
  EXPECT_EQ(Counted::live, 0) << "elements left";
  watchdog_.reset();
}

void RuntimeTest::Run(const std::function<void()>& f) {
  std::atomic<std::uint32_t> done{0};
  go([&] {
    f();
    done.store(1);
    internal::FutexWake(done, 1);
  });
  while (done.load() == 0) internal::FutexWait(done, 0);
}

void RuntimeTest::AwaitParked(int n) {
  Await([n] { return TakeCensus().waiting >= n; });
}

void RuntimeTest::Await(const std::function<bool()>& condition) {
  while (!condition()) Gosched();
}

}  // namespace gorge::testing
