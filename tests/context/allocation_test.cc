// What is allocated: one block for a context, and one for its Done.
//
// Has nothing to say where a sanitizer brings an operator new of its own.

#include <cstddef>
#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gorge/context/context.h"
#include "gorge/core/internal/sanitizer.h"
#include "gorge/select/select.h"
#include "gorge/tests/support/allocations.h"
#include "gorge/tests/support/runtime_test.h"
#include "gtest/gtest.h"

#if !GORGE_ASAN && !GORGE_TSAN

namespace gorge {
namespace {

using ::gorge::testing::AllocationsOf;
using ::gorge::testing::RuntimeTest;

constexpr Key<int> kNumber("number");

template <class F>
int Allocated(F f) {
  return AllocationsOf(f).blocks;
}

class ContextAllocationTest : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    // What is made once: the errors, the nil channel, the runtime.
    static_cast<void>(WithTimeout(TODO(), absl::Hours(1)));
    EXPECT_TRUE(TODO().Err().ok());
    EXPECT_FALSE(TODO().Done());
  }
};
GORGE_INSTANTIATE(ContextAllocationTest);

TEST_P(ContextAllocationTest, TheRootsAndTheirHandlesAllocateNothing) {
  EXPECT_EQ(Allocated([] {
              const Context ctx = Background();
              const Context copy = ctx;
              EXPECT_EQ(copy, Background());
              EXPECT_TRUE(TODO().Err().ok());
            }),
            0);
}

TEST_P(ContextAllocationTest, AContextIsOneBlock) {
  const auto [parent, cancel_parent] = WithCancel(Background());
  std::optional<Cancelable> made;
  EXPECT_EQ(Allocated([&, &parent = parent] { made = WithCancel(parent); }), 1);
  Context ctx;
  EXPECT_EQ(
      Allocated([&, &parent = parent] { ctx = WithValue(parent, kNumber, 1); }),
      1);
  EXPECT_EQ(Allocated([&, &parent = parent] { ctx = WithoutCancel(parent); }),
            1);
  EXPECT_EQ(Allocated([&] { made->cancel(); }), 0);
}

TEST_P(ContextAllocationTest, DoneIsOneBlockWhenItIsFirstAskedFor) {
  const auto [ctx, cancel] = WithCancel(Background());
  EXPECT_EQ(Allocated([&ctx = ctx] { static_cast<void>(ctx.Done()); }), 1);
  EXPECT_EQ(Allocated([&ctx = ctx] {
              static_cast<void>(ctx.Done());
              Select(OnRecv(ctx.Done()), OnDefault());
            }),
            0);
}

TEST_P(ContextAllocationTest, ToCancelAndToLookAllocatesNothing) {
  const auto [ctx, cancel] = WithCancel(WithValue(Background(), kNumber, 1));
  const auto [child, cancel_child] = WithCancel(ctx);
  static_cast<void>(child.Done());
  EXPECT_EQ(Allocated([&ctx = ctx, &cancel = cancel, &child = child] {
              EXPECT_TRUE(ctx.Err().ok());
              EXPECT_EQ(*ctx.Value(kNumber), 1);
              EXPECT_FALSE(ctx.Deadline().has_value());
              cancel();
              const absl::Status error = child.Err();
              EXPECT_TRUE(absl::IsCancelled(error));
            }),
            0);
}

TEST_P(ContextAllocationTest, ATimeoutIsAContextAndATimer) {
  std::optional<Cancelable> made;
  EXPECT_LE(Allocated([&] {
              made = WithTimeout(Background(), absl::Hours(1));
              made->cancel();
            }),
            3);
}

}  // namespace
}  // namespace gorge

#endif  // !GORGE_ASAN && !GORGE_TSAN
