// ping_pong.cc -- two goroutines and one ball.
//
// A channel without a buffer is a meeting: Send returns when the other one has
// the ball. So there is never a moment at which both play, and nothing needs a
// lock, although the two may run on different threads.

#include <cstdio>

#include "gorge/gorge.h"

namespace {

constexpr int kStrokes = 6;

struct Ball {
  int strokes = 0;
};

// Takes turns at the table until the other one leaves it, or the game is over.
void Play(const char* name, const gorge::Chan<Ball>& table) {
  while (std::optional<Ball> ball = table.Recv()) {
    ++ball->strokes;
    std::printf("%s %d\n", name, ball->strokes);
    if (ball->strokes == kStrokes) {
      table.Close();
      return;
    }
    table.Send(*ball);
  }
  std::printf("%s sees that the table is closed\n", name);
}

}  // namespace

int main() {
  return gorge::Run([] {
    const auto table = gorge::MakeChan<Ball>();
    gorge::WaitGroup players;
    players.Go([=] { Play("ping", table); });
    table.Send(Ball{});  // To ping: nobody else is there yet.
    players.Go([=] { Play("pong", table); });
    players.Wait();
  });
}
