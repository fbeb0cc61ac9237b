// worker_pool.cc -- a few goroutines share many jobs.
//
// The jobs go through one channel: a worker that is free takes the next one, so
// that long and short jobs spread by themselves. Closing the channel tells all
// of them that there are no more. The results come back as they get ready; each
// knows which job it belongs to.

#include <cstdio>
#include <vector>

#include "gorge/gorge.h"

namespace {

constexpr int kJobs = 12;
constexpr int kWorkers = 3;

struct Result {
  int job;
  int steps;
};

// How many steps the Collatz sequence takes from `n` down to 1.
int Collatz(long n) {
  int steps = 0;
  for (; n != 1; ++steps) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
  return steps;
}

void Work(const gorge::RecvChan<int>& jobs,
          const gorge::SendChan<Result>& results) {
  for (const int job : jobs) results.Send({job, Collatz(1000 + job)});
}

}  // namespace

int main() {
  return gorge::Run([] {
    const auto jobs = gorge::MakeChan<int>();
    const auto results = gorge::MakeChan<Result>();
    gorge::WaitGroup workers;
    for (int i = 0; i < kWorkers; ++i) {
      workers.Go([=] { Work(jobs, results); });
    }
    gorge::go([=] {
      for (int job = 0; job < kJobs; ++job) jobs.Send(job);
      jobs.Close();
    });
    std::vector<int> steps(kJobs);
    for (int i = 0; i < kJobs; ++i) {
      const Result result = *results.Recv();
      steps[static_cast<std::size_t>(result.job)] = result.steps;
    }
    workers.Wait();
    for (int i = 0; i < kJobs; ++i) std::printf("%d %d\n", 1000 + i, steps[i]);
  });
}
