// Mutex and RWMutex: fairness, and what kills the process. Answers
// sync/mutex_test.go; each case has the name of the test it answers.

#include "gorge/sync/mutex.h"

#include <signal.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <string>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/rw_mutex.h"
#include "gorge/tests/support/death_test.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/team.h"
#include "gorge/time/time.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::DeathTest;
using ::gorge::testing::InChild;
using ::gorge::testing::Kind;
using ::gorge::testing::kKinds;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Team;
using ::testing::HasSubstr;
using ::testing::KilledBySignal;

class MutexConformanceTest : public RuntimeTest {};
GORGE_INSTANTIATE(MutexConformanceTest);

// One that holds it nearly all the time, and another that pauses between its
// tries: it gets it ten times all the same.
TEST_P(MutexConformanceTest, MutexFairness) {
  constexpr absl::Duration kPause = absl::Microseconds(100);
  for (const Kind hog : kKinds) {
    Mutex mutex;
    std::atomic<bool> stop{false};
    Team team;
    team.Go(hog, [&] {
      while (!stop) {
        const std::lock_guard hold(mutex);
        Sleep(kPause);
      }
    });
    for (int i = 0; i < 10; ++i) {
      Sleep(kPause);
      const std::lock_guard hold(mutex);
    }
    stop = true;
  }
}

struct Misuse {
  const char* name;
  const char* text;
  void (*commit)();
};

const Misuse kMisuses[] = {
    {"MutexUnlock", "sync: unlock of unlocked mutex",
     [] {
       Mutex mutex;
       mutex.unlock();
     }},
    {"MutexUnlockAgain", "sync: unlock of unlocked mutex",
     [] {
       Mutex mutex;
       mutex.lock();
       mutex.unlock();
       mutex.unlock();
     }},
    {"RWMutexUnlock", "sync: Unlock of unlocked RWMutex",
     [] {
       RWMutex mutex;
       mutex.unlock();
     }},
    {"RWMutexUnlockOfARead", "sync: Unlock of unlocked RWMutex",
     [] {
       RWMutex mutex;
       mutex.lock_shared();
       mutex.unlock();
     }},
    {"RWMutexUnlockAgain", "sync: Unlock of unlocked RWMutex",
     [] {
       RWMutex mutex;
       mutex.lock();
       mutex.unlock();
       mutex.unlock();
     }},
    {"RWMutexUnlockShared", "sync: RUnlock of unlocked RWMutex",
     [] {
       RWMutex mutex;
       mutex.unlock_shared();
     }},
    {"RWMutexUnlockSharedOfAWrite", "sync: RUnlock of unlocked RWMutex",
     [] {
       RWMutex mutex;
       mutex.lock();
       mutex.unlock_shared();
     }},
    {"RWMutexUnlockSharedAgain", "sync: RUnlock of unlocked RWMutex",
     [] {
       RWMutex mutex;
       mutex.lock_shared();
       mutex.unlock_shared();
       mutex.unlock_shared();
     }},
};

class MutexMisuseTest : public DeathTest,
                        public ::testing::WithParamInterface<Misuse> {};
INSTANTIATE_TEST_SUITE_P(All, MutexMisuseTest, ::testing::ValuesIn(kMisuses),
                         [](const auto& misuse) {
                           return std::string(misuse.param.name);
                         });

// It ends the process, whatever the goroutine catches.
TEST_P(MutexMisuseTest, MutexMisuse) {
  EXPECT_EXIT(InChild([] {
                gorge::Run([] {
                  try {
                    GetParam().commit();
                  } catch (...) {
                  }
                });
              }),
              KilledBySignal(SIGABRT),
              HasSubstr(std::string("fatal error: ") + GetParam().text));
}

}  // namespace
}  // namespace gorge
