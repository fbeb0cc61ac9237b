// tests/support/power_series.h -- power series as networks of goroutines.
//
// A series is a goroutine that gives its next coefficient when it is asked for
// it. Operations are goroutines that ask their operands. So an infinite series
// is computed as far as somebody looks, and one may be defined by itself: the
// sine is the integral of the cosine, and the cosine 1 less the integral of the
// sine.
//
// C is what the channels carry: Rational, or a type that erases it.

#ifndef GORGE_TESTS_SUPPORT_POWER_SERIES_H_
#define GORGE_TESTS_SUPPORT_POWER_SERIES_H_

#include <any>
#include <cstdint>
#include <deque>
#include <functional>
#include <numeric>
#include <optional>
#include <ostream>
#include <utility>
#include <variant>
#include <vector>

#include "gorge/chan/chan.h"
#include "gorge/select/select.h"
#include "gorge/sync/wait_group.h"

namespace gorge::testing {

class Rational {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): numbers are rational.
  Rational(std::int64_t numerator = 0, std::int64_t denominator = 1)
      : numerator_(numerator), denominator_(denominator) {
    const std::int64_t d = std::gcd(numerator, denominator);
    numerator_ /= d;
    denominator_ /= d;
    if (denominator_ < 0) {
      numerator_ = -numerator_;
      denominator_ = -denominator_;
    }
  }

  friend Rational operator+(Rational a, Rational b) {
    return {a.numerator_ * b.denominator_ + b.numerator_ * a.denominator_,
            a.denominator_ * b.denominator_};
  }
  friend Rational operator*(Rational a, Rational b) {
    return {a.numerator_ * b.numerator_, a.denominator_ * b.denominator_};
  }
  friend Rational operator-(Rational a) { return a * Rational(-1); }
  friend Rational operator/(Rational a, Rational b) {
    return a * Rational(b.denominator_, b.numerator_);
  }
  friend bool operator==(Rational a, Rational b) = default;
  friend std::ostream& operator<<(std::ostream& out, Rational r) {
    return out << r.numerator_ << '/' << r.denominator_;
  }

 private:
  std::int64_t numerator_;
  std::int64_t denominator_;
};

inline Rational Unwrap(const Rational& r) { return r; }
inline Rational Unwrap(const std::any& r) { return std::any_cast<Rational>(r); }

// A handle to a series; every coefficient is given to one of its copies.
template <class C>
struct Series {
  Chan<std::monostate> ask = MakeChan<std::monostate>();
  Chan<C> give = MakeChan<C>();
};

// The goroutines of some series. Its destructor ends them.
template <class C>
class SeriesNetwork {
 public:
  using S = Series<C>;
  using Generator = std::function<Rational()>;

  SeriesNetwork() = default;
  ~SeriesNetwork() {
    done_.Close();
    goroutines_.Wait();
  }
  SeriesNetwork(const SeriesNetwork&) = delete;
  SeriesNetwork& operator=(const SeriesNetwork&) = delete;

  Rational Next(const S& s) {
    if (Select(OnSend(s.ask, std::monostate()), OnRecv(done_)) == 1) {
      throw Done();
    }
    std::optional<C> coefficient;
    if (Select(OnRecv(done_), OnRecv(s.give, &coefficient)) == 0) throw Done();
    return Unwrap(*coefficient);
  }

  std::vector<Rational> Take(const S& s, int n) {
    std::vector<Rational> coefficients;
    for (int i = 0; i < n; ++i) coefficients.push_back(Next(s));
    return coefficients;
  }

  // What generate() returns, one after the other.
  S From(Generator generate) { return Define(S(), std::move(generate)); }

  // The same for a series that is in use already.
  S Define(const S& s, Generator generate) {
    Start([this, s, generate] {
      while (true) {
        AwaitAsk(s);
        Give(s, generate());
      }
    });
    return s;
  }

  // Two series that both are `s`: coefficients that one of them has had are
  // kept for the other. While it waits for `s` it still serves the one that is
  // behind, or a series that is defined by itself would wait for itself.
  std::pair<S, S> Split(const S& s) {
    const std::pair<S, S> both;
    Start([this, s, both] {
      Side first{both.first};
      Side second{both.second};
      bool asked_source = false;
      while (true) {
        const bool wanting = first.wants_more() || second.wants_more();
        const bool ask = wanting && !asked_source;
        // A case that has nothing to do now stands there with a nil channel.
        std::optional<C> next;
        const std::size_t chosen = Select(
            OnRecv(first.asked ? Asks() : first.series.ask),
            OnRecv(second.asked ? Asks() : second.series.ask),
            OnSend(ask ? s.ask : Asks(), std::monostate()),
            OnRecv(asked_source ? s.give : Chan<C>(), &next), OnRecv(done_));
        switch (chosen) {
          case 0:
            first.asked = true;
            break;
          case 1:
            second.asked = true;
            break;
          case 2:
            asked_source = true;
            break;
          case 3:
            asked_source = false;
            first.kept.push_back(Unwrap(*next));
            second.kept.push_back(Unwrap(*next));
            break;
          default:
            throw Done();
        }
        Serve(first);
        Serve(second);
      }
    });
    return both;
  }

  // The polynomial with these coefficients.
  S Polynomial(std::vector<Rational> coefficients) {
    std::deque<Rational> left(coefficients.begin(), coefficients.end());
    return From([left]() mutable {
      if (left.empty()) return Rational(0);
      const Rational first = left.front();
      left.pop_front();
      return first;
    });
  }

  S Add(const S& f, const S& g) {
    return From([this, f, g] { return Next(f) + Next(g); });
  }
  S Scale(Rational c, const S& f) {
    return From([this, c, f] { return c * Next(f); });
  }

  // c + x f.
  S Shift(Rational c, const S& f) {
    return From([this, c, f, first = true]() mutable {
      return std::exchange(first, false) ? c : Next(f);
    });
  }

  S Derivative(const S& f) {
    return From([this, f, n = 0]() mutable {
      if (n == 0) Next(f);
      return Rational(++n) * Next(f);
    });
  }

  // The integral that is c at 0. Gives c before it asks for anything.
  S Integral(Rational c, const S& f) { return Integral(S(), c, f); }
  S Integral(const S& result, Rational c, const S& f) {
    return Define(result, [this, c, f, n = 0]() mutable {
      if (n == 0) return ++n, c;
      return Next(f) / Rational(n++);
    });
  }

  // With f = f0 + x F and g = g0 + x G:  f0 g0 + x (f0 G + g0 F + x F G).
  S Multiply(const S& f, const S& g) {
    S result;
    Start([this, result, f, g] {
      AwaitAsk(result);
      const Rational f0 = Next(f);
      const Rational g0 = Next(g);
      Give(result, f0 * g0);
      AwaitAsk(result);  // The rest of the network is made when it is needed.
      const auto [f1, f2] = Split(f);
      const auto [g1, g2] = Split(g);
      const S rest =
          Add(Add(Scale(f0, g1), Scale(g0, f1)), Shift(0, Multiply(f2, g2)));
      while (true) {
        Give(result, Next(rest));
        AwaitAsk(result);
      }
    });
    return result;
  }

  // 1 / f. With f = f0 + x F it is r = 1 / f0 - (x / f0) F r, a loop.
  S Reciprocal(const S& f) {
    const S loop;
    const auto [result, again] = Split(loop);
    Start([this, loop, f, again = again] {
      AwaitAsk(loop);
      const Rational f0 = Next(f);
      Give(loop, Rational(1) / f0);
      const S rest = Scale(Rational(-1) / f0, Multiply(f, again));
      while (true) {
        AwaitAsk(loop);
        Give(loop, Next(rest));
      }
    });
    return result;
  }

  // The exponential of a series without a constant: e' = e f', a loop.
  S Exponential(const S& f) {
    const S loop;
    const auto [result, again] = Split(loop);
    Integral(loop, 1, Multiply(again, Derivative(f)));
    return result;
  }

 private:
  using Asks = Chan<std::monostate>;

  struct Done {};

  // One of the two that a Split serves.
  struct Side {
    S series;
    std::deque<Rational> kept = {};
    bool asked = false;

    bool wants_more() const { return asked && kept.empty(); }
  };

  void Serve(Side& side) {
    if (!side.asked || side.kept.empty()) return;
    Give(side.series, side.kept.front());
    side.kept.pop_front();
    side.asked = false;
  }

  void AwaitAsk(const S& s) {
    if (Select(OnRecv(s.ask), OnRecv(done_)) == 1) throw Done();
  }
  void Give(const S& s, Rational coefficient) {
    if (Select(OnSend(s.give, C(coefficient)), OnRecv(done_)) == 1) {
      throw Done();
    }
  }
  void Start(std::function<void()> f) {
    goroutines_.Go([f] {
      try {
        f();
      } catch (const Done&) {
      }
    });
  }

  const Chan<std::monostate> done_ = MakeChan<std::monostate>();
  WaitGroup goroutines_;
};

}  // namespace gorge::testing

#endif  // GORGE_TESTS_SUPPORT_POWER_SERIES_H_
