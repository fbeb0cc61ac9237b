// Primes out of a chain of filters, and out of a merge of multiples.

#include <memory>
#include <queue>
#include <utility>
#include <vector>

#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/core/runtime.h"
#include "gorge/tests/support/runtime_test.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

using ::gorge::testing::RuntimeTest;

class ChanSieveTest : public RuntimeTest {};
GORGE_INSTANTIATE(ChanSieveTest);

const std::vector<int> kPrimes = {2,  3,  5,  7,  11, 13, 17, 19, 23,
                                  29, 31, 37, 41, 43, 47, 53, 59, 61,
                                  67, 71, 73, 79, 83, 89, 97};

// The numbers from 2 to limit.
RecvChan<int> Numbers(int limit) {
  const Chan<int> out = MakeChan<int>();
  go([out, limit] {
    for (int i = 2; i <= limit; ++i) out.Send(i);
    out.Close();
  });
  return out;
}

// What of `in` is no multiple of `prime`.
RecvChan<int> Filter(const RecvChan<int>& in, int prime) {
  const Chan<int> out = MakeChan<int>();
  go([in, out, prime] {
    for (const int v : in) {
      if (v % prime != 0) out.Send(v);
    }
    out.Close();
  });
  return out;
}

TEST_P(ChanSieveTest, AChainWithOneFilterForEachPrime) {
  RecvChan<int> rest = Numbers(100);
  std::vector<int> primes;
  while (const std::optional<int> prime = rest.Recv()) {
    primes.push_back(*prime);
    rest = Filter(rest, *prime);
  }
  EXPECT_EQ(primes, kPrimes);
}

// The multiples of one prime, as a channel that knows what it has next.
struct Multiples {
  RecvChan<int> channel;
  int head;
  bool operator<(const Multiples& other) const { return head > other.head; }
};

// The multiples of `prime` from its square on, as far as `limit`.
RecvChan<int> MultiplesOf(int prime, int limit) {
  const Chan<int> out = MakeChan<int>(10);
  go([out, prime, limit] {
    for (int i = prime * prime; i <= limit; i += prime) out.Send(i);
    out.Close();
  });
  return out;
}

TEST_P(ChanSieveTest, AHeapOfChannelsOfMultiples) {
  constexpr int kLimit = 100;
  const Chan<int> primes = MakeChan<int>(1);
  const Chan<int> composites = MakeChan<int>();
  // Composites in order, merged from the multiples of the primes found so far;
  // a prime comes in before its square is due.
  go([primes, composites] {
    std::priority_queue<Multiples> heap;
    const auto add = [&](RecvChan<int> c) {
      if (const std::optional<int> head = c.Recv()) {
        heap.push({std::move(c), *head});
      }
    };
    int last = 0;
    for (int limit = 4; limit <= kLimit; ++limit) {
      // Told of every prime below `limit`, so none is missing.
      for (int p = *primes.Recv(); p != 0; p = *primes.Recv()) {
        add(MultiplesOf(p, kLimit));
      }
      while (!heap.empty() && heap.top().head <= limit) {
        const Multiples top = heap.top();
        heap.pop();
        if (top.head != last) composites.Send(top.head);
        last = top.head;
        add(top.channel);
      }
      composites.Send(0);  // No more up to `limit`.
    }
    composites.Close();
    primes.Close();
  });
  std::vector<int> found = {2, 3};
  primes.Send(2);
  primes.Send(3);
  for (int candidate = 4; candidate <= kLimit; ++candidate) {
    primes.Send(0);
    const int composite = *composites.Recv();
    if (composite == candidate) {
      EXPECT_EQ(composites.Recv(), 0);
      continue;
    }
    EXPECT_EQ(composite, 0);
    found.push_back(candidate);
    if (candidate < kLimit) primes.Send(candidate);
  }
  EXPECT_EQ(composites.Recv(), std::nullopt);
  EXPECT_EQ(found, kPrimes);
  Await([] { return NumGoroutine() == 0; });
}

}  // namespace
}  // namespace gorge
