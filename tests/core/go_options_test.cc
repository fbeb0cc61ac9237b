#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/core/internal/goroutine.h"
#include "gorge/core/internal/sanitizer.h"
#include "gorge/core/internal/stack.h"
#include "gorge/core/panic.h"
#include "gorge/core/runtime.h"
#include "gorge/tests/support/runtime_test.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::RuntimeTest;

constexpr std::size_t kKiB = 1024;

class GoOptionsTest : public RuntimeTest {};

GORGE_INSTANTIATE(GoOptionsTest);

// What a goroutine started with these options is called.
std::string NameWith(const GoOptions& options) {
  const auto out = MakeChan<std::string>();
  go(options, [out] { out.Send(internal::Self()->name); });
  return out.Recv().value();
}

std::size_t SlotSizeWith(const GoOptions& options) {
  const auto out = MakeChan<std::size_t>();
  go(options, [out] {
    const internal::StackSlot& stack = internal::Self()->stack;
    out.Send(static_cast<std::size_t>(stack.end() - stack.low));
  });
  return out.Recv().value();
}

TEST_P(GoOptionsTest, OptionsComeFirstInAnyForm) {
  Run([] {
    const auto out = MakeChan<int>();
    const auto send = [out](int i) { out.Send(i); };

    go(GoOptions{}, send, 1);
    EXPECT_EQ(out.Recv(), 1);
    go({}, send, 2);
    EXPECT_EQ(out.Recv(), 2);
    go({.name = "sender"}, send, 3);
    EXPECT_EQ(out.Recv(), 3);
    go({.name = "sender", .stack_size = 64 * kKiB}, [out] { out.Send(4); });
    EXPECT_EQ(out.Recv(), 4);
    const GoOptions options{.stack_size = 64 * kKiB};
    go(options, send, 5);
    EXPECT_EQ(out.Recv(), 5);
  });
}

TEST_P(GoOptionsTest, TheNameIsCopied) {
  Run([] {
    std::string name = "reader";
    const auto out = MakeChan<std::string>();

    go({.name = name}, [out] {
      Gosched();
      out.Send(internal::Self()->name);
    });
    name = "gone";

    EXPECT_EQ(out.Recv(), "reader");
  });
}

TEST_P(GoOptionsTest, ALongNameIsCutAfter31Bytes) {
  Run([] {
    const std::string name = "0123456789abcdef0123456789abcdefghij";
    EXPECT_EQ(NameWith({.name = name}), name.substr(0, 31));
    EXPECT_EQ(NameWith({.name = name.substr(0, 31)}), name.substr(0, 31));
    EXPECT_EQ(NameWith({.name = std::string_view(name).substr(2, 3)}), "234");
  });
}

TEST_P(GoOptionsTest, ANameDoesNotStickToTheStack) {
  Run([] {
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(NameWith({.name = "named"}), "named");
      EXPECT_EQ(NameWith({}), "");
    }
  });
}

TEST_P(GoOptionsTest, TheStackIs256KiBByDefault) {
  Run([] { EXPECT_EQ(SlotSizeWith({}), 256 * kKiB); });
}

// Uses `bytes` of the stack, all of them.
__attribute__((noinline)) std::size_t Use(std::size_t bytes) {
  auto* block = static_cast<char*>(__builtin_alloca(bytes));
  std::memset(block, 1, bytes);
  asm volatile("" : : "r"(block) : "memory");
  return bytes;
}

TEST_P(GoOptionsTest, FramesMayUseWhatWasAskedFor) {
  Run([] {
    for (const std::size_t size :
         {std::size_t{1}, 8 * kKiB, 16 * kKiB, 20 * kKiB, 64 * kKiB, 240 * kKiB,
          300 * kKiB, 5'000 * kKiB, 64'000 * kKiB}) {
      const auto out = MakeChan<std::size_t>();
      const std::size_t use = size < kKiB ? size : size - kKiB;
      // A large closure takes nothing away from the frames.
      go({.stack_size = size}, [out, use, ballast = std::array<char, 1500>{}] {
        asm volatile("" : : "r"(&ballast) : "memory");
        out.Send(Use(use));
      });

      EXPECT_EQ(out.Recv(), use);
    }
  });
}

TEST_P(GoOptionsTest, ALargeStackIsCommittedOnlyAsItIsUsed) {
  Run([] {
    // LeakSanitizer looks at all of it.
    const std::size_t size = std::size_t{GORGE_ASAN ? 4 : 4'000} << 20;
    const auto done = MakeChan<int>();
    for (int i = 0; i < 8; ++i) {
      go({.stack_size = size}, [done] { done.Send(1); });
    }
    for (int i = 0; i < 8; ++i) EXPECT_EQ(done.Recv(), 1);
  });
}

TEST_P(GoOptionsTest, AStackSizeOutOfRangeIsAPanic) {
  Run([] {
    EXPECT_THROW(go({.stack_size = SIZE_MAX}, [] {}), Panic);
    EXPECT_THROW(go({.stack_size = std::size_t{1} << 62}, [] {}), Panic);
    EXPECT_EQ(NumGoroutine(), 1);
  });
}

TEST_P(GoOptionsTest, StacksOfSpecialSizesAreUsedAgain) {
  Run([] {
    const auto done = MakeChan<int>();
    const auto start = [&] {
      go({.stack_size = 1000 * kKiB}, [done] { done.Send(1); });
      EXPECT_EQ(done.Recv(), 1);
      Await([] { return NumGoroutine() == 1; });
    };
    for (int i = 0; i < 4; ++i) start();
    const std::size_t carved = internal::CarvedStacks();

    for (int i = 0; i < 100; ++i) start();

    // One that is just ending may not have been given back yet.
    EXPECT_LE(internal::CarvedStacks(), carved + 2);
  });
}

}  // namespace
}  // namespace gorge
