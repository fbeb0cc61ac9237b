// Which types can be elements, each along every way through a channel.

#include <any>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/tests/support/paths.h"
#include "gorge/tests/support/runtime_test.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::Paths;
using ::gorge::testing::RuntimeTest;

class ElementTypesTest : public RuntimeTest {
 protected:
  // Sends T(args...) and expects equal(received) to hold.
  template <class T, class Equal, class... Args>
  static void Pass(const Equal& equal, const Args&... args) {
    Run([&] {
      Paths<T>([&] { return T(args...); },
               [&](T& received) { EXPECT_TRUE(equal(received)); })
          .TakeAll();
    });
  }
};
GORGE_INSTANTIATE(ElementTypesTest);

TEST_P(ElementTypesTest, Scalars) {
  Pass<int>([](int v) { return v == -7; }, -7);
  Pass<bool>([](bool v) { return v; }, true);
  Pass<double>([](double v) { return v == 0.1; }, 0.1);
  enum class Color : std::uint8_t { kRed, kGreen };
  Pass<Color>([](Color v) { return v == Color::kGreen; }, Color::kGreen);
  static int target;
  Pass<int*>([](const int* v) { return v == &target; }, &target);
  Pass<const void*>([](const void* v) { return v == nullptr; }, nullptr);
  Pass<int (*)(int)>([](int (*f)(int)) { return f(6) == 7; },
                     +[](int x) { return x + 1; });
}

TEST_P(ElementTypesTest, ThoseOfTheStandardLibrary) {
  const std::string text = "a text too long for the small buffer of a string";
  Pass<std::string>([&](const std::string& v) { return v == text; }, text);
  Pass<std::vector<std::any>>(
      [](const std::vector<std::any>& v) {
        return v.size() == 2 && std::any_cast<int>(v[1]) == 7;
      },
      std::vector<std::any>{1, 7});
  Pass<std::optional<int>>([](std::optional<int> v) { return v == 7; }, 7);
  Pass<std::optional<int>>(
      [](std::optional<int> v) { return v == std::nullopt; }, std::nullopt);
  Pass<std::variant<int, std::string>>(
      [&](const auto& v) { return std::get<1>(v) == text; }, text);
  Pass<std::function<int()>>([](const auto& f) { return f() == 7; },
                             [] { return 7; });
  Pass<std::pair<int, std::string>>(
      [&](const auto& v) { return v.second == text; }, 7, text);
}

TEST_P(ElementTypesTest, MoveOnly) {
  Run([] {
    Paths<std::unique_ptr<int>>([] { return std::make_unique<int>(7); },
                                [](const auto& p) {
                                  ASSERT_NE(p, nullptr);
                                  EXPECT_EQ(*p, 7);
                                })
        .TakeAll();
  });
}

TEST_P(ElementTypesTest, WithConstMembersAndNoAssignment) {
  struct Fixed {
    explicit Fixed(std::string t) : text(std::move(t)) {}
    const std::string text;
    const int number = 7;
  };
  struct Unassignable {
    explicit Unassignable(int v) : value(std::make_unique<int>(v)) {}
    Unassignable(Unassignable&&) noexcept = default;
    Unassignable& operator=(Unassignable&&) = delete;
    std::unique_ptr<int> value;
  };
  // Its implicit move constructor copies the string and may throw.
  static_assert(!std::is_nothrow_move_constructible_v<Fixed>);
  Run([] {
    Paths<std::unique_ptr<Fixed>>(
        [] { return std::make_unique<Fixed>("fixed"); },
        [](const auto& p) { EXPECT_EQ(p->text, "fixed"); })
        .TakeAll();
  });
  struct FixedNumbers {
    const int a = 3;
    const std::array<const int, 3> b{4, 5, 6};
  };
  Pass<FixedNumbers>(
      [](const FixedNumbers& v) { return v.a == 3 && v.b[2] == 6; });
  Pass<Unassignable>([](const Unassignable& v) { return *v.value == 7; }, 7);
}

TEST_P(ElementTypesTest, WithoutADefaultConstructor) {
  struct Explicit {
    explicit Explicit(int v) : value(v) {}
    int value;
  };
  Pass<Explicit>([](const Explicit& v) { return v.value == 7; }, 7);
}

TEST_P(ElementTypesTest, WithACopyConstructorThatThrows) {
  struct Dear {
    Dear() = default;
    Dear(const Dear&) { throw std::runtime_error("copied"); }
    Dear(Dear&&) noexcept = default;
    int value = 7;
  };
  Pass<Dear>([](const Dear& v) { return v.value == 7; });
}

template <std::size_t kAlignment>
struct alignas(kAlignment) Aligned {
  explicit Aligned(int v) : value(v) {}
  bool IsAligned() const {
    return reinterpret_cast<std::uintptr_t>(this) % kAlignment == 0;
  }
  int value;
};

TEST_P(ElementTypesTest, OverAligned) {
  Pass<Aligned<64>>([](const auto& v) { return v.value == 7 && v.IsAligned(); },
                    7);
  Pass<Aligned<4096>>(
      [](const auto& v) { return v.value == 7 && v.IsAligned(); }, 7);
}

// An address-of that nobody may use, and one that lies.
struct Unaddressable {
  int value = 7;
  Unaddressable* operator&() = delete;
  const Unaddressable* operator&() const = delete;
};
struct Liar {
  int value = 7;
  Liar* operator&() { return nullptr; }
  const Liar* operator&() const { return nullptr; }
};
// A comma that would swallow what stands right of it.
struct Comma {
  int value = 7;
  template <class T>
  void operator,(T&&) const = delete;
};

TEST_P(ElementTypesTest, WithOperatorsOfTheirOwn) {
  Pass<Unaddressable>([](const auto& v) { return v.value == 7; });
  Pass<Liar>([](const auto& v) { return v.value == 7; });
  Pass<Comma>([](const auto& v) { return v.value == 7; });
}

TEST_P(ElementTypesTest, WithAnOperatorNewOfTheirOwn) {
  struct NoHeap {
    explicit NoHeap(int v) : value(v) {}
    int value;
    static void* operator new(std::size_t) = delete;
    static void* operator new(std::size_t, void*) = delete;
    static void operator delete(void*) = delete;
  };
  const Chan<NoHeap> c = MakeChan<NoHeap>(1);
  c.Send(NoHeap(7));
  EXPECT_EQ(c.Recv()->value, 7);
}

TEST_P(ElementTypesTest, Arrays) {
  struct Block {
    explicit Block(int first) {
      for (int& v : values) v = first++;
    }
    bool Holds(int first) const {
      for (const int v : values) {
        if (v != first++) return false;
      }
      return true;
    }
    int values[1000];
  };
  Pass<Block>([](const Block& v) { return v.Holds(7); }, 7);
  Pass<std::array<std::string, 3>>([](const auto& v) { return v[2] == "c"; },
                                   std::array<std::string, 3>{"a", "b", "c"});
}

TEST_P(ElementTypesTest, Channels) {
  const Chan<int> c = MakeChan<int>(1);
  Pass<Chan<int>>([&](const Chan<int>& v) { return v == c; }, c);
  Pass<RecvChan<int>>([&](const RecvChan<int>& v) { return v == c; }, c);
  Pass<Chan<int>>([&](const Chan<int>& v) { return v == Chan<int>(); });
}

// A request that names the channel for its answer, of its own kind.
struct Request {
  int value = 0;
  Chan<Request> answer;
};

TEST_P(ElementTypesTest, StructsThatHoldChannelsOfThemselves) {
  Run([] {
    const Chan<Request> requests = MakeChan<Request>();
    go([requests] {
      for (const Request& r : requests) r.answer.Send({r.value + 1, {}});
    });
    const Chan<Request> answer = MakeChan<Request>();
    for (int i = 0; i < 10; ++i) {
      requests.Send({i, answer});
      EXPECT_EQ(answer.Recv()->value, i + 1);
    }
    requests.Close();
  });
}

}  // namespace
}  // namespace gorge
