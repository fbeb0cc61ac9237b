// select/internal/cases.h -- the typed cases of a select, and how a list of
// them becomes the untyped one that SelectGo works on.
//
// A case is asked for its Untyped() form once, before the select, and told to
// Finish() if it was chosen, after every lock is dropped.

#ifndef GORGE_SELECT_INTERNAL_CASES_H_
#define GORGE_SELECT_INTERNAL_CASES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "gorge/chan/internal/hchan.h"
#include "gorge/core/internal/park.h"
#include "gorge/select/internal/selectgo.h"

namespace gorge::internal {

struct NoHandler {
  void operator()() const {}
};

// A handler that stores what was received. `out` may be null: dropped.
template <class T, class Out>
struct StoreTo {
  static_assert(std::is_same_v<Out, T> || std::is_same_v<Out, std::optional<T>>,
                "OnRecv(channel, &out): out is a T or a std::optional<T>");
  Out* out;
  bool* ok;

  void operator()(std::optional<T> value) const {
    if (ok != nullptr) *ok = value.has_value();
    if (out == nullptr) return;
    if constexpr (std::is_same_v<Out, T>) {
      *out = value.has_value() ? std::move(*value) : T{};
    } else {
      // Not assigned: T need not be assignable.
      out->reset();
      if (value.has_value()) out->emplace(std::move(*value));
    }
  }
};

// Turns into an optional<T> and into nothing that is made of any type.
template <class T>
struct OnlyOptional {
  OnlyOptional(const OnlyOptional&) = delete;
  operator std::optional<T>() &&;  // NOLINT(google-explicit-constructor)
};

// True if Handler is to be called with an optional<T>. A T that can be made of
// an optional<T>, like std::any, must not pass for one.
template <class Handler, class T>
inline constexpr bool kTakesOptional = std::is_invocable_v<
    Handler&, std::conditional_t<std::is_convertible_v<std::optional<T>, T>,
                                 OnlyOptional<T>, std::optional<T>>>;

template <class T, class Handler>
class RecvCase {
 public:
  static constexpr bool kIsDefault = false;

  RecvCase(Hchan* hchan, Handler handler)
      : hchan_(hchan), handler_(std::move(handler)) {}

  SelectCase Untyped() { return {hchan_, std::addressof(slot_), false}; }

  void Finish(bool received) {
    if constexpr (kTakesOptional<Handler, T>) {
      std::invoke(handler_, TakeSlot());
    } else if constexpr (std::is_invocable_v<Handler&, T>) {
      if (received) std::invoke(handler_, std::move(*TakeSlot()));
    } else {
      static_assert(std::is_invocable_v<Handler&>,
                    "a receive handler takes std::optional<T>, T or nothing");
      slot_.reset();
      std::invoke(handler_);
    }
  }

 private:
  // Leaves the slot empty, as the next select of a Selector needs it, even if
  // the handler throws or runs that select itself.
  std::optional<T> TakeSlot() {
    std::optional<T> value(std::move(slot_));
    slot_.reset();
    return value;
  }

  Hchan* hchan_;
  Handler handler_;
  std::optional<T> slot_;
};

template <class T, class Handler>
RecvCase<T, Handler> MakeRecvCase(Hchan* hchan, Handler handler) {
  return RecvCase<T, Handler>(hchan, std::move(handler));
}

// An rvalue T stays where the caller has it, and is moved from there if the
// case is chosen; anything else becomes a T here.
template <class T, class V, class Handler>
class SendCase {
 public:
  static constexpr bool kIsDefault = false;

  SendCase(Hchan* hchan, V value, Handler handler)
      : hchan_(hchan),
        value_(static_cast<V>(value)),
        handler_(std::move(handler)) {}

  SelectCase Untyped() { return {hchan_, std::addressof(value_), true}; }

  void Finish(bool) { std::invoke(handler_); }

 private:
  Hchan* hchan_;
  std::conditional_t<std::is_same_v<V, T&&>, T&&, T> value_;
  Handler handler_;
};

template <class Handler>
class DefaultCase {
 public:
  static constexpr bool kIsDefault = true;

  explicit DefaultCase(Handler handler) : handler_(std::move(handler)) {}

  void Finish(bool) { std::invoke(handler_); }

 private:
  Handler handler_;
};

// Working memory for N cases, on the stack of the select.
template <std::size_t N>
struct StaticFrame {
  std::array<SelectCase, N> cases;
  std::array<std::uint32_t, N> poll_order;
  std::array<std::uint32_t, N> lock_order;
  std::array<SudogRoom, N> sudogs;
  std::array<std::size_t, N> position;  // In the user's list.
};

// Calls each case's Finish whose position in the list is `chosen`.
template <class... Cases>
void FinishChosen(std::size_t chosen, [[maybe_unused]] bool received,
                  Cases&... cases) {
  std::size_t position = 0;
  static_cast<void>(
      ((position++ == chosen && (cases.Finish(received), true)) || ...));
}

// A select of one case, with or without a default: no frame, no order.
template <class... Cases>
std::size_t RunSelectOfOne(Cases&... cases) {
  constexpr bool kHasDefault = sizeof...(Cases) == 2;
  SelectResult result;
  std::size_t position = 0;
  std::size_t case_position = 0;
  std::size_t default_position = 0;
  const auto run = [&](auto& c) {
    if constexpr (std::remove_reference_t<decltype(c)>::kIsDefault) {
      default_position = position++;
    } else {
      case_position = position++;
      const SelectCase untyped = c.Untyped();
      if (untyped.hchan != nullptr) {
        result = SelectOne(untyped, kHasDefault);
      } else if (!kHasDefault) {
        ParkForever(WaitReason::kSelectNoCases);
      }
    }
  };
  (run(cases), ...);
  const std::size_t chosen =
      result.index == SelectResult::kDefault ? default_position : case_position;
  FinishChosen(chosen, result.received, cases...);
  return chosen;
}

template <class... Cases>
std::size_t RunSelectOfMany(SelectOrder order, Cases&... cases) {
  constexpr std::size_t kDefaults = (std::size_t{Cases::kIsDefault} + ... + 0);
  StaticFrame<sizeof...(Cases) - kDefaults> frame;
  std::uint32_t count = 0;
  std::size_t position = 0;
  std::size_t default_position = 0;
  [[maybe_unused]] const auto add = [&](auto& c) {
    if constexpr (std::remove_reference_t<decltype(c)>::kIsDefault) {
      default_position = position++;
    } else {
      frame.cases[count] = c.Untyped();
      frame.position[count++] = position++;
    }
  };
  (add(cases), ...);
  const SelectResult result =
      SelectGo({frame.cases.data(), frame.poll_order.data(),
                frame.lock_order.data(), frame.sudogs.data(), count},
               kDefaults == 1, order);
  const std::size_t chosen = result.index == SelectResult::kDefault
                                 ? default_position
                                 : frame.position[result.index];
  FinishChosen(chosen, result.received, cases...);
  return chosen;
}

template <class... Cases>
std::size_t RunSelect(SelectOrder order, Cases&... cases) {
  constexpr std::size_t kDefaults = (std::size_t{Cases::kIsDefault} + ... + 0);
  static_assert(kDefaults <= 1, "a select has at most one default");
  if constexpr (sizeof...(Cases) - kDefaults == 1) {
    return RunSelectOfOne(cases...);
  } else {
    return RunSelectOfMany(order, cases...);
  }
}

}  // namespace gorge::internal

#endif  // GORGE_SELECT_INTERNAL_CASES_H_
