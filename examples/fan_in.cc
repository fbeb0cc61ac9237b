// fan_in.cc -- one goroutine listens to several channels at once.
//
// Two sources of numbers in ascending order are merged into one. A source that
// has come to its end is set to the nil channel: a select never chooses that,
// so the loop goes on with the other one alone.

#include <algorithm>
#include <cstdio>
#include <optional>
#include <vector>

#include "gorge/gorge.h"

namespace {

// A goroutine that sends the multiples of `step` up to `last`, then closes.
gorge::RecvChan<int> Multiples(int step, int last) {
  const auto out = gorge::MakeChan<int>();
  gorge::go([=] {
    for (int i = step; i <= last; i += step) out.Send(i);
    out.Close();
  });
  return out;
}

// Everything that comes out of either, in whatever order it comes.
std::vector<int> FanIn(gorge::RecvChan<int> a, gorge::RecvChan<int> b) {
  std::vector<int> all;
  const auto take = [&all](gorge::RecvChan<int>& from) {
    return [&](std::optional<int> value) {
      if (value.has_value()) {
        all.push_back(*value);
      } else {
        from = {};
      }
    };
  };
  while (a || b) {
    gorge::Select(gorge::OnRecv(a, take(a)), gorge::OnRecv(b, take(b)));
  }
  return all;
}

}  // namespace

int main() {
  return gorge::Run([] {
    std::vector<int> all = FanIn(Multiples(3, 20), Multiples(7, 50));
    // The order in which the two took turns is not ours to know.
    std::sort(all.begin(), all.end());
    for (const int i : all) std::printf("%d\n", i);
  });
}
