#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/core/panic.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/counted.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::Counted;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;

class GoexitTest : public RuntimeTest {};

GORGE_INSTANTIATE(GoexitTest);

// Appends its name when it is destroyed.
struct Trace {
  std::string& log;
  char name;
  ~Trace() { log += name; }
};

TEST_P(GoexitTest, DestroysTheFramesInnermostFirstAndGoesNoFurther) {
  Run([] {
    std::string log;
    WaitGroup done;
    done.Go([&] {
      const Trace a{log, 'a'};
      [&] {
        const Trace b{log, 'b'};
        const Trace c{log, 'c'};
        Goexit();
      }();
      log += '!';
    });
    done.Wait();

    EXPECT_EQ(log, "cba");
  });
}

TEST_P(GoexitTest, DestroysTheClosureAndItsArguments) {
  Run([] {
    for (int i = 0; i < 100; ++i) {
      go([counted = Counted(1)](const Counted&) { Goexit(); }, Counted(2));
    }
    Await([] { return NumGoroutine() == 1; });

    EXPECT_EQ(Counted::live, 0);
  });
}

TEST_P(GoexitTest, OthersGoOn) {
  Run([] {
    const auto out = MakeChan<int>();
    WaitGroup done;
    for (int i = 0; i < 50; ++i) {
      done.Go([] { Goexit(); });
      done.Go([out, i] { out.Send(i); });
    }
    for (int i = 0; i < 50; ++i) EXPECT_TRUE(out.Recv().has_value());
    done.Wait();
  });
}

TEST_P(GoexitTest, WorksAfterTheGoroutineHasMoved) {
  Run([] {
    WaitGroup done;
    std::atomic<int> destroyed{0};
    for (int i = 0; i < Scaled(2'000) + 8; ++i) {
      done.Go([&] {
        const std::shared_ptr<void> guard(nullptr, [&](void*) { ++destroyed; });
        Gosched();
        Gosched();
        Goexit();
      });
    }
    done.Wait();

    EXPECT_EQ(destroyed, Scaled(2'000) + 8);
  });
}

TEST_P(GoexitTest, IsNoException) {
  Run([] {
    std::string log;
    WaitGroup done;
    done.Go([&] {
      try {
        Goexit();
      } catch (const std::exception&) {
        log += "caught";
      } catch (int) {
        log += "caught";
      }
      log += "went on";
    });
    done.Wait();

    EXPECT_EQ(log, "");
  });
}

TEST_P(GoexitTest, ACatchAllOnTheWayRunsAndMustRethrow) {
  Run([] {
    std::string log;
    WaitGroup done;
    done.Go([&] {
      const Trace outer{log, 'o'};
      try {
        const Trace inner{log, 'i'};
        Goexit();
      } catch (...) {
        log += 'c';
        throw;
      }
      log += '!';
    });
    done.Wait();

    EXPECT_EQ(log, "ico");
  });
}

TEST_P(GoexitTest, ManyCatchAllsOnTheWayWork) {
  Run([] {
    std::atomic<int> depth{0};
    WaitGroup done;
    done.Go([&] {
      const std::function<void(int)> nest = [&](int n) {
        try {
          if (n == 0) Goexit();
          nest(n - 1);
        } catch (...) {
          ++depth;
          throw;
        }
      };
      nest(30);
    });
    done.Wait();

    EXPECT_EQ(depth, 31);
  });
}

TEST_P(GoexitTest, DestructorsOnTheWayMayBlock) {
  Run([] {
    const auto asked = MakeChan<int>();
    const auto answered = MakeChan<int>();
    WaitGroup done;
    done.Go([&] {
      const std::shared_ptr<void> guard(nullptr, [&](void*) {
        asked.Send(1);
        EXPECT_EQ(answered.Recv(), 2);
      });
      Goexit();
    });

    EXPECT_EQ(asked.Recv(), 1);
    answered.Send(2);
    done.Wait();
  });
}

TEST_P(GoexitTest, DestructorsOnTheWayMayThrowAndCatch) {
  Run([] {
    WaitGroup done;
    std::atomic<int> caught{0};
    done.Go([&] {
      const std::shared_ptr<void> guard(nullptr, [&](void*) {
        try {
          throw std::runtime_error("inside");
        } catch (const std::runtime_error&) {
          ++caught;
        }
      });
      Goexit();
    });
    done.Wait();

    EXPECT_EQ(caught, 1);
  });
}

// The exception is done with: a handler may end the goroutine.
TEST_P(GoexitTest, WorksInsideACatchBlock) {
  Run([] {
    std::string log;
    WaitGroup done;
    done.Go([&] {
      const Trace outer{log, 'o'};
      try {
        throw std::runtime_error("handled");
      } catch (const std::runtime_error&) {
        Goexit();
      }
      log += '!';
    });
    done.Wait();

    EXPECT_EQ(log, "o");
  });
}

TEST_P(GoexitTest, NoExceptionIsLeftBehindForTheNextGoroutine) {
  Run([] {
    for (int i = 0; i < 200; ++i) {
      WaitGroup done;
      done.Go([] {
        try {
          throw 1;
        } catch (int) {
          Goexit();
        }
      });
      done.Wait();
      done.Go([] {
        EXPECT_EQ(std::current_exception(), nullptr);
        EXPECT_EQ(std::uncaught_exceptions(), 0);
      });
      done.Wait();
    }
  });
}

TEST_P(GoexitTest, IsAPanicInAPlainThread) {
  std::string text;
  std::thread([&] {
    try {
      Goexit();
    } catch (const Panic& e) {
      text = e.what();
    }
  }).join();

  EXPECT_EQ(text, "Goexit is called outside a goroutine");
}

TEST_P(GoexitTest, RecursionOfAnyDepthIsUnwound) {
  Run([] {
    std::atomic<int> destroyed{0};
    WaitGroup done;
    done.Go([&] {
      const std::function<void(int)> dive = [&](int n) {
        const std::shared_ptr<void> guard(nullptr, [&](void*) { ++destroyed; });
        if (n == 0) Goexit();
        dive(n - 1);
      };
      dive(200);
    });
    done.Wait();

    EXPECT_EQ(destroyed, 201);
  });
}

}  // namespace
}  // namespace gorge
