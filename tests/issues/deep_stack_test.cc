// Case B52: an overflow damages the neighbour, or dies without a word. Here
// every overflow is named and touches nobody else's stack; and what a stack
// promises can be used to the last, by very many goroutines at once.

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cfloat>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <regex>
#include <stdexcept>
#include <string>

#include "gmock/gmock.h"
#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/core/internal/goroutine.h"
#include "gorge/core/internal/sanitizer.h"
#include "gorge/core/internal/stack.h"
#include "gorge/core/runtime.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/channels.h"
#include "gorge/tests/support/death_test.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::AwaitWaiting;
using ::gorge::testing::DeathTest;
using ::gorge::testing::InChild;
using ::gorge::testing::kSlowdown;
using ::gorge::testing::RuntimeTest;
using ::testing::ContainsRegex;
using ::testing::ExitedWithCode;
using ::testing::KilledBySignal;

constexpr std::size_t kKiB = 1024;
constexpr bool kSanitized = GORGE_ASAN || GORGE_TSAN;

// What the smallest stack has, and that of a slot of 64 KiB.
constexpr std::size_t kSmallest = 12 * kKiB;
constexpr std::size_t kOf64KiB = 44 * kKiB;

// For the calls that a goroutine makes near its limit.
constexpr std::size_t kReserve = (kSlowdown > 1 ? 16 : 4) * kKiB;

// Touches the block page by page from its end down, as compilers do with
// -fstack-clash-protection. Always inline: a call would begin at the far end.
__attribute__((always_inline)) inline void TouchDownwards(
    volatile unsigned char* block, std::size_t size) {
  for (std::size_t i = size; i >= 4096; i -= 4096) block[i - 1] = 1;
  block[0] = 1;
}

// Recurses for ever with frames of this size.
std::size_t Dive(std::size_t frame);
std::size_t (*volatile dive)(std::size_t) = &Dive;  // The compiler is not told.

std::size_t Dive(std::size_t frame) {
  auto* block = static_cast<volatile unsigned char*>(__builtin_alloca(frame));
  TouchDownwards(block, frame);
  const std::size_t below = dive(frame);
  return below + block[0];
}

// Leaves `reserve` bytes of the goroutine's stack, calls f(), and returns
// whether the first and the last bytes of what lies above are as before.
template <class F>
__attribute__((noinline)) bool NearTheLimit(std::size_t reserve, int mark,
                                            const F& f) {
  constexpr std::size_t kEdge = 256;
  const char* here = static_cast<char*>(__builtin_frame_address(0));
  const auto left =
      static_cast<std::size_t>(here - internal::Self()->stack.bottom());
  const std::size_t size = left - reserve;
  auto* block = static_cast<volatile unsigned char*>(__builtin_alloca(size));
  const auto byte = static_cast<unsigned char>(mark);
  for (std::size_t i = 0; i < kEdge; ++i) block[size - 1 - i] = byte;
  for (std::size_t i = 0; i < kEdge; ++i) block[i] = byte;
  f();
  for (std::size_t i = 0; i < kEdge; ++i) {
    if (block[i] != byte || block[size - 1 - i] != byte) return false;
  }
  return true;
}

// The child's program: f dives in a goroutine with this stack.
template <class F>
[[noreturn]] void Diver(std::size_t stack_size, F f) {
  InChild([&] {
    gorge::Run([&] {
      go({.name = "diver", .stack_size = stack_size}, f);
      while (true) Gosched();
    });
  });
}

constexpr char kOverflow[] =
    "fatal error: stack overflow\nthe stack of goroutine [0-9]+ \\[diver\\]";

// The sanitizers begin with a frame's far end, and so jump over the guard.
class DeepStackOverflowTest
    : public DeathTest,
      public ::testing::WithParamInterface<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(FrameSize, DeepStackOverflowTest,
                         ::testing::Values(64, 5 * kKiB,
                                           kSanitized ? 7 * kKiB : 1024 * kKiB),
                         ::testing::PrintToStringParamName());

TEST_P(DeepStackOverflowTest, IsNamedOnSmallStacks) {
  for (const std::size_t size : {kSmallest, kOf64KiB}) {
    // The smallest has no room for the sanitizers' own calls.
    if (kSanitized && size == kSmallest) continue;
    EXPECT_EXIT(Diver(size, [] { Dive(GetParam()); }), KilledBySignal(SIGABRT),
                ContainsRegex(kOverflow));
  }
}

// Goroutines side by side, of which the one in the middle dives. The others
// have marks at the bottom of their stacks, and in their closures, which lie at
// the top: right below the guard of the next.
constexpr std::size_t kNeighbours = 8;
using Mark = std::array<std::uint64_t, 64>;
constexpr std::uint64_t kMark = 0x600d600d600d600d;

std::array<const Mark*, 2 * kNeighbours> marks;
std::atomic<std::size_t> mark_count{0};
std::atomic<const internal::StackSlot*> diver_stack{nullptr};

void AddMark(const Mark& mark) { marks[mark_count++] = &mark; }

struct Neighbour {
  Mark top;
  Chan<int> never;
  void operator()() const {
    AddMark(top);
    NearTheLimit(kReserve, 0, [this] {
      Mark low;
      low.fill(kMark);
      AddMark(low);
      never.Recv();
    });
  }
};

// Replaces the runtime's handler, which would end the process at once.
void LookAtNeighbours(int, siginfo_t* info, void*) {
  if (!internal::InGuard(*diver_stack, info->si_addr)) ::_exit(43);
  bool adjacent = false;  // A closure ends where the guard begins.
  for (const Mark* mark : marks) {
    const auto* p = reinterpret_cast<const char*>(mark);
    const char* low = diver_stack.load()->low;
    adjacent |= p < low && low - p <= 4096;
    for (const std::uint64_t word : *mark) {
      if (word != kMark) ::_exit(44);
    }
  }
  ::_exit(adjacent ? 42 : 45);
}

void DiveAmongNeighbours(std::size_t frame) {
  const auto now = MakeChan<int>();
  const auto never = MakeChan<int>();
  const GoOptions options{.stack_size = kOf64KiB};
  for (std::size_t i = 0; i <= kNeighbours; ++i) {
    if (i == kNeighbours / 2) {
      go(options, [now, frame] {
        now.Recv();
        diver_stack = &internal::Self()->stack;
        Dive(frame);
      });
    } else {
      Neighbour neighbour{{}, never};
      neighbour.top.fill(kMark);
      go(options, neighbour);
    }
  }
  AwaitWaiting(never, kNeighbours);
  AwaitWaiting(now, 1);
  struct sigaction action {};
  action.sa_sigaction = &LookAtNeighbours;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigaction(SIGSEGV, &action, nullptr);
  now.Send(1);
  while (true) Gosched();
}

TEST_P(DeepStackOverflowTest, TouchesNoNeighbour) {
  EXPECT_EXIT(
      InChild([] { gorge::Run([] { DiveAmongNeighbours(GetParam()); }); }),
      ExitedWithCode(42), "");
}

using DeepStackCrashTest = DeathTest;

// Its matcher recurses for each character.
TEST_F(DeepStackCrashTest, AnOverflowInALibraryIsNamed) {
  EXPECT_EXIT(Diver(0,
                    [] {
                      const std::string text(100'000, 'a');
                      std::regex_match(text, std::regex("(a|b)*"));
                    }),
              KilledBySignal(SIGABRT), ContainsRegex(kOverflow));
}

class DeepStackTest : public RuntimeTest {
 protected:
  // Calls f in a goroutine with this stack.
  template <class F>
  static void RunOn(std::size_t stack_size, const F& f) {
    Run([&] {
      const auto done = MakeChan<bool>();
      go({.stack_size = stack_size}, [&] {
        f();
        done.Send(true);
      });
      done.Recv();
    });
  }
};
GORGE_INSTANTIATE(DeepStackTest);

// The sanitizers' frames are larger.
constexpr std::size_t kLeast = kSanitized ? 100 * kKiB : 1;
constexpr std::size_t kLeastOf64KiB = kSanitized ? 1000 * kKiB : kOf64KiB;

TEST_P(DeepStackTest, TheSmallestStackPrintsALongDouble) {
  std::array<char, 32> text{};
  RunOn(kLeast, [&] {
    std::snprintf(text.data(), text.size(), "%Lf", 1234567890.125L);
  });
  EXPECT_STREQ(text.data(), "1234567890.125000");
}

// The C library makes room on the stack for its 4,933 digits.
TEST_P(DeepStackTest, AStackOf64KiBPrintsTheLargestLongDouble) {
  std::array<char, 6000> text{};
  int length = 0;
  RunOn(kLeastOf64KiB, [&] {
    length = std::snprintf(text.data(), text.size(), "%Lf", LDBL_MAX);
  });
  EXPECT_EQ(length, LDBL_MAX_10_EXP + 1 + 7);
}

TEST_P(DeepStackTest, OnTheSmallestStackAnExceptionIsThrownAndCaught) {
  bool caught = false;
  RunOn(kLeast, [&] {
    try {
      throw std::runtime_error("small");
    } catch (const std::exception&) {
      caught = true;
    }
  });
  EXPECT_TRUE(caught);
}

TEST_P(DeepStackTest, AStackOf64KiBMatchesASmallPattern) {
  bool matched = false;
  RunOn(kLeastOf64KiB, [&] {
    std::smatch match;
    const std::string line = "level=3 text";
    matched =
        std::regex_match(line, match, std::regex("([a-z]+)=([0-9]+) .*")) &&
        match[2] == "3";
  });
  EXPECT_TRUE(matched);
}

__attribute__((noinline)) int TouchFrame(std::size_t size) {
  auto* block = static_cast<volatile unsigned char*>(__builtin_alloca(size));
  TouchDownwards(block, size);
  Gosched();
  return block[0];
}

TEST_P(DeepStackTest, NineTenthsOfWhatWasAskedForMayBeUsed) {
  for (const std::size_t size :
       {kSmallest, kOf64KiB, 236 * kKiB, 500 * kKiB, 5000 * kKiB}) {
    if (kSlowdown > 1 && size < 500 * kKiB) continue;
    int touched = 0;
    RunOn(size, [&] { touched = TouchFrame(size / 10 * 9); });
    EXPECT_EQ(touched, 1) << size;
  }
}

TEST_P(DeepStackTest, VeryManyGoroutinesNearTheirLimitsDisturbNobody) {
  const int n = kSlowdown > 1 ? 200 : 10'000;
  Run([&] {
    const auto gate = MakeChan<int>();
    std::atomic<int> intact{0};
    WaitGroup all;
    all.Add(n);
    for (int i = 0; i < n; ++i) {
      go({.stack_size = kOf64KiB}, [&, i] {
        intact += NearTheLimit(kReserve, i, [&] { gate.Recv(); }) ? 1 : 0;
        all.Done();
      });
    }
    AwaitWaiting(gate, n);

    gate.Close();

    all.Wait();
    EXPECT_EQ(intact, n);
  });
}

}  // namespace
}  // namespace gorge
