// Selects that both send to and receive from one channel, and a sender that
// selects over several.

#include <vector>

#include "gorge/chan/chan.h"
#include "gorge/select/select.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::Kind;
using ::gorge::testing::kKinds;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;
using ::gorge::testing::Team;

class ChanSelfSelectTest : public RuntimeTest {};
GORGE_INSTANTIATE(ChanSelfSelectTest);

TEST_P(ChanSelfSelectTest, WithoutABufferNobodyReceivesItsOwnValue) {
  const int n = Scaled(2000);
  for (const Kind kind : kKinds) {
    for (const int capacity : {0, 10}) {
      const Chan<int> c = MakeChan<int>(capacity);
      Team team;
      for (int id = 0; id < 2; ++id) {
        team.Go(id == 0 ? kind : Kind::kGoroutine, [&, id] {
          for (int i = 0; i < n; ++i) {
            int got = -1;
            // Both orders of the cases.
            const bool send_first = i % 2 == 0;
            const bool received =
                send_first ? Select(OnSend(c, id), OnRecv(c, &got)) == 1
                           : Select(OnRecv(c, &got), OnSend(c, id)) == 0;
            if (received && capacity == 0) {
              ASSERT_EQ(got, 1 - id);
            }
          }
        });
      }
    }
  }
}

// Two cases of one select never both happen.
TEST_P(ChanSelfSelectTest, ASenderOverFourChannelsSendsEachValueOnce) {
  const int n = Scaled(5000);
  for (const Kind kind : kKinds) {
    std::vector<Chan<int>> c(4);
    for (Chan<int>& channel : c) channel = MakeChan<int>();
    const Chan<int> all = MakeChan<int>();
    Team team;
    Team forwarders;
    team.Go(kind, [&] {
      for (int i = 0; i < n; ++i) {
        Select(OnSend(c[0], i), OnSend(c[1], i), OnSend(c[2], i),
               OnSend(c[3], i));
      }
      for (const Chan<int>& channel : c) channel.Close();
    });
    for (const Chan<int>& channel : c) {
      forwarders.Go(Kind::kGoroutine, [&] {
        for (const int v : channel) all.Send(v);
      });
    }
    team.Go(Kind::kGoroutine, [&] {
      std::vector<int> seen(n);
      for (const int v : all) ++seen[v];
      for (const int count : seen) ASSERT_EQ(count, 1);
    });
    forwarders.Wait();
    all.Close();
  }
}

}  // namespace
}  // namespace gorge
