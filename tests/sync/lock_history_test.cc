// Histories of a Mutex and of an RWMutex, by goroutines and threads at once,
// are checked for linearizability: the try operations fail only if somebody has
// the lock, or waits for it already, at some moment of the call.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gorge/core/runtime.h"
#include "gorge/sync/mutex.h"
#include "gorge/sync/rw_mutex.h"
#include "gorge/tests/support/history.h"
#include "gorge/tests/support/linearizable.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::Call;
using ::gorge::testing::Caller;
using ::gorge::testing::IsLinearizable;
using ::gorge::testing::RecordCalls;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;

enum class Method {
  kLock,
  kTryLock,
  kUnlock,
  kLockShared,
  kTryLockShared,
  kUnlockShared,
};

struct Op {
  Method method;
  bool yes = true;
  // Of a try that failed: because of one who waited.
  bool may_be_refused = false;
};

using History = std::vector<Call<Op>>;

// How many readers hold the lock; or kWriter.
using Holders = int;
constexpr Holders kWriter = -1;

std::optional<Holders> After(Holders before, const Op& op) {
  const auto if_possible = [](bool possible, Holders after) {
    return possible ? std::optional<Holders>(after) : std::nullopt;
  };
  switch (op.method) {
    case Method::kLock:
    case Method::kTryLock:
      return op.yes ? if_possible(before == 0, kWriter)
                    : if_possible(before != 0 || op.may_be_refused, before);
    case Method::kUnlock:
      return if_possible(before == kWriter, 0);
    case Method::kLockShared:
    case Method::kTryLockShared:
      return op.yes
                 ? if_possible(before >= 0, before + 1)
                 : if_possible(before == kWriter || op.may_be_refused, before);
    case Method::kUnlockShared:
      return if_possible(before > 0, before - 1);
  }
  return std::nullopt;
}

// A lock may be free and yet nobody's to try for: it is kept for one who has
// waited long, or who has been let in and does not know it yet.
void NoteRefusals(History& history) {
  for (Call<Op>& tried : history) {
    if (tried.op.yes) continue;
    for (const Call<Op>& other : history) {
      const bool waits = other.op.method == Method::kLock ||
                         other.op.method == Method::kLockShared;
      tried.op.may_be_refused |=
          waits && other.begin < tried.begin && tried.begin < other.end;
    }
  }
}

bool IsPossible(History history) {
  NoteRefusals(history);
  return IsLinearizable(history, Holders{0}, After);
}

std::string Print(const History& history) {
  std::string text;
  for (const auto& [op, begin, end] : history) {
    text += std::to_string(begin) + ".." + std::to_string(end) + ": method " +
            std::to_string(static_cast<int>(op.method)) +
            (op.yes ? " yes\n" : " no\n");
  }
  return text;
}

// Takes `lock` by `method` and, if that succeeds, releases it by `release`.
template <class Take, class Release>
void Hold(Caller<Op>& caller, Method method, Take take, Method release_method,
          Release release) {
  const Op taken =
      caller.Make({.method = method}, [&](Op& op) { op.yes = take(); });
  if (!taken.yes) return;
  if (caller.random().Below(3) == 0) Gosched();
  caller.Make({.method = release_method}, [&](Op&) { release(); });
}

template <class L>
void Write(Caller<Op>& caller, L& lock) {
  const auto release = [&] { lock.unlock(); };
  if (caller.random().Below(2) == 0) {
    Hold(
        caller, Method::kTryLock, [&] { return lock.try_lock(); },
        Method::kUnlock, release);
  } else {
    Hold(
        caller, Method::kLock, [&] { return lock.lock(), true; },
        Method::kUnlock, release);
  }
}

void Read(Caller<Op>& caller, RWMutex& lock) {
  const auto release = [&] { lock.unlock_shared(); };
  if (caller.random().Below(2) == 0) {
    Hold(
        caller, Method::kTryLockShared, [&] { return lock.try_lock_shared(); },
        Method::kUnlockShared, release);
  } else {
    Hold(
        caller, Method::kLockShared, [&] { return lock.lock_shared(), true; },
        Method::kUnlockShared, release);
  }
}

class LockHistoryTest : public RuntimeTest {};
GORGE_INSTANTIATE(LockHistoryTest);

TEST_P(LockHistoryTest, OfAMutexAreLinearizable) {
  for (int round = 0; round < Scaled(150) + 10; ++round) {
    Mutex mutex;
    const History history = RecordCalls<Op>(4, round, [&](Caller<Op>& caller) {
      for (int i = 0; i < 6; ++i) Write(caller, mutex);
    });
    ASSERT_TRUE(IsPossible(history)) << Print(history);
  }
}

TEST_P(LockHistoryTest, OfAnRWMutexAreLinearizable) {
  for (int round = 0; round < Scaled(150) + 10; ++round) {
    RWMutex mutex;
    const std::uint32_t writers = 1 + round % 3;  // Of four.
    const History history = RecordCalls<Op>(4, round, [&](Caller<Op>& caller) {
      for (int i = 0; i < 6; ++i) {
        if (caller.random().Below(4) < writers) {
          Write(caller, mutex);
        } else {
          Read(caller, mutex);
        }
      }
    });
    ASSERT_TRUE(IsPossible(history)) << Print(history);
  }
}

// The model's own tests.

TEST(LockModelTest, RejectsTwoHolders) {
  const Op lock{.method = Method::kLock};
  const Op unlock{.method = Method::kUnlock};
  const Op read{.method = Method::kLockShared};
  EXPECT_FALSE(IsPossible({{lock, 1, 2}, {lock, 3, 4}, {unlock, 5, 6}}));
  EXPECT_FALSE(IsPossible({{lock, 1, 2}, {read, 3, 4}, {unlock, 5, 6}}));
  EXPECT_TRUE(IsPossible({{lock, 1, 2}, {read, 3, 6}, {unlock, 4, 5}}));
}

TEST(LockModelTest, RejectsAFailureThatNobodyIsToBlameFor) {
  const Op lock{.method = Method::kLock};
  const Op unlock{.method = Method::kUnlock};
  const Op read{.method = Method::kLockShared};
  const Op end_read{.method = Method::kUnlockShared};
  const Op fails{.method = Method::kTryLock, .yes = false};
  const Op read_fails{.method = Method::kTryLockShared, .yes = false};
  EXPECT_FALSE(IsPossible({{fails, 1, 2}}));
  EXPECT_FALSE(IsPossible({{lock, 1, 2}, {unlock, 3, 4}, {fails, 5, 6}}));
  EXPECT_TRUE(IsPossible({{lock, 1, 2}, {unlock, 3, 5}, {fails, 4, 6}}));
  EXPECT_FALSE(IsPossible({{read, 1, 2}, {read_fails, 3, 4}}));
  EXPECT_TRUE(IsPossible(
      {{read, 1, 2}, {lock, 3, 8}, {read_fails, 4, 5}, {end_read, 6, 7}}));
}

}  // namespace
}  // namespace gorge
