// A program of a user: it knows of gorge only what is installed.

#include "gorge/gorge.h"

int main() {
  return gorge::Run([] {
    gorge::Chan<int> answers = gorge::MakeChan<int>();
    gorge::go([answers] { answers.Send(42); });
    return answers.Recv() == 42 ? 0 : 1;
  });
}
