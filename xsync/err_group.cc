#include "gorge/xsync/err_group.h"

#include "gorge/core/panic.h"

namespace gorge {

ErrGroup::~ErrGroup() {
  cancel_();
  all_.Wait();
}

ErrGroup::AndContext ErrGroup::WithContext(const Context& parent) {
  auto [ctx, cancel] = WithCancelCause(parent);
  return {.group = ErrGroup(std::move(cancel)), .ctx = std::move(ctx)};
}

absl::Status ErrGroup::Wait() {
  all_.Wait();
  cancel_(error_);
  return error_;
}

void ErrGroup::SetLimit(int limit) {
  if (tokens_.Len() > 0) {
    throw Panic(
        "errgroup: modify limit while goroutines in the group are still "
        "active");
  }
  tokens_ =
      limit < 0 ? Chan<std::monostate>() : MakeChan<std::monostate>(limit);
}

void ErrGroup::Fail(absl::Status status) {
  failed_.Do([&] {
    error_ = std::move(status);
    cancel_(error_);
  });
}

}  // namespace gorge
