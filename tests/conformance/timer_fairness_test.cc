// Timers beside goroutines that always have something to do. Answers
// TimerFairness of runtime/proc_test.go.

#include "absl/time/time.h"
#include "gorge/chan/chan.h"
#include "gorge/core/runtime.h"
#include "gorge/select/select.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/time/time.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::RuntimeTest;

class TimerFairnessTest : public RuntimeTest {};
GORGE_INSTANTIATE(TimerFairnessTest);

// Two that send whenever somebody receives do not keep the receiver, which
// selects between them and a timer, from seeing the timer.
TEST_P(TimerFairnessTest, TimerFairness) {
  Run([] {
    const auto c = MakeChan<int>();
    const auto done = MakeChan<int>();
    WaitGroup senders;
    for (int i = 0; i < 2; ++i) {
      senders.Go([&] {
        bool over = false;
        while (!over) Select(OnSend(c, 1), OnRecv(done, [&] { over = true; }));
      });
    }
    const RecvChan<absl::Time> timer = After(absl::Milliseconds(20));
    bool over = false;

    while (!over) Select(OnRecv(c), OnRecv(timer, [&] { over = true; }));

    done.Close();
    senders.Wait();
  });
}

}  // namespace
}  // namespace gorge
