// A real program of many goroutines that meet all the time: arithmetic of power
// series, once with numbers in the channels and once with values whose type is
// erased.

#include <any>
#include <utility>
#include <vector>

#include "gorge/tests/support/power_series.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::kSlowdown;
using ::gorge::testing::Rational;
using ::gorge::testing::RuntimeTest;
using ::gorge::testing::SeriesNetwork;

using Coefficients = std::vector<Rational>;

// How far the series are computed.
constexpr int kTerms = kSlowdown > 4 ? 5 : 10;

class ChanPowerSeriesTest : public RuntimeTest {
 protected:
  // Runs f(network) with both kinds of channels.
  template <class F>
  static void WithBoth(const F& f) {
    Run([&] {
      SeriesNetwork<Rational> numbers;
      f(numbers);
    });
    Run([&] {
      SeriesNetwork<std::any> erased;
      f(erased);
    });
  }
};
GORGE_INSTANTIATE(ChanPowerSeriesTest);

Coefficients Of(Rational (*f)(int)) {
  Coefficients c;
  for (int i = 0; i < kTerms; ++i) c.push_back(f(i));
  return c;
}

Rational Factorial(int n) {
  return n == 0 ? 1 : Rational(n) * Factorial(n - 1);
}

TEST_P(ChanPowerSeriesTest, SumsAndMultiples) {
  WithBoth([](auto& net) {
    const auto f = net.Polynomial({1, 2, 3});
    const auto g = net.From([] { return Rational(1, 2); });
    EXPECT_EQ(net.Take(net.Add(f, net.Scale(4, g)), 5),
              (Coefficients{3, 4, 5, 2, 2}));
  });
}

TEST_P(ChanPowerSeriesTest, DerivativeAndIntegral) {
  WithBoth([](auto& net) {
    const auto [f, g] = net.Split(net.From([] { return Rational(1); }));
    EXPECT_EQ(net.Take(net.Derivative(f), kTerms),
              Of([](int n) { return Rational(n + 1); }));
    EXPECT_EQ(net.Take(net.Integral(0, g), kTerms),
              Of([](int n) { return n == 0 ? Rational(0) : Rational(1, n); }));
  });
}

TEST_P(ChanPowerSeriesTest, TheSquareOfTheGeometricSeries) {
  WithBoth([](auto& net) {
    const auto [f, g] = net.Split(net.From([] { return Rational(1); }));
    EXPECT_EQ(net.Take(net.Multiply(f, g), kTerms),
              Of([](int n) { return Rational(n + 1); }));
  });
}

TEST_P(ChanPowerSeriesTest, AReciprocal) {
  WithBoth([](auto& net) {
    const auto one_less_x = net.Polynomial({1, -1});
    EXPECT_EQ(net.Take(net.Reciprocal(one_less_x), kTerms),
              Of([](int) { return Rational(1); }));
  });
}

TEST_P(ChanPowerSeriesTest, TheExponentialSeries) {
  WithBoth([](auto& net) {
    const auto x = net.Polynomial({0, 1});
    EXPECT_EQ(net.Take(net.Exponential(x), kTerms),
              Of([](int n) { return Rational(1) / Factorial(n); }));
  });
}

TEST_P(ChanPowerSeriesTest, SineAndCosineDefineEachOther) {
  WithBoth([](auto& net) {
    using S = typename std::remove_reference_t<decltype(net)>::S;
    const S cosine_loop;
    const auto [cosine, cosine2] = net.Split(cosine_loop);
    const auto [sine, sine2] = net.Split(net.Integral(0, cosine2));
    net.Integral(cosine_loop, 1, net.Scale(-1, sine2));
    const auto [c1, c2] = net.Split(cosine);
    const auto [s1, s2] = net.Split(sine);
    Coefficients one(kTerms, 0);
    one[0] = 1;
    EXPECT_EQ(
        net.Take(net.Add(net.Multiply(c1, c2), net.Multiply(s1, s2)), kTerms),
        one);
  });
}

}  // namespace
}  // namespace gorge
