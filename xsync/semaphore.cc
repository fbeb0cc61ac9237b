#include "gorge/xsync/semaphore.h"

#include <mutex>

#include "gorge/core/panic.h"
#include "gorge/select/select.h"

namespace gorge {
namespace {

void CheckCount(std::int64_t count) {
  if (count < 0) throw Panic("semaphore: negative count");
}

}  // namespace

Semaphore::Semaphore(std::int64_t size) : size_(size) {
  if (size < 0) throw Panic("semaphore: negative size");
}

bool Semaphore::TryTake(std::int64_t count) {
  if (!waiters_.empty() || count > size_ - taken_) return false;
  taken_ += count;
  return true;
}

// A waiter that is served is off the list. It returns, and is gone, once its
// channel is closed.
void Semaphore::ServeWaiters() {
  while (!waiters_.empty()) {
    const Waiter& oldest = *waiters_.front();
    if (oldest.count > size_ - taken_) return;
    taken_ += oldest.count;
    waiters_.pop_front();
    oldest.served.Close();
  }
}

void Semaphore::Withdraw(const Waiter& waiter, Waiters::iterator place) {
  if (waiter.served.View().TryRecv().ready) {
    taken_ -= waiter.count;
  } else {
    waiters_.erase(place);
  }
  // It may have been in the way of others.
  ServeWaiters();
}

absl::Status Semaphore::Acquire(const Context& ctx, std::int64_t count) {
  CheckCount(count);
  if (absl::Status err = ctx.Err(); !err.ok()) return err;
  std::unique_lock hold(mutex_);
  if (TryTake(count)) return absl::OkStatus();
  if (count > size_) {
    hold.unlock();
    static_cast<void>(ctx.Done().Recv());
    return ctx.Err();
  }
  const Waiter self{count};
  const auto place = waiters_.insert(waiters_.end(), &self);
  hold.unlock();
  Select(OnRecv(ctx.Done()), OnRecv(self.served.View()));
  // Of both, the end counts: who is served late is not served.
  absl::Status err = ctx.Err();
  if (!err.ok()) {
    hold.lock();
    Withdraw(self, place);
  }
  return err;
}

bool Semaphore::TryAcquire(std::int64_t count) {
  CheckCount(count);
  const std::lock_guard hold(mutex_);
  return TryTake(count);
}

void Semaphore::Release(std::int64_t count) {
  CheckCount(count);
  const std::lock_guard hold(mutex_);
  if (count > taken_) throw Panic("semaphore: released more than held");
  taken_ -= count;
  ServeWaiters();
}

}  // namespace gorge
