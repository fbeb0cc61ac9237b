// Elements that are larger than a stack usually is.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/tests/support/paths.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/team.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::kSlowdown;
using ::gorge::testing::Paths;
using ::gorge::testing::RuntimeTest;

class LargeElementTest : public RuntimeTest {};
GORGE_INSTANTIATE(LargeElementTest);

template <std::size_t kSize>
struct Large {
  explicit Large(int v) : first(v), last(~v) { bytes[kSize / 2] = 42; }
  bool Holds(int v) const {
    return first == v && last == ~v && bytes[kSize / 2] == 42;
  }

  int first;
  std::array<char, kSize - 2 * sizeof(int)> bytes;
  int last;
};

// Room for the few copies that a caller and one operation make of an element.
constexpr std::size_t StackFor(std::size_t element) {
  return 5 * element + 64 * 1024;
}

template <std::size_t kSize>
void SendAlongEveryWay() {
  Paths<Large<kSize>>([] { return Large<kSize>(7); },
                      [](const auto& v) { EXPECT_TRUE(v.Holds(7)); },
                      StackFor(kSize))
      .TakeAll();
}

TEST_P(LargeElementTest, TakeEveryWayIfTheCallersFramesFit) {
  Run([] {
    SendAlongEveryWay<std::size_t{64} * 1024>();
    SendAlongEveryWay<std::size_t{256} * 1024>();
    if (kSlowdown < 16) SendAlongEveryWay<std::size_t{1024} * 1024>();
  });
}

// Sends on a channel with that buffer, filled to the brim and over.
template <std::size_t kSize>
void SendAndReceive(int capacity) {
  using Element = Large<kSize>;
  const auto c = MakeChan<Element>(capacity);
  const GoOptions options{.stack_size = 3 * kSize + 64 * 1024};
  WaitGroup both;
  both.Add(2);
  go(options, [&] {
    for (int i = 0; i < capacity + 2; ++i) c.Send(Element(i));
    both.Done();
  });
  go(options, [&] {
    for (int i = 0; i < capacity + 2; ++i) {
      const std::optional<Element> element = c.Recv();
      EXPECT_TRUE(element->Holds(i));
    }
    both.Done();
  });
  both.Wait();
}

TEST_P(LargeElementTest, APlainSendAndReceiveNeedNoMoreThanTheCallersCopies) {
  Run([] {
    for (const int capacity : {0, 1, 16}) {
      SendAndReceive<std::size_t{64} * 1024>(capacity);
      SendAndReceive<std::size_t{1024} * 1024>(capacity);
    }
  });
}

TEST_P(LargeElementTest, EightMebibytes) {
  Run([] {
    constexpr std::size_t kSize = std::size_t{8} * 1024 * 1024;
    for (const int capacity : {0, 1, 4}) SendAndReceive<kSize>(capacity);
  });
}

TEST_P(LargeElementTest, OnTheHeapTheyFitOnAnyStack) {
  constexpr std::size_t kSize = std::size_t{8} * 1024 * 1024;
  Run([] {
    Paths<std::unique_ptr<Large<kSize>>>(
        [] { return std::make_unique<Large<kSize>>(7); },
        [](const auto& v) { EXPECT_TRUE(v->Holds(7)); })
        .TakeAll();
  });
}

TEST_P(LargeElementTest, SomeOnADefaultStack) {
  constexpr std::size_t kSize = std::size_t{32} * 1024;
  Run([] {
    Paths<Large<kSize>>([] { return Large<kSize>(7); },
                        [](const auto& v) { EXPECT_TRUE(v.Holds(7)); })
        .TakeAll();
  });
}

}  // namespace
}  // namespace gorge
