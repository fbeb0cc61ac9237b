// Making channels: sizes that work, and sizes that do not.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>

#include "gorge/chan/chan.h"
#include "gorge/core/internal/sanitizer.h"
#include "gorge/tests/support/channels.h"
#include "gorge/tests/support/runtime_test.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::kBadSize;
using ::gorge::testing::PanicText;
using ::gorge::testing::RuntimeTest;

constexpr std::ptrdiff_t kMax = std::numeric_limits<std::ptrdiff_t>::max();
constexpr std::ptrdiff_t kMin = std::numeric_limits<std::ptrdiff_t>::min();

class MakeChanTest : public RuntimeTest {};
GORGE_INSTANTIATE(MakeChanTest);

TEST_P(MakeChanTest, TheDefaultIsNoBuffer) {
  EXPECT_EQ(MakeChan<int>().Cap(), 0u);
  EXPECT_EQ(MakeChan<int>(0).Cap(), 0u);
}

TEST_P(MakeChanTest, TheCapacityIsWhatWasAskedFor) {
  for (const std::ptrdiff_t n : {1, 2, 3, 7, 64, 1000, 100000}) {
    EXPECT_EQ(MakeChan<char>(n).Cap(), static_cast<std::size_t>(n));
    EXPECT_EQ(MakeChan<long>(n).Cap(), static_cast<std::size_t>(n));
  }
}

TEST_P(MakeChanTest, ANegativeSizePanics) {
  for (const std::ptrdiff_t n : {std::ptrdiff_t{-1}, kMin, kMin + 1}) {
    EXPECT_EQ(PanicText([&] { (void)MakeChan<char>(n); }), kBadSize);
    EXPECT_EQ(PanicText([&] { (void)MakeChan<long>(n); }), kBadSize);
    EXPECT_EQ(PanicText([&] { (void)MakeChan<std::monostate>(n); }), kBadSize);
  }
}

TEST_P(MakeChanTest, AnImpossibleSizePanicsBeforeAnythingIsAllocated) {
  // Of elements, of bytes, and just so by the room that the header takes.
  EXPECT_EQ(PanicText([] { (void)MakeChan<char>(kMax); }), kBadSize);
  EXPECT_EQ(PanicText([] { (void)MakeChan<long>(kMax); }), kBadSize);
  EXPECT_EQ(PanicText([] { (void)MakeChan<long>(kMax / 8); }), kBadSize);
  EXPECT_EQ(PanicText([] { (void)MakeChan<long>(kMax / 8 + 1); }), kBadSize);
  // Times the size, these wrap around to something small.
  EXPECT_EQ(PanicText([] { (void)MakeChan<long>(std::ptrdiff_t{1} << 61); }),
            kBadSize);
  EXPECT_EQ(PanicText([] {
              (void)MakeChan<std::array<char, 65536>>(std::ptrdiff_t{1} << 48);
            }),
            kBadSize);
}

TEST_P(MakeChanTest, AnEmptyTypeHasRoomForAnyNumber) {
  for (const std::ptrdiff_t n : {std::ptrdiff_t{1} << 40, kMax}) {
    const auto c = MakeChan<std::monostate>(n);
    EXPECT_EQ(c.Cap(), static_cast<std::size_t>(n));
    for (int i = 0; i < 100; ++i) c.Send({});
    EXPECT_EQ(c.Len(), 100u);
  }
}

#if !GORGE_ASAN && !GORGE_TSAN  // There the allocator ends the process.
TEST_P(MakeChanTest, ASizeThatIsPossibleButNotToBeHadIsABadAlloc) {
  EXPECT_THROW((void)MakeChan<char>(kMax / 2), std::bad_alloc);
}
#endif

TEST_P(MakeChanTest, EachIsAChannelOfItsOwn) {
  EXPECT_FALSE(MakeChan<int>() == MakeChan<int>());
}

}  // namespace
}  // namespace gorge
