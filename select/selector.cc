#include "gorge/select/selector.h"

#include <utility>

#include "gorge/core/internal/check.h"

namespace gorge {

Selector& Selector::operator=(Selector&& other) noexcept {
  cases_ = std::exchange(other.cases_, {});
  default_index_ = std::exchange(other.default_index_, kNone);
  return *this;
}

std::size_t Selector::AddDefault(std::function<void()> handler) {
  if (default_index_ != kNone) {
    internal::RaisePanic("Selector: more than one default case");
  }
  default_index_ = Add(std::make_unique<Default>(std::move(handler)));
  return default_index_;
}

void Selector::Disable(std::size_t index) { Set(index, nullptr); }

void Selector::Clear() {
  for (std::unique_ptr<Case>& c : cases_) Retire(std::move(c));
  cases_.clear();
  default_index_ = kNone;
}

std::size_t Selector::Run() {
  untyped_.resize(cases_.size());
  for (std::size_t i = 0; i < cases_.size(); ++i) {
    untyped_[i] =
        cases_[i] == nullptr ? internal::SelectCase{} : cases_[i]->Untyped();
  }
  poll_order_.resize(cases_.size());
  lock_order_.resize(cases_.size());
  sudogs_.resize(cases_.size());
  const internal::SelectResult result = internal::SelectGo(
      {untyped_.data(), poll_order_.data(), lock_order_.data(), sudogs_.data(),
       static_cast<std::uint32_t>(cases_.size())},
      default_index_ != kNone, internal::SelectOrder::kRandom);
  const std::size_t index = result.index == internal::SelectResult::kDefault
                                ? default_index_
                                : result.index;
  const HandlerScope running(*this);
  cases_[index]->Finish(result.received);
  return index;
}

std::size_t Selector::Add(std::unique_ptr<Case> added) {
  // The untyped form counts in 32 bits, of which one value means the default.
  if (cases_.size() >= internal::SelectResult::kDefault) {
    internal::RaisePanic("Selector: too many cases");
  }
  cases_.push_back(std::move(added));
  return cases_.size() - 1;
}

void Selector::Set(std::size_t index, std::unique_ptr<Case> replacement) {
  if (index >= cases_.size()) {
    internal::RaisePanic("Selector: there is no such case");
  }
  if (index == default_index_) default_index_ = kNone;
  Retire(std::exchange(cases_[index], std::move(replacement)));
}

void Selector::Retire(std::unique_ptr<Case> replaced) {
  if (handlers_ > 0) retired_.push_back(std::move(replaced));
}

}  // namespace gorge
