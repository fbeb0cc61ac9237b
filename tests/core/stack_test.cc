#include "gorge/core/internal/stack.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <vector>

#include "gorge/core/internal/goroutine.h"
#include "gorge/core/panic.h"
#include "gorge/core/runtime.h"
#include "gorge/tests/support/death_test.h"
#include "gtest/gtest.h"

namespace gorge::internal {
namespace {

using ::gorge::testing::DeathTest;
using ::gorge::testing::DiedOfFault;
using ::gorge::testing::InChild;

constexpr std::size_t kKiB = 1024;
// Classes that nothing else in this process uses; the first is 512 KiB.
constexpr std::uint8_t kClass = 19;
constexpr std::uint8_t kOtherClass = 20;
constexpr std::uint8_t kClassForTrim = 21;
constexpr std::uint8_t kClassWithNoneWarm = 22;

DeadList One(G& g) {
  DeadList list;
  list.Push(g);
  return list;
}

// Pages of [low, low + size) that are in memory.
std::size_t ResidentPages(char* low, std::size_t size) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> resident(size / page);
  EXPECT_EQ(::mincore(low, size, resident.data()), 0);
  std::size_t count = 0;
  for (const unsigned char r : resident) count += r & 1;
  return count;
}

TEST(StackTest, SizesRoundUpToAPowerOfTwoWithTheGuard) {
  EXPECT_EQ(StackClassFor(0), kDefaultStackClass);
  EXPECT_EQ(StackClassFor(1), kMinStackClass);
  EXPECT_EQ(StackClassFor(12 * kKiB), kMinStackClass);
  EXPECT_EQ(StackClassFor(12 * kKiB + 1), kMinStackClass + 1);
  EXPECT_EQ(StackClassFor(236 * kKiB), kDefaultStackClass);
  EXPECT_EQ(StackClassFor(236 * kKiB + 1), kDefaultStackClass + 1);
  EXPECT_EQ(StackClassFor(std::size_t{1} << 39), kMaxStackClass);
}

TEST(StackTest, SizesThatNoClassHoldsAreAPanic) {
  EXPECT_THROW(StackClassFor((std::size_t{1} << 39) + 1), Panic);
  EXPECT_THROW(StackClassFor(SIZE_MAX), Panic);
}

TEST(StackTest, ASlotIsGuardThenStackThenG) {
  G& g = *TakeStack(kClass);

  EXPECT_EQ(g.stack.size_class, kClass);
  EXPECT_EQ(g.stack.end() - g.stack.low, std::ptrdiff_t{512} * 1024);
  EXPECT_EQ(g.stack.bottom() - g.stack.low,
            static_cast<std::ptrdiff_t>(StackSlot::kGuard));
  const char* block = reinterpret_cast<const char*>(&g);
  EXPECT_LE(block + sizeof(G), g.stack.end());
  EXPECT_GE(block + sizeof(G) + 1024, g.stack.end()) << "at the top";
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&g) % alignof(G), 0u);

  GiveStacks(One(g));
}

TEST(StackTest, InGuardKnowsItsBounds) {
  G& g = *TakeStack(kClass);

  EXPECT_FALSE(InGuard(g.stack, g.stack.low - 1));
  EXPECT_TRUE(InGuard(g.stack, g.stack.low));
  EXPECT_TRUE(InGuard(g.stack, g.stack.bottom() - 1));
  EXPECT_FALSE(InGuard(g.stack, g.stack.bottom()));
  EXPECT_FALSE(InGuard(g.stack, nullptr));

  GiveStacks(One(g));
}

TEST(StackTest, TheWholeStackIsWritableAndSlotsDoNotOverlap) {
  std::vector<G*> taken;
  for (int i = 0; i < 40; ++i) taken.push_back(TakeStack(kClass));

  std::set<char*> lows;
  for (std::size_t i = 0; i < taken.size(); ++i) {
    const StackSlot& stack = taken[i]->stack;
    EXPECT_TRUE(lows.insert(stack.low).second);
    const auto size = static_cast<std::size_t>(
        reinterpret_cast<char*>(taken[i]) - stack.bottom());
    std::memset(stack.bottom(), static_cast<int>(i), size);
  }
  for (std::size_t i = 0; i < taken.size(); ++i) {
    EXPECT_EQ(*taken[i]->stack.bottom(), static_cast<char>(i));
    EXPECT_EQ(*(reinterpret_cast<char*>(taken[i]) - 1), static_cast<char>(i));
  }

  for (G* g : taken) GiveStacks(One(*g));
}

TEST(StackTest, AStackGivenBackIsTakenAgainWithItsPages) {
  G& g = *TakeStack(kClass);
  *g.stack.bottom() = 'x';
  GiveStacks(One(g));
  const std::size_t carved = CarvedStacks();

  G& again = *TakeStack(kClass);

  EXPECT_EQ(&again, &g);
  EXPECT_EQ(*again.stack.bottom(), 'x');
  EXPECT_EQ(CarvedStacks(), carved);
  GiveStacks(One(again));
}

TEST(StackTest, ClassesAreNotMixed) {
  G& g = *TakeStack(kClass);
  GiveStacks(One(g));

  G& larger = *TakeStack(kOtherClass);

  EXPECT_NE(&larger, &g);
  EXPECT_EQ(larger.stack.size_class, kOtherClass);
  GiveStacks(One(larger));
}

TEST(StackTest, TakeStacksTakesWarmOnesBesides) {
  std::vector<G*> taken;
  for (int i = 0; i < 8; ++i) taken.push_back(TakeStack(kClass));
  for (G* g : taken) GiveStacks(One(*g));
  const std::size_t carved = CarvedStacks();

  DeadList more;
  std::set<G*> all{TakeStacks(kClass, more, 5)};

  EXPECT_EQ(more.count, 5);
  while (G* g = more.Pop()) all.insert(g);
  EXPECT_EQ(all.size(), 6u);
  EXPECT_EQ(CarvedStacks(), carved);
  for (G* g : all) GiveStacks(One(*g));
}

TEST(StackTest, TakeStacksMakesOneWhereThereIsNoneWarm) {
  DeadList more;

  G& g = *TakeStacks(kClassWithNoneWarm, more, 5);

  EXPECT_EQ(more.count, 0);
  EXPECT_EQ(more.Pop(), nullptr);
  GiveStacks(One(g));
}

TEST(StackTest, TrimmingGivesPagesBackAndTheSlotGoesOnWorking) {
  G& g = *TakeStack(kClassForTrim);
  const StackSlot stack = g.stack;
  const auto size = static_cast<std::size_t>(stack.end() - stack.bottom());
  std::memset(stack.bottom(), 1, size / 2);
  const std::size_t carved = CarvedStacks();
  GiveStacks(One(g));
  EXPECT_GE(ResidentPages(stack.bottom(), size), size / 2 / 4096);

  EXPECT_GE(TrimStacks(), 1u);

  EXPECT_EQ(ResidentPages(stack.bottom(), size), 0u);
  EXPECT_EQ(TrimStacks(), 0u) << "nothing is left to trim";
  G& again = *TakeStack(kClassForTrim);
  EXPECT_EQ(again.stack.low, stack.low);
  EXPECT_EQ(again.stack.size_class, kClassForTrim);
  EXPECT_EQ(*again.stack.bottom(), 0);
  EXPECT_EQ(CarvedStacks(), carved);
  GiveStacks(One(again));
}

TEST(StackTest, FreeOSMemoryTrims) {
  G& g = *TakeStack(kClass);
  const StackSlot stack = g.stack;
  GiveStacks(One(g));

  FreeOSMemory();

  EXPECT_EQ(ResidentPages(stack.bottom(), std::size_t{1} << 12), 0u);
  EXPECT_EQ(TrimStacks(), 0u);
}

TEST(StackTest, AStackInUseIsNotTrimmed) {
  G& g = *TakeStack(kClass);
  *g.stack.bottom() = 'x';

  TrimStacks();

  EXPECT_EQ(*g.stack.bottom(), 'x');
  GiveStacks(One(g));
}

TEST(StackTest, EveryCarvedStackIsVisited) {
  G& g = *TakeStack(kClass);
  struct Visit {
    const G* wanted;
    std::size_t count = 0;
    bool found = false;
  } visit{&g};

  ForEachG(
      [](const G& one, void* argument) {
        auto& v = *static_cast<Visit*>(argument);
        ++v.count;
        v.found |= &one == v.wanted;
      },
      &visit);

  EXPECT_TRUE(visit.found);
  EXPECT_EQ(visit.count, CarvedStacks());
  GiveStacks(One(g));
}

using GuardTest = DeathTest;

TEST_F(GuardTest, NoByteOfTheGuardIsReadable) {
  const auto read = [](std::ptrdiff_t offset) {
    InChild([offset] {
      const volatile char* low = TakeStack(kClass)->stack.low;
      static_cast<void>(low[offset]);
    });
  };
  EXPECT_EXIT(read(0), DiedOfFault, "");
  EXPECT_EXIT(read(StackSlot::kGuard / 2), DiedOfFault, "");
  EXPECT_EXIT(read(StackSlot::kGuard - 1), DiedOfFault, "");
}

TEST_F(GuardTest, TheGuardOutlivesReuseAndTrimming) {
  EXPECT_EXIT(InChild([] {
                G* g = TakeStack(kClass);
                GiveStacks(One(*g));
                TrimStacks();
                g = TakeStack(kClass);
                *(g->stack.bottom() - 1) = 'x';
              }),
              DiedOfFault, "");
}

TEST_F(GuardTest, TheByteAboveTheGuardIsStack) {
  G& g = *TakeStack(kClass);
  *g.stack.bottom() = 'x';
  GiveStacks(One(g));
}

}  // namespace
}  // namespace gorge::internal
