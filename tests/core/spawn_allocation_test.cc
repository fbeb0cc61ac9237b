// go() allocates nothing once the process is warm: control block and closure
// lie on the goroutine's own stack, and stacks are used again.
//
// Counts with a malloc of its own, which operator new calls too, so has nothing
// to say where a sanitizer brings one.

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <thread>

#include "gorge/core/go.h"
#include "gorge/core/internal/sanitizer.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/runtime_test.h"
#include "gorge/tests/support/scale.h"
#include "gtest/gtest.h"

#if !GORGE_ASAN && !GORGE_TSAN

namespace {

std::atomic<int> allocations{0};

}  // namespace

extern "C" {

// The C library's own, under the names that it keeps for this.
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* memory, std::size_t size) {
  ++allocations;
  return __libc_realloc(memory, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}

}  // extern "C"

namespace gorge {
namespace {

using ::gorge::testing::RuntimeTest;
using ::gorge::testing::Scaled;

class SpawnAllocationTest : public RuntimeTest {};
GORGE_INSTANTIATE(SpawnAllocationTest);

void StartAndFinish(int count) {
  constexpr int kAtOnce = 100;
  for (int done = 0; done < count; done += kAtOnce) {
    WaitGroup wave;
    long closure[8] = {};  // More than fits into a pointer or two.
    for (int i = 0; i < kAtOnce; ++i) {
      closure[7] = i;
      wave.Go([closure] { static_cast<void>(closure); });
    }
    wave.Wait();
  }
}

TEST_P(SpawnAllocationTest, TheCounterCounts) {
  const int before = allocations;
  int* volatile seen = new int;  // Or the compiler saves itself the trouble.
  delete seen;
  void* volatile also_seen = std::malloc(1);
  std::free(also_seen);
  EXPECT_EQ(allocations - before, 2);
}

// A machine allocates when it starts, and there may be twice as many of them as
// Ps. So it may take a few rounds until all have started that ever will.
TEST_P(SpawnAllocationTest, AHundredThousandStartAndFinishWithoutOne) {
  Run([this] {
    const int count = Scaled(100'000);
    StartAndFinish(count);  // Warm from here on.
    int allocated = 0;
    for (int round = 0; round < 2 * procs() + 2; ++round) {
      const int before = allocations;
      StartAndFinish(count);
      allocated = allocations - before;
      if (allocated == 0) break;
      EXPECT_LT(allocated, 10 * (2 * procs() + 2));
    }
    EXPECT_EQ(allocated, 0);
  });
}

}  // namespace
}  // namespace gorge

#endif  // !GORGE_ASAN && !GORGE_TSAN
