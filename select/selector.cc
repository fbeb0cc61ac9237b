#include "gorge/select/selector.h"

#include "gorge/core/internal/check.h"

namespace gorge {

std::size_t Selector::AddDefault(std::function<void()> handler) {
  if (default_index_ != kNone) {
    internal::RaisePanic("Selector: more than one default case");
  }
  default_handler_ = std::move(handler);
  default_index_ = Add(nullptr);
  return default_index_;
}

void Selector::Disable(std::size_t index) { Set(index, nullptr); }

void Selector::Clear() {
  cases_.clear();
  default_index_ = kNone;
  default_handler_ = nullptr;
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
  if (result.index == internal::SelectResult::kDefault) return RunDefault();
  cases_[result.index]->Finish(result.received);
  return result.index;
}

std::size_t Selector::RunDefault() {
  const std::size_t index = default_index_;
  if (default_handler_ != nullptr) default_handler_();
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
  CheckIndex(index);
  if (index == default_index_) {
    default_index_ = kNone;
    default_handler_ = nullptr;
  }
  cases_[index] = std::move(replacement);
}

void Selector::CheckIndex(std::size_t index) const {
  if (index >= cases_.size()) {
    internal::RaisePanic("Selector: there is no such case");
  }
}

}  // namespace gorge
