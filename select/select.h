// select/select.h -- waiting for several channels at once. Go: select.
//
//   gorge::Select(
//       gorge::OnRecv(jobs, [&](std::optional<Job> job) { ... }),
//       gorge::OnSend(results, std::move(result), [&] { ... }),
//       gorge::OnDefault([&] { ... }));
//
// The cases refer to the channels, values and targets they are made of and are
// written inside the call, as above. A channel may be a Chan or the fitting
// one-way view, and may stand in several cases. A nil channel is never ready.

#ifndef GORGE_SELECT_SELECT_H_
#define GORGE_SELECT_SELECT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "gorge/chan/chan.h"
#include "gorge/select/internal/cases.h"
#include "gorge/select/internal/selectgo.h"

namespace gorge {

// A case that receives. `handler` runs if the case is chosen, and is called
// with
//   std::optional<T>   nullopt: the channel is closed and drained. A generic
//                      handler gets this;
//   T                  only for an element; nothing is called for the close;
//   nothing            for either.
template <class T, class Handler = internal::NoHandler>
[[nodiscard]] auto OnRecv(const RecvChan<T>& channel, Handler handler = {}) {
  return internal::MakeRecvCase<T>(internal::ChanAccess::Ref(channel).get(),
                                   std::move(handler));
}
template <class T, class Handler = internal::NoHandler>
[[nodiscard]] auto OnRecv(const Chan<T>& channel, Handler handler = {}) {
  return internal::MakeRecvCase<T>(internal::ChanAccess::Ref(channel).get(),
                                   std::move(handler));
}

// A case that receives into *out, a T (for a close: T{}) or an optional<T> (for
// a close: nullopt); *ok, if given, tells an element from the close.
template <class T, class Out>
requires(!std::is_function_v<Out>)  // That is a handler.
    [[nodiscard]] auto OnRecv(const RecvChan<T>& channel, Out* out,
                              bool* ok = nullptr) {
  return internal::MakeRecvCase<T>(internal::ChanAccess::Ref(channel).get(),
                                   internal::StoreTo<T, Out>{out, ok});
}
template <class T, class Out>
requires(!std::is_function_v<Out>)
    [[nodiscard]] auto OnRecv(const Chan<T>& channel, Out* out,
                              bool* ok = nullptr) {
  return internal::MakeRecvCase<T>(internal::ChanAccess::Ref(channel).get(),
                                   internal::StoreTo<T, Out>{out, ok});
}

// A case that sends `value`. An rvalue T is moved from only if this case is
// chosen; anything else is copied to, or converted to, a T at the call.
template <class T, class V, class Handler = internal::NoHandler>
[[nodiscard]] auto OnSend(const SendChan<T>& channel, V&& value,
                          Handler handler = {}) {
  return internal::SendCase<T, V&&, Handler>(
      internal::ChanAccess::Ref(channel).get(), std::forward<V>(value),
      std::move(handler));
}
template <class T, class V, class Handler = internal::NoHandler>
[[nodiscard]] auto OnSend(const Chan<T>& channel, V&& value,
                          Handler handler = {}) {
  return internal::SendCase<T, V&&, Handler>(
      internal::ChanAccess::Ref(channel).get(), std::forward<V>(value),
      std::move(handler));
}

// The case that is chosen if no other is ready. At most one in a select.
template <class Handler = internal::NoHandler>
[[nodiscard]] auto OnDefault(Handler handler = {}) {
  return internal::DefaultCase<Handler>(std::move(handler));
}

// Performs exactly one case, chosen uniformly at random among those that are
// ready; if none is, the default, or else waits until one is. Then, with every
// lock dropped, calls its handler, and returns its position in the list. What
// the handler throws reaches the caller; the case has happened by then.
//
// Blocks: without a default, until a case is ready; for ever without a case.
//         The goroutine, never its worker thread; in a plain thread, the
//         thread.
// Panics: "send on closed channel", if that case is chosen.
// Orders: as the send or receive that is performed.
// Go:     select { ... }.
template <class... Cases>
std::size_t Select(Cases&&... cases) {
  return internal::RunSelect(internal::SelectOrder::kRandom, cases...);
}

// As Select, but of several ready cases performs the first in the list, all
// looked at in the same moment. What Go programs nest two selects for.
template <class... Cases>
std::size_t SelectInOrder(Cases&&... cases) {
  return internal::RunSelect(internal::SelectOrder::kList, cases...);
}

}  // namespace gorge

#endif  // GORGE_SELECT_SELECT_H_
