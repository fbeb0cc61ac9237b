// Operations that must not block, on channels of several element sizes in every
// state: empty, full, with a receiver or a sender waiting.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gorge/chan/chan.h"
#include "gorge/select/select.h"
#include "gorge/tests/support/channels.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::AwaitWaiting;
using ::gorge::testing::Kind;
using ::gorge::testing::kKinds;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Team;

class ChanNonblockTest : public RuntimeTest {};
GORGE_INSTANTIATE(ChanNonblockTest);

// The two ways to write it.
template <class T>
bool Send(const Chan<T>& c, const T& v, bool by_select) {
  return by_select ? Select(OnSend(c, v), OnDefault()) == 0 : c.TrySend(v);
}
template <class T>
std::optional<T> Recv(const Chan<T>& c, bool by_select) {
  if (!by_select) return c.TryRecv().value;
  std::optional<T> v;
  Select(OnRecv(c, &v), OnDefault());
  return v;
}

template <class T>
void CheckEveryState(const T& v, const T& w) {
  for (const bool by_select : {false, true}) {
    const Chan<T> unbuffered = MakeChan<T>();
    EXPECT_FALSE(Send(unbuffered, v, by_select));
    EXPECT_EQ(Recv(unbuffered, by_select), std::nullopt);

    const Chan<T> buffered = MakeChan<T>(1);
    EXPECT_EQ(Recv(buffered, by_select), std::nullopt);
    EXPECT_TRUE(Send(buffered, v, by_select));
    EXPECT_FALSE(Send(buffered, w, by_select));
    EXPECT_EQ(Recv(buffered, by_select), v);
    EXPECT_EQ(Recv(buffered, by_select), std::nullopt);

    for (const Kind kind : kKinds) {
      Team team;
      team.Go(kind, [&] { EXPECT_EQ(unbuffered.Recv(), v); });
      AwaitWaiting(unbuffered, 1);
      EXPECT_EQ(Recv(unbuffered, by_select), std::nullopt);
      EXPECT_TRUE(Send(unbuffered, v, by_select));
      EXPECT_FALSE(Send(unbuffered, w, by_select));

      team.Go(kind, [&] { unbuffered.Send(w); });
      AwaitWaiting(unbuffered, 1);
      EXPECT_FALSE(Send(unbuffered, v, by_select));
      EXPECT_EQ(Recv(unbuffered, by_select), w);
      EXPECT_EQ(Recv(unbuffered, by_select), std::nullopt);

      buffered.Send(v);
      team.Go(kind, [&] { buffered.Send(w); });
      AwaitWaiting(buffered, 1);
      EXPECT_FALSE(Send(buffered, v, by_select));
      EXPECT_EQ(Recv(buffered, by_select), v);
      EXPECT_EQ(Recv(buffered, by_select), w);
    }
  }
}

TEST_P(ChanNonblockTest, SucceedExactlyWhereTheyNeedNotWait) {
  CheckEveryState<bool>(true, false);
  CheckEveryState<std::uint8_t>(123, 45);
  CheckEveryState<std::int32_t>(123456, -1);
  CheckEveryState<std::int64_t>(123456789012, -1);
  CheckEveryState<std::string>("hello", "");
  CheckEveryState<std::vector<int>>({1, 2, 3}, {});
  CheckEveryState<std::array<long, 13>>({1, 2, 3}, {4});
}

}  // namespace
}  // namespace gorge
