// examples/pipeline/interrupt.h -- Ctrl-C ends a context.

#ifndef GORGE_EXAMPLES_PIPELINE_INTERRUPT_H_
#define GORGE_EXAMPLES_PIPELINE_INTERRUPT_H_

#include <atomic>
#include <thread>
#include <variant>

#include "gorge/chan/chan.h"
#include "gorge/context/context.h"

namespace pipeline {

// The first SIGINT ends ctx(); the second ends the program, as it would have
// without us. Only one at a time, made before any other thread, the runtime's
// included: they must inherit the mask that keeps the signal from them.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  // Its Cause is CancelledError("interrupted") then.
  const gorge::Context& ctx() const { return cancelable_.ctx; }

 private:
  void Wait();

  const gorge::Cancelable cancelable_ =
      gorge::WithCancelCause(gorge::Background());
  const gorge::Chan<std::monostate> ended_ = gorge::MakeChan<std::monostate>();
  std::atomic<bool> ending_{false};  // Set by the destructor.
  std::thread thread_;               // A plain thread: it sits in sigwait().
};

}  // namespace pipeline

#endif  // GORGE_EXAMPLES_PIPELINE_INTERRUPT_H_
