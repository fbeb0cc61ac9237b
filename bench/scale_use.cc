// bench/scale_use.cc -- timers and contexts by the million: what they leave
// behind, and whether time grows as their number does.
//
//   scale_use

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <random>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "gorge/context/context.h"
#include "gorge/core/runtime.h"
#include "gorge/time/timer.h"

namespace {

using gorge::Background;
using gorge::Cancelable;
using gorge::Context;

constexpr gorge::Key<int> kNumber("number");
constexpr gorge::Key<int> kOther("other");

double ResidentMegabytes() {
  std::ifstream statm("/proc/self/statm");
  double total = 0;
  double resident = 0;
  statm >> total >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1e6;
}

class Stopwatch {
 public:
  double Milliseconds() {
    const auto now = std::chrono::steady_clock::now();
    const auto took = now - std::exchange(start_, now);
    return std::chrono::duration<double, std::milli>(took).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ =
      std::chrono::steady_clock::now();
};

// Does something n times and prints what is left of it.
template <class F>
void ComeAndGo(const char* what, int n, F once) {
  once();
  const double before = ResidentMegabytes();
  Stopwatch watch;
  double most = before;
  for (int i = 0; i < n; ++i) {
    once();
    if (i % (n / 100) == 0) most = std::max(most, ResidentMegabytes());
  }
  std::printf("%-28s %9d %7.0f ns each, RSS %+.1f MB at most, %+.1f MB after\n",
              what, n, watch.Milliseconds() * 1e6 / n, most - before,
              ResidentMegabytes() - before);
}

void NestValues(int n) {
  Context ctx = WithValue(Background(), kNumber, 1);
  Stopwatch watch;
  for (int i = 0; i < n; ++i) ctx = WithValue(ctx, kOther, i);
  const double made = watch.Milliseconds();
  const bool found = ctx.Value(kNumber) != nullptr;
  const double looked = watch.Milliseconds();
  ctx = Context();
  std::printf(
      "%-28s %9d made in %7.1f ms, looked up%s in %6.1f, destroyed in %6.1f\n",
      "WithValue, nested", n, made, found ? "" : " in vain", looked,
      watch.Milliseconds());
}

void NestCancels(int n) {
  Context ctx = WithValue(Background(), kNumber, 1);
  std::vector<gorge::CancelFunc> cancels;
  Stopwatch watch;
  for (int i = 0; i < n; ++i) {
    Cancelable next = WithCancel(ctx);
    cancels.push_back(std::move(next.cancel));
    ctx = std::move(next.ctx);
  }
  const double made = watch.Milliseconds();
  const bool found = ctx.Value(kNumber) != nullptr;
  const double looked = watch.Milliseconds();
  cancels[0]();
  const double canceled = watch.Milliseconds();
  const bool ended = !ctx.Err().ok();
  watch.Milliseconds();
  cancels.clear();
  ctx = Context();
  std::printf(
      "%-28s %9d made in %7.1f ms, looked up%s in %6.1f, cancelled%s in %6.1f, "
      "destroyed in %6.1f\n",
      "WithCancel, nested", n, made, found ? "" : " in vain", looked,
      ended ? "" : " in vain", canceled, watch.Milliseconds());
}

void CancelChildren(int n) {
  Cancelable root = WithCancel(Background());
  std::vector<Cancelable> children;
  for (int i = 0; i < n; ++i) {
    children.push_back(WithCancel(root.ctx));
    static_cast<void>(children.back().ctx.Done());
  }
  Stopwatch watch;
  root.cancel();
  const double took = watch.Milliseconds();
  const bool all = std::all_of(
      children.begin(), children.end(), [](const Cancelable& child) {
        return child.ctx.Done().TryRecv().ready && !child.ctx.Err().ok();
      });
  std::printf("%-28s %9d cancelled%s in %6.1f ms\n",
              "children of one, with Done", n, all ? "" : ", not all of them",
              took);
}

void UnlinkChildren(int n) {
  Cancelable root = WithCancel(Background());
  std::vector<Cancelable> children;
  for (int i = 0; i < n; ++i) children.push_back(WithCancel(root.ctx));
  std::shuffle(children.begin(), children.end(), std::mt19937(7));
  Stopwatch watch;
  for (Cancelable& child : children) child.cancel();
  const double took = watch.Milliseconds();
  std::printf("%-28s %9d unlinked in random order in %6.1f ms, %4.0f ns each\n",
              "children of one", n, took, took * 1e6 / n);
}

}  // namespace

int main() {
  return gorge::Run([] {
    ComeAndGo("WithTimeout(1h), cancel", 10'000'000, [] {
      static_cast<void>(WithTimeout(Background(), absl::Hours(1)));
    });
    ComeAndGo("Timer(1h), Stop", 10'000'000, [] {
      gorge::Timer timer(absl::Hours(1));
      static_cast<void>(timer.Stop());
    });
    for (const int n : {250'000, 500'000, 1'000'000}) NestValues(n);
    for (const int n : {50'000, 100'000, 200'000}) NestCancels(n);
    for (const int n : {25'000, 50'000, 100'000}) CancelChildren(n);
    for (const int n : {25'000, 50'000, 100'000}) UnlinkChildren(n);
  });
}
