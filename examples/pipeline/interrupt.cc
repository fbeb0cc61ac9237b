#include "gorge/examples/pipeline/interrupt.h"

#include <pthread.h>

#include <csignal>

#include "absl/status/status.h"

namespace pipeline {
namespace {

// SIGUSR1 is how the destructor wakes the thread.
sigset_t Signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGUSR1);
  return signals;
}

}  // namespace

Interrupt::Interrupt() {
  const sigset_t signals = Signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  thread_ = std::thread([this] { Wait(); });
}

Interrupt::~Interrupt() {
  ending_ = true;
  ended_.Close();
  pthread_kill(thread_.native_handle(), SIGUSR1);
  thread_.join();
}

void Interrupt::Wait() {
  const sigset_t signals = Signals();
  int signal = 0;
  while (signal != SIGINT) {
    sigwait(&signals, &signal);
    if (ending_) return;
  }
  cancelable_.cancel(absl::CancelledError("interrupted"));

  // From now on this thread takes SIGINT like any program that does not care.
  std::signal(SIGINT, SIG_DFL);
  sigset_t interrupt;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  pthread_sigmask(SIG_UNBLOCK, &interrupt, nullptr);
  ended_.Recv();
}

}  // namespace pipeline
