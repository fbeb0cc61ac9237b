// Each goroutine has its own C++ exception state, which goes with it from
// thread to thread.

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
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

class ExceptionTest : public RuntimeTest {};

GORGE_INSTANTIATE(ExceptionTest);

// What the caller is handling.
std::string Current() {
  try {
    throw;
  } catch (const std::runtime_error& e) {
    return e.what();
  }
}

// Parks the caller, and lets others that do the same run in between.
void Pause() {
  const auto wake = MakeChan<int>();
  go([wake] {
    Gosched();
    wake.Send(1);
  });
  wake.Recv();
}

TEST_P(ExceptionTest, AGoroutineMayParkInsideACatchBlockAndRethrow) {
  Run([] {
    WaitGroup all;
    for (int id = 0; id < 16; ++id) {
      all.Go([id] {
        for (int i = 0; i < Scaled(400) + 2; ++i) {
          const std::string mine = std::to_string(id) + "/" + std::to_string(i);
          try {
            try {
              throw std::runtime_error(mine);
            } catch (...) {
              Pause();
              ASSERT_EQ(Current(), mine);
              throw;
            }
          } catch (const std::runtime_error& e) {
            ASSERT_EQ(e.what(), mine);
          }
          ASSERT_EQ(std::current_exception(), nullptr);
        }
      });
    }
    all.Wait();
  });
}

TEST_P(ExceptionTest, CatchBlocksNestAcrossParks) {
  Run([] {
    WaitGroup all;
    for (int id = 0; id < 8; ++id) {
      all.Go([] {
        const std::function<void(int)> nest = [&nest](int depth) {
          const std::string mine = std::to_string(depth);
          try {
            throw std::runtime_error(mine);
          } catch (const std::runtime_error&) {
            Gosched();
            if (depth < 20) nest(depth + 1);
            Pause();
            ASSERT_EQ(Current(), mine);
          }
        };
        nest(0);
      });
    }
    all.Wait();
  });
}

// Parks while it is unwinding, as a destructor may.
struct ParksInDestructor {
  ~ParksInDestructor() {
    const int before = std::uncaught_exceptions();
    Pause();
    EXPECT_EQ(std::uncaught_exceptions(), before);
  }
};

TEST_P(ExceptionTest, TheCountOfUncaughtExceptionsIsTheGoroutinesOwn) {
  Run([] {
    std::atomic<bool> stop{false};
    WaitGroup all;
    all.Go([&] {
      while (!stop) {
        ASSERT_EQ(std::uncaught_exceptions(), 0);
        Gosched();
      }
    });
    WaitGroup throwing;
    for (int id = 0; id < 8; ++id) {
      throwing.Go([] {
        for (int i = 0; i < Scaled(300) + 2; ++i) {
          try {
            const ParksInDestructor outer;
            const ParksInDestructor inner;
            throw std::runtime_error("unwinds");
          } catch (const std::runtime_error&) {
            ASSERT_EQ(std::uncaught_exceptions(), 0);
          }
        }
      });
    }
    throwing.Wait();
    stop = true;
    all.Wait();
  });
}

TEST_P(ExceptionTest, ADestructorMayThrowAndCatchWhileItUnwindsAndParks) {
  struct Throws {
    ~Throws() {
      try {
        Pause();
        throw std::runtime_error("inner");
      } catch (const std::runtime_error& e) {
        Pause();
        EXPECT_STREQ(e.what(), "inner");
        EXPECT_EQ(std::uncaught_exceptions(), 1);
      }
    }
  };
  Run([] {
    WaitGroup all;
    for (int id = 0; id < 8; ++id) {
      all.Go([] {
        try {
          const Throws throws;
          throw std::runtime_error("outer");
        } catch (const std::runtime_error& e) {
          EXPECT_STREQ(e.what(), "outer");
        }
      });
    }
    all.Wait();
  });
}

TEST_P(ExceptionTest, ANewGoroutineHandlesNothing) {
  Run([] {
    WaitGroup done;
    try {
      throw std::runtime_error("the starter's");
    } catch (const std::runtime_error&) {
      done.Go([] {
        EXPECT_EQ(std::current_exception(), nullptr);
        EXPECT_EQ(std::uncaught_exceptions(), 0);
      });
      done.Wait();
      EXPECT_EQ(Current(), "the starter's");
    }
  });
}

TEST_P(ExceptionTest, AnExceptionPtrTravelsThroughAChannel) {
  Run([] {
    const auto failures = MakeChan<std::exception_ptr>();
    go([failures] {
      try {
        throw std::runtime_error("travelled");
      } catch (...) {
        failures.Send(std::current_exception());
      }
    });

    const std::exception_ptr failure = failures.Recv().value();
    try {
      std::rethrow_exception(failure);
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "travelled");
      return;
    }
    ADD_FAILURE() << "nothing was thrown";
  });
}

TEST_P(ExceptionTest, ManyGoroutinesThrowAtOnceAndFarDown) {
  Run([] {
    WaitGroup all;
    std::atomic<int> caught{0};
    for (int id = 0; id < 32; ++id) {
      all.Go([&caught] {
        const std::function<void(int)> dive = [&dive](int depth) {
          const auto guard = std::make_unique<int>(depth);
          if (depth == 0) throw std::runtime_error("from below");
          if (depth % 16 == 0) Gosched();
          dive(depth - 1);
        };
        for (int i = 0; i < Scaled(50) + 1; ++i) {
          try {
            dive(100);
          } catch (const std::runtime_error&) {
            ++caught;
          }
        }
      });
    }
    all.Wait();

    EXPECT_EQ(caught, 32 * (Scaled(50) + 1));
  });
}

TEST_P(ExceptionTest, PlainThreadsKeepTheirsWhileTheyBlock) {
  const auto wake = MakeChan<int>();
  std::vector<std::thread> threads;
  for (int id = 0; id < 4; ++id) {
    threads.emplace_back([&, mine = std::to_string(id)] {
      try {
        throw std::runtime_error(mine);
      } catch (const std::runtime_error&) {
        wake.Recv();
        EXPECT_EQ(Current(), mine);
      }
    });
  }

  for (int i = 0; i < 4; ++i) wake.Send(i);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace gorge
