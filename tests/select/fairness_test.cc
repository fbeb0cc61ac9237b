// Which of several ready cases is chosen: each equally often.
//
// Pearson's test: the sum of (seen - expected)^2 / expected over the ready
// cases is about their number less one if the choice is uniform; the limit
// below is passed by chance less than once in 10^12 times. Case B04.

#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
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

class FairnessTest : public RuntimeTest {
 protected:
  FairnessTest() { closed_.Close(); }

  static int Rounds() { return 1000 + Scaled(9000); }

  const Chan<int> closed_ = MakeChan<int>();  // Ready to receive from.
  const Chan<int> idle_ = MakeChan<int>();
  const Chan<int> nil_;
};
GORGE_INSTANTIATE(FairnessTest);

// Expects that only the cases in `ready` were chosen, and each equally often.
void ExpectUniform(const std::vector<int>& chosen,
                   const std::vector<std::size_t>& ready) {
  int total = 0;
  int total_ready = 0;
  for (const int count : chosen) total += count;
  for (const std::size_t i : ready) total_ready += chosen[i];
  EXPECT_EQ(total, total_ready) << "a case was chosen that was not ready";
  const double expected = static_cast<double>(total) / ready.size();
  double chi_square = 0;
  for (const std::size_t i : ready) {
    chi_square += std::pow(chosen[i] - expected, 2) / expected;
  }
  const double freedom = static_cast<double>(ready.size() - 1);
  EXPECT_LT(chi_square, freedom + 10 * std::sqrt(2 * freedom) + 40)
      << ::testing::PrintToString(chosen);
}

template <class Choose>
void ExpectUniformChoice(int rounds, std::size_t cases,
                         const std::vector<std::size_t>& ready,
                         const Choose& choose) {
  std::vector<int> chosen(cases);
  for (int i = 0; i < rounds; ++i) ++chosen.at(choose());
  ExpectUniform(chosen, ready);
}

TEST_P(FairnessTest, TwoReadyAmongIdleOnesInEveryPosition) {
  for (std::size_t a = 0; a < 4; ++a) {
    for (std::size_t b = a + 1; b < 4; ++b) {
      const auto at = [&](std::size_t i) -> const Chan<int>& {
        return i == a || i == b ? closed_ : idle_;
      };
      ExpectUniformChoice(Rounds(), 4, {a, b}, [&] {
        return Select(OnRecv(at(0)), OnRecv(at(1)), OnRecv(at(2)),
                      OnRecv(at(3)));
      });
    }
  }
}

TEST_P(FairnessTest, ReadyCasesThatSend) {
  ExpectUniformChoice(Rounds(), 4, {1, 3}, [&] {
    const Chan<int> a = MakeChan<int>(1);
    const Chan<int> b = MakeChan<int>(1);
    return Select(OnSend(idle_, 1), OnSend(a, 1), OnSend(nil_, 1),
                  OnSend(b, 1));
  });
}

TEST_P(FairnessTest, SendsAndReceivesAlike) {
  const Chan<int> half = MakeChan<int>(2);
  half.Send(1);
  int balance = 1;
  ExpectUniformChoice(Rounds(), 5, {0, 1, 3}, [&] {
    const std::size_t chosen =
        Select(OnSend(half, 1), OnRecv(half), OnRecv(idle_), OnRecv(closed_),
               OnDefault());
    balance += chosen == 0 ? 1 : chosen == 1 ? -1 : 0;
    if (balance == 0) half.Send(1), balance = 1;
    if (balance == 2) half.Recv(), balance = 1;
    return chosen;
  });
}

TEST_P(FairnessTest, TheSameChannelInSeveralCases) {
  ExpectUniformChoice(Rounds(), 3, {0, 1, 2}, [&] {
    return Select(OnRecv(closed_), OnRecv(closed_), OnRecv(closed_));
  });
}

TEST_P(FairnessTest, TwoValuesOnOneChannel) {
  for (const int capacity : {0, 1, 10}) {
    const Chan<int> c = MakeChan<int>(capacity);
    const int n = Rounds();
    std::vector<int> got(2);
    Team team;
    team.Go(Kind::kGoroutine, [&] {
      for (int i = 0; i < n; ++i) Select(OnSend(c, 0), OnSend(c, 1));
      c.Close();
    });
    for (const int v : c) ++got.at(v);
    // The receiver mostly waits for it, or the buffer has room: both cases are
    // ready at once.
    EXPECT_EQ(got[0] + got[1], n);
    EXPECT_GT(got[0], n / 10) << capacity;
    EXPECT_GT(got[1], n / 10) << capacity;
  }
}

TEST_P(FairnessTest, EightReadyOf64) {
  Selector selector;
  std::vector<std::size_t> ready;
  for (std::size_t i = 0; i < 64; ++i) {
    const bool is_ready = i % 9 == 3 || i == 63;
    if (is_ready) ready.push_back(i);
    selector.AddRecv(is_ready ? closed_ : MakeChan<int>());
  }
  ASSERT_EQ(ready.size(), 8u);
  ExpectUniformChoice(Rounds(), 64, ready, [&] { return selector.Run(); });
}

TEST_P(FairnessTest, EachGoroutineAndThreadChoosesForItself) {
  for (const Kind kind : kKinds) {
    std::array<std::vector<int>, 4> chosen;
    {
      Team team;
      for (std::vector<int>& mine : chosen) {
        mine.resize(2);
        team.Go(kind, [&] {
          for (int i = 0; i < Rounds(); ++i) {
            ++mine[Select(OnRecv(closed_), OnRecv(closed_))];
          }
        });
      }
    }
    for (const std::vector<int>& one : chosen) ExpectUniform(one, {0, 1});
  }
}

TEST_P(FairnessTest, NewGoroutinesChooseDifferently) {
  // Their first choice is no constant either.
  std::vector<int> chosen(2);
  const Chan<std::size_t> first_choices = MakeChan<std::size_t>();
  const int n = Scaled(1000) + 100;
  for (int i = 0; i < n; ++i) {
    go([&] { first_choices.Send(Select(OnRecv(closed_), OnRecv(closed_))); });
    ++chosen.at(*first_choices.Recv());
  }
  Await([] { return NumGoroutine() == 0; });
  EXPECT_GT(chosen[0], n / 10);
  EXPECT_GT(chosen[1], n / 10);
}

}  // namespace
}  // namespace gorge
