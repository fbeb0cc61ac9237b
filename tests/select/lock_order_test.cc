// Selects that name the same channels in different orders. Channels are locked
// in the order of their addresses, so none waits for another in a circle.

#include <array>
#include <atomic>
#include <vector>

#include "gorge/chan/chan.h"
#include "gorge/select/select.h"
#include "gorge/tests/support/channels.h"
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
using ::gorge::testing::Waiting;

class LockOrderTest : public RuntimeTest {};
GORGE_INSTANTIATE(LockOrderTest);

TEST_P(LockOrderTest, OppositeOrdersDoNotDeadlock) {
  const int n = Scaled(2000);
  const Chan<int> a = MakeChan<int>(1);
  const Chan<int> b = MakeChan<int>(1);
  Team team;
  for (int i = 0; i < 4; ++i) {
    team.Go(kKinds[i / 2], [&, i] {
      for (int k = 0; k < n; ++k) {
        // SelectInOrder always locks all of its channels.
        if (i % 2 == 0) {
          SelectInOrder(OnSend(a, k), OnSend(b, k), OnDefault());
          SelectInOrder(OnRecv(b), OnRecv(a), OnDefault());
        } else {
          SelectInOrder(OnSend(b, k), OnSend(a, k), OnDefault());
          SelectInOrder(OnRecv(a), OnRecv(b), OnDefault());
        }
      }
    });
  }
}

TEST_P(LockOrderTest, RotationsOfManyChannelsMeetAndPart) {
  const int n = Scaled(1000);
  std::array<Chan<int>, 5> c;
  for (Chan<int>& channel : c) channel = MakeChan<int>();
  std::atomic<int> received{0};
  const Chan<int> done = MakeChan<int>();
  Team senders;
  Team receivers;
  for (int i = 0; i < 6; ++i) {
    const auto at = [&c, i](int k) -> const Chan<int>& {
      return c[(i * (k + 1) + k) % 5];  // Another order for each i.
    };
    senders.Go(kKinds[i % 2], [at] {
      for (int k = 0; k < n; ++k) {
        Select(OnSend(at(0), k), OnSend(at(1), k), OnSend(at(2), k));
      }
    });
    receivers.Go(kKinds[i % 2], [at, &received, &done] {
      while (Select(OnRecv(at(4)), OnRecv(at(3)), OnRecv(at(2)), OnRecv(at(1)),
                    OnRecv(at(0)), OnRecv(done)) != 5) {
        ++received;
      }
    });
  }
  senders.Wait();
  done.Close();
  receivers.Wait();
  EXPECT_EQ(received, 6 * n);
  for (const Chan<int>& channel : c) EXPECT_EQ(Waiting(channel), 0);
}

}  // namespace
}  // namespace gorge
