// rate_limiter.cc -- so many at once, and then one for each tick of a clock.
//
// A request takes a token out of a channel, and waits if there is none. A
// goroutine puts one in at each tick; when the channel is full, the token is
// lost. So the room in the channel is how many may come at once after a pause.

#include <chrono>
#include <cstdio>
#include <variant>

#include "gorge/gorge.h"

namespace {

constexpr int kBurst = 3;
constexpr int kRequests = 8;
constexpr std::chrono::milliseconds kInterval(5);

using Tokens = gorge::RecvChan<std::monostate>;

// A full channel that is filled up again until `ctx` ends.
Tokens MakeTokens(const gorge::Context& ctx) {
  const auto tokens = gorge::MakeChan<std::monostate>(kBurst);
  while (tokens.TrySend({})) continue;
  gorge::go([ctx, tokens, ticker = gorge::Ticker(kInterval)] {
    while (ctx.Err().ok()) {
      gorge::Select(gorge::OnRecv(ctx.Done()), gorge::OnRecv(ticker.C(), [&] {
                      static_cast<void>(tokens.TrySend({}));
                    }));
    }
    tokens.Close();
  });
  return tokens;
}

}  // namespace

int main() {
  return gorge::Run([] {
    const auto [ctx, cancel] = gorge::WithCancel(gorge::Background());
    const auto begin = std::chrono::steady_clock::now();
    const Tokens tokens = MakeTokens(ctx);
    for (int i = 1; i <= kRequests; ++i) {
      tokens.Recv();
      std::printf("request %d\n", i);
    }
    const auto took = std::chrono::steady_clock::now() - begin;
    const int waited = kRequests - kBurst;
    std::printf("%d at once, %d in %d ticks or more: %s\n", kBurst, waited,
                waited, took >= waited * kInterval ? "yes" : "no");

    cancel();
    while (tokens.Recv().has_value()) continue;  // Until it is closed.
  });
}
