// hello.cc -- three goroutines send, one adds up, until a channel is closed.

#include <cstdio>

#include "gorge/gorge.h"

int main() {
  return gorge::Run([] {
    const auto squares = gorge::MakeChan<int>();
    const auto done = gorge::MakeChan<std::monostate>();

    gorge::WaitGroup workers;
    for (int i = 1; i <= 3; ++i) {
      workers.Go([=] { squares.Send(i * i); });
    }
    gorge::go([&workers, done] {
      workers.Wait();
      done.Close();
    });

    int sum = 0;
    for (bool more = true; more;) {
      gorge::Select(gorge::OnRecv(squares, [&](int n) { sum += n; }),
                    gorge::OnRecv(done, [&] { more = false; }));
    }
    std::printf("1 + 4 + 9 = %d\n", sum);
  });
}
