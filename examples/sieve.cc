// sieve.cc -- primes, by a chain of goroutines that grows as they are found.
//
//   Generate --2,3,4,..--> Filter(2) --3,5,7,..--> Filter(3) --5,7,11,..--> ...
//
// What comes out at the end of the chain first is divisible by none of the
// primes before it, so it is one, and gets a filter of its own. Nothing here
// ever stops by itself: when main returns, Run leaves the goroutines where they
// are.

#include <cstdio>

#include "gorge/gorge.h"

namespace {

// Sends 2, 3, 4 and so on.
void Generate(const gorge::SendChan<int>& out) {
  for (int i = 2;; ++i) out.Send(i);
}

// Hands on what `prime` does not divide.
void Filter(int prime, const gorge::RecvChan<int>& in,
            const gorge::SendChan<int>& out) {
  for (const int i : in) {
    if (i % prime != 0) out.Send(i);
  }
}

void PrintPrimes(int count) {
  auto numbers = gorge::MakeChan<int>();
  gorge::go(Generate, numbers);
  for (int i = 0; i < count; ++i) {
    const int prime = *numbers.Recv();
    std::printf("%d%c", prime, (i + 1) % 10 == 0 ? '\n' : ' ');
    const auto filtered = gorge::MakeChan<int>();
    gorge::go(Filter, prime, numbers, filtered);
    numbers = filtered;
  }
  std::printf("by %d goroutines\n", gorge::NumGoroutine());
}

}  // namespace

int main() {
  return gorge::Run([] { PrintPrimes(100); });
}
