// RWMutex: readers together, and by a view that only reads. Answers
// sync/rwmutex_test.go and the lock of the same kind in
// runtime/rwmutex_test.go; each case has the name of the test it answers.

#include "gorge/sync/rw_mutex.h"

#include <mutex>
#include <shared_mutex>

#include "gorge/chan/chan.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::kKinds;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Team;

class RWMutexConformanceTest : public RuntimeTest {};
GORGE_INSTANTIATE(RWMutexConformanceTest);

// All readers are inside before the first leaves.
TEST_P(RWMutexConformanceTest, ParallelReaders) {
  for (const int readers : {1, 3, 4, 64}) {
    RWMutex mutex;
    const auto inside = MakeChan<int>();
    const auto leave = MakeChan<int>();
    Team team;
    for (int i = 0; i < readers; ++i) {
      team.Go(kKinds[i % 8 == 7 ? 1 : 0], [&] {
        mutex.lock_shared();
        inside.Send(1);
        leave.Recv();
        mutex.unlock_shared();
      });
    }
    for (int i = 0; i < readers; ++i) inside.Recv();
    EXPECT_FALSE(mutex.try_lock());
    for (int i = 0; i < readers; ++i) leave.Send(1);
    team.Wait();
    EXPECT_TRUE(mutex.try_lock());
    mutex.unlock();
  }
}

// What stands in for Go's RLocker is std::shared_lock: it lets go of a writer
// as often as it keeps one out.
TEST_P(RWMutexConformanceTest, RLocker) {
  constexpr int kRounds = 10;
  RWMutex mutex;
  std::shared_lock read(mutex, std::defer_lock);
  const auto locked = MakeChan<int>(kRounds);
  const auto read_locked = MakeChan<int>(kRounds);
  Team team;
  team.Go(kKinds[0], [&] {
    std::unique_lock write(mutex, std::defer_lock);
    for (int i = 0; i < kRounds; ++i) {
      read.lock();
      read.unlock();
      read_locked.Send(i);
      write.lock();
      locked.Send(i);
      write.unlock();
    }
  });
  for (int i = 0; i < kRounds; ++i) {
    read_locked.Recv();
    std::shared_lock mine(mutex);
    if (!locked.TryRecv().ready) {
      // It stays out as long as this one is inside.
      EXPECT_FALSE(mutex.try_lock());
      EXPECT_FALSE(locked.TryRecv().ready);
      mine.unlock();
      locked.Recv();
    }
  }
}

}  // namespace
}  // namespace gorge
