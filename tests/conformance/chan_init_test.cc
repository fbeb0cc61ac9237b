// Goroutines and channels at work before main, in the constructors of globals.

#include <optional>
#include <vector>

#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/core/runtime.h"
#include "gorge/select/select.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

int SumBeforeMain() {
  const Chan<int> numbers = MakeChan<int>();
  const Chan<int> result = MakeChan<int>(1);
  go([=] {
    int sum = 0;
    for (const int v : numbers) sum += v;
    result.Send(sum);
  });
  for (int i = 1; i <= 100; ++i) {
    Select(OnSend(numbers, i), OnRecv(result));
  }
  numbers.Close();
  return *result.Recv();
}

const int sum_before_main = SumBeforeMain();
const Chan<int> made_before_main = MakeChan<int>(1);
const Chan<int> nil_before_main;

TEST(ChanInitTest, ChannelsWorkBeforeMain) { EXPECT_EQ(sum_before_main, 5050); }

TEST(ChanInitTest, AGlobalChannelIsUsedAfterwards) {
  go([] { made_before_main.Send(7); });
  EXPECT_EQ(made_before_main.Recv(), 7);
  EXPECT_FALSE(nil_before_main);
}

TEST(ChanInitTest, AGlobalChannelOutlivesAShutdown) {
  made_before_main.Send(8);
  Shutdown();
  EXPECT_EQ(made_before_main.Recv(), 8);
  go([] { made_before_main.Send(9); });
  EXPECT_EQ(made_before_main.Recv(), 9);
  Shutdown();
}

}  // namespace
}  // namespace gorge
