// tests/support/power_series.h -- power series as networks of goroutines.
//
// A series is a goroutine that gives its next coefficient when it is asked for
// it. Operations are goroutines that ask their operands. So an infinite series
// is computed as far as somebody looks.
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
  // kept for the other.
  std::pair<S, S> Split(const S& s) {
    const std::pair<S, S> both;
    Start([this, s, both] {
      std::deque<Rational> kept[2];  // For the first, for the second.
      while (true) {
        const std::size_t asked = Select(
            OnRecv(both.first.ask), OnRecv(both.second.ask), OnRecv(done_));
        if (asked == 2) throw Done();
        if (kept[asked].empty()) {
          const Rational next = Next(s);
          kept[0].push_back(next);
          kept[1].push_back(next);
        }
        Give(asked == 0 ? both.first : both.second, kept[asked].front());
        kept[asked].pop_front();
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

 private:
  struct Done {};

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
