// A select looks at all of its channels in one moment. It says "none is ready"
// only if at some moment none was, however values move about meanwhile.

#include <atomic>
#include <cstddef>

#include "gorge/chan/chan.h"
#include "gorge/core/runtime.h"
#include "gorge/select/select.h"
#include "gorge/select/selector.h"
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

class AtomicityTest : public RuntimeTest {
 protected:
  // Moves a token to and fro between two channels, always into the one before
  // out of the other, so that at each moment one of them has it. poll(a, b)
  // tries to receive it and returns 0 or 1 for the channel it came from; it is
  // put back there.
  template <class Poll>
  static void AlwaysFinds(const Poll& poll) {
    for (const Kind kind : kKinds) {
      const Chan<int> a = MakeChan<int>(2);
      const Chan<int> b = MakeChan<int>(2);
      a.Send(0);
      std::atomic<bool> stop{false};
      Team mover;
      mover.Go(kind, [&] {
        while (!stop) {
          b.Send(0);
          a.Recv();
          a.Send(0);
          b.Recv();
        }
      });
      for (int i = 0; i < Scaled(4000); ++i) {
        const std::size_t found = poll(a, b);
        if (found > 1) {
          ADD_FAILURE() << "at no moment were both channels empty";
          break;
        }
        (found == 0 ? a : b).Send(0);
      }
      stop = true;
    }
  }
};
GORGE_INSTANTIATE(AtomicityTest);

TEST_P(AtomicityTest, SelectFindsAValueThatMoves) {
  AlwaysFinds([](const Chan<int>& a, const Chan<int>& b) {
    return Select(OnRecv(a), OnRecv(b), OnDefault());
  });
}

TEST_P(AtomicityTest, SelectInOrderFindsAValueThatMoves) {
  AlwaysFinds([](const Chan<int>& a, const Chan<int>& b) {
    return SelectInOrder(OnRecv(a), OnRecv(b), OnDefault());
  });
  AlwaysFinds([](const Chan<int>& a, const Chan<int>& b) {
    return 1 - SelectInOrder(OnRecv(b), OnRecv(a), OnDefault());
  });
}

TEST_P(AtomicityTest, ASelectorFindsAValueThatMoves) {
  AlwaysFinds([](const Chan<int>& a, const Chan<int>& b) {
    Selector selector;
    selector.AddRecv(a);
    selector.AddRecv(b);
    selector.AddDefault();
    return selector.Run();
  });
}

}  // namespace
}  // namespace gorge
