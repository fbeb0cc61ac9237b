// ErrGroup and WaitGroup: what throws in one of their goroutines. Answers
// sync/waitgroup_test.go (Issue76126) and what x/sync/errgroup demands.

#include "gorge/xsync/err_group.h"

#include <signal.h>
#include <unistd.h>

#include <stdexcept>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/death_test.h"
#include "gorge/tests/support/runtime_test.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::DeathTest;
using ::gorge::testing::InChild;
using ::gorge::testing::RuntimeTest;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::KilledBySignal;
using ::testing::Not;

class ErrGroupConformanceTest : public RuntimeTest {};
GORGE_INSTANTIATE(ErrGroupConformanceTest);

// With a limit of none a Go waits, here for ever.
TEST_P(ErrGroupConformanceTest, SetLimitZeroLetsNoneStart) {
  LeavesBlocked(1);
  auto* const group = new ErrGroup;  // Its goroutine never lets go of it.
  group->SetLimit(0);
  go([group] {
    group->Go([] {
      ADD_FAILURE() << "started";
      return absl::OkStatus();
    });
  });
  AwaitParked(1);
  EXPECT_FALSE(group->TryGo([] { return absl::OkStatus(); }));
}

TEST_P(ErrGroupConformanceTest, GoWaitsForAPlaceAtTheLimit) {
  Run([] {
    ErrGroup group;
    group.SetLimit(1);
    const auto release = MakeChan<int>();
    const auto wait = [release] {
      release.Recv();
      return absl::OkStatus();
    };
    bool second = false;
    group.Go(wait);
    WaitGroup starter;
    starter.Go([&] {
      group.Go([&second] {
        second = true;
        return absl::AbortedError("second");
      });
    });
    AwaitParked(2);
    EXPECT_FALSE(second);
    release.Send(1);
    starter.Wait();
    EXPECT_EQ(group.Wait(), absl::AbortedError("second"));
  });
}

using GoroutineThrowsTest = DeathTest;

// The process ends, and nobody who waits is told before that all is done: not
// even while the exception is on its way.
TEST_F(GoroutineThrowsTest, Issue76126) {
  EXPECT_EXIT(InChild([] {
                gorge::Run([] {
                  WaitGroup group;
                  group.Go([] { throw std::runtime_error("in the group"); });
                  group.Wait();
                  static_cast<void>(!::write(2, "done\n", 5));
                });
              }),
              KilledBySignal(SIGABRT),
              AllOf(HasSubstr("panic: in the group"), Not(HasSubstr("done"))));
}

TEST_F(GoroutineThrowsTest, ErrGroupCatchesNothing) {
  EXPECT_EXIT(InChild([] {
                gorge::Run([] {
                  ErrGroup group;
                  group.Go([]() -> absl::Status {
                    throw std::runtime_error("in the group");
                  });
                  static_cast<void>(group.Wait());
                  static_cast<void>(!::write(2, "done\n", 5));
                });
              }),
              KilledBySignal(SIGABRT),
              AllOf(HasSubstr("panic: in the group"), Not(HasSubstr("done"))));
}

}  // namespace
}  // namespace gorge
