// Case B33, the first half: after a fork with a live runtime the child has one
// thread, and locks that nobody will release. There exec and _exit work; what
// would need the others ends with a clear message, and never hangs.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/core/internal/futex.h"
#include "gorge/core/internal/sanitizer.h"
#include "gorge/core/panic.h"
#include "gorge/core/runtime.h"
#include "gorge/select/select.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/death_test.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::DeathTest;
using ::gorge::testing::InChild;
using ::gorge::testing::kSlowdown;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::testing::ExitedWithCode;
using ::testing::HasSubstr;

// How a child ended: with a status or by a signal, and what it said.
struct Outcome {
  int status = -1;
  int signal = 0;
  std::string err;

  bool IsFatal() const {
    return signal == SIGABRT &&
           err.find(internal::kForkedText) != std::string::npos;
  }
};

std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
  return out << "status " << outcome.status << ", signal " << outcome.signal
             << ", stderr: " << outcome.err;
}

// Forks; the child calls f() and ends with 0, or with SIGALRM if that hangs.
Outcome Fork(const std::function<void()>& f) {
  int err[2];
  if (::pipe(err) != 0) std::abort();
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(err[1], STDERR_FILENO);
    ::alarm(kSlowdown > 1 ? 50 : 10);
    f();
    ::_exit(0);
  }
  ::close(err[1]);
  Outcome outcome;
  char text[256];
  for (ssize_t n; (n = ::read(err[0], text, sizeof text)) > 0;) {
    outcome.err.append(text, static_cast<std::size_t>(n));
  }
  ::close(err[0]);
  int status = 0;
  if (::waitpid(pid, &status, 0) != pid) std::abort();
  if (WIFEXITED(status)) outcome.status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
  return outcome;
}

// For children: ends them with 1 if something is not as it should be.
void Demand(bool condition) {
  if (!condition) ::_exit(1);
}

void Exec() {
  ::execl("/bin/sh", "sh", "-c", "exit 7", static_cast<char*>(nullptr));
}

// Keeps all Ps busy: with channels, and with goroutines that come and go.
class Traffic {
 public:
  explicit Traffic(int n) {
    for (int i = 0; i < n; ++i) {
      workers_.Go([this] {
        while (!stop_) {
          WaitGroup pair;
          pair.Go([this] { c_.Send(1); });
          pair.Go([this] { c_.Recv(); });
          pair.Wait();
          ++rounds_;
        }
      });
    }
  }
  ~Traffic() {
    stop_ = true;
    workers_.Wait();
  }

  int rounds() const { return rounds_; }

 private:
  Chan<int> c_ = MakeChan<int>();
  std::atomic<bool> stop_{false};
  std::atomic<int> rounds_{0};
  WaitGroup workers_;
};

class ForkTest : public RuntimeTest {
 protected:
  // Calls f with a runtime that is idle, then with a busy one.
  void InBothStates(const std::function<void()>& f) {
    {
      SCOPED_TRACE("idle");
      MaxProcs();
      f();
    }
    SCOPED_TRACE("busy");
    const Traffic traffic(2 * procs());
    Await([&] { return traffic.rounds() > 10; });
    f();
    // The parent's runtime is as it was.
    const int before = traffic.rounds();
    Await([&] { return traffic.rounds() > before + 10; });
  }
};
GORGE_INSTANTIATE(ForkTest);

TEST_P(ForkTest, TheChildMayExitAndExec) {
  InBothStates([] {
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(Fork([] { ::_exit(5); }).status, 5);
      EXPECT_EQ(Fork(&Exec).status, 7);
    }
  });
}

TEST_P(ForkTest, ChannelsOfTheChildsOwnWorkWhereNobodyMustWait) {
  InBothStates([] {
    const auto buffered = MakeChan<int>(2);
    buffered.Send(1);
    const Outcome outcome = Fork([&] {
      buffered.Send(2);
      Demand(!buffered.TrySend(3));
      Demand(buffered.Recv() == 1);
      Demand(Select(OnRecv(buffered), OnDefault()) == 0);
      Demand(!buffered.TryRecv().ready);
      buffered.Close();
      Demand(!buffered.Recv().has_value());
      WaitGroup none;
      none.Wait();
      Gosched();
    });
    EXPECT_EQ(outcome.status, 0) << outcome;
  });
}

TEST_P(ForkTest, WhatNeedsOtherThreadsIsFatalInTheChild) {
  const auto c = MakeChan<int>();
  WaitGroup group;
  group.Add(1);
  const std::function<void()> uses[] = {
      [] { go([] {}); },
      [&] { c.Recv(); },
      [&] { c.Send(1); },
      [] { Chan<int>().Recv(); },
      [&] { Select(OnRecv(c), OnSend(c, 1)); },
      [] { Select(); },
      [&] { group.Wait(); },
      [] { WaitGroup().Go([] {}); },
      [] { gorge::Run([] {}); },
      [] { MaxProcs(); },
  };
  InBothStates([&] {
    for (const std::function<void()>& use : uses) {
      const Outcome outcome = Fork(use);
      EXPECT_TRUE(outcome.IsFatal()) << outcome;
    }
  });
}

TEST_P(ForkTest, WhatOnlyLooksNeverHangsInTheChild) {
  const std::function<void()> uses[] = {
      [] { NumGoroutine(); },
      [] { NumCPU(); },
      [] { Gosched(); },
      [] { Shutdown(); },
      [] { FreeOSMemory(); },
      [] {
        try {
          Configure({});
        } catch (const Panic&) {
        }
      },
  };
  InBothStates([&] {
    for (const std::function<void()>& use : uses) {
      const Outcome outcome = Fork(use);
      EXPECT_TRUE(outcome.status == 0 || outcome.IsFatal()) << outcome;
    }
  });
}

// The channel's lock may be held by a thread that the child does not have.
TEST_P(ForkTest, AChannelThatIsInUseNeverHangsInTheChild) {
  const auto c = MakeChan<int>(1);
  std::atomic<bool> stop{false};
  std::thread user([&] {
    while (!stop) {
      static_cast<void>(c.TrySend(1));
      static_cast<void>(c.TryRecv());
    }
  });
  MaxProcs();
  for (int i = 0; i < Scaled(50) + 3; ++i) {
    const Outcome outcome = Fork([&] {
      static_cast<void>(c.TrySend(1));
      static_cast<void>(c.TryRecv());
    });
    EXPECT_TRUE(outcome.status == 0 || outcome.IsFatal()) << outcome;
  }
  stop = true;
  user.join();
}

TEST_P(ForkTest, AGoroutineMayFork) {
  InBothStates([] {
    Run([] {
      EXPECT_EQ(Fork([] { ::_exit(5); }).status, 5);
      EXPECT_EQ(Fork(&Exec).status, 7);
      const auto c = MakeChan<int>(1);
      const Outcome buffered = Fork([&] {
        c.Send(1);
        Demand(c.Recv() == 1);
      });
      EXPECT_EQ(buffered.status, 0) << buffered;
    });
  });
}

TEST_P(ForkTest, WhatWouldSwitchIsFatalInTheChildOfAGoroutine) {
  const auto c = MakeChan<int>();
  const std::function<void()> uses[] = {
      [] { go([] {}); }, [&] { c.Recv(); }, [&] { Select(OnSend(c, 1)); },
      [] { Select(); },  [] { Gosched(); }, [] { Goexit(); },
  };
  InBothStates([&] {
    Run([&] {
      for (const std::function<void()>& use : uses) {
        const Outcome outcome = Fork(use);
        EXPECT_TRUE(outcome.IsFatal()) << outcome;
      }
    });
  });
}

TEST_P(ForkTest, AGoroutineMayRunAProgram) {
  InBothStates(
      [] { Run([] { EXPECT_EQ(WEXITSTATUS(std::system("exit 3")), 3); }); });
}

// TSan refuses new threads in the child of a process that had several.
TEST_P(ForkTest, AfterAShutdownTheChildMayStartItAgain) {
  if (GORGE_TSAN) GTEST_SKIP();
  Run([] { Gosched(); });
  Shutdown();

  const Outcome outcome = Fork([] {
    const auto c = MakeChan<int>();
    go([c] { c.Send(1); });
    Demand(c.Recv() == 1);
  });

  EXPECT_EQ(outcome.status, 0) << outcome;
  Run([] { Gosched(); });
}

// At whatever moment of a start or a stop.
TEST_P(ForkTest, AForkWhileAnotherThreadStartsOrStopsItNeverHangsTheChild) {
  if (GORGE_TSAN) GTEST_SKIP();
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) {
      MaxProcs();
      Shutdown();
    }
  });
  for (int i = 0; i < Scaled(100) + 3 && !HasFailure(); ++i) {
    const Outcome outcome = Fork([] {
      const auto c = MakeChan<int>();
      go([c] { c.Send(1); });
      Demand(c.Recv() == 1);
    });
    EXPECT_TRUE(outcome.status == 0 || outcome.IsFatal()) << outcome;
  }
  stop = true;
  other.join();
}

using ForkBeforeTheStartTest = DeathTest;

TEST_F(ForkBeforeTheStartTest, LeavesParentAndChildFreeToStartIt) {
  EXPECT_EXIT(InChild([] {
                const auto use = [] {
                  const auto c = MakeChan<int>();
                  go([c] { c.Send(3); });
                  return *c.Recv();
                };
                const Outcome child = Fork([&] { ::_exit(use()); });
                std::exit(child.status + use());
              }),
              ExitedWithCode(6), "");
}

}  // namespace
}  // namespace gorge
