// select/selector.h -- a select whose cases are known only at run time.
// Go: reflect.Select.
//
//   gorge::Selector selector;
//   for (const auto& feed : feeds) {
//     selector.AddRecv<Item>(feed, [&](std::optional<Item> item) { ... });
//   }
//   while (running) selector.Run();

#ifndef GORGE_SELECT_SELECTOR_H_
#define GORGE_SELECT_SELECTOR_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "gorge/chan/chan.h"
#include "gorge/select/internal/cases.h"
#include "gorge/select/internal/selectgo.h"

namespace gorge {

// A list of cases that stay from one Run to the next; each is known by its
// index, in the order in which they were added. Holds on to its channels.
// Memory and time of a Run are linear in the number of cases (n log n if it has
// to wait), however often a channel stands in them; none of it is on the stack.
//
// Not for use by several goroutines at once. Only Run blocks. All but Disable
// and Clear may throw std::bad_alloc, Run only if cases were added since.
class Selector {
 public:
  Selector() = default;
  // Leaves `other` without cases. Neither may be running.
  Selector(Selector&& other) noexcept { *this = std::move(other); }
  Selector& operator=(Selector&& other) noexcept;

  // Adds a case that receives; `handler` as for OnRecv. Returns its index.
  template <class T, class Handler = internal::NoHandler>
  std::size_t AddRecv(RecvChan<T> channel, Handler handler = {}) {
    return Add(MakeRecv<T>(std::move(channel), std::move(handler)));
  }
  template <class T, class Handler = internal::NoHandler>
  std::size_t AddRecv(const Chan<T>& channel, Handler handler = {}) {
    return AddRecv(RecvChan<T>(channel), std::move(handler));
  }

  // Adds a case that sends what `value` returns. It is called when a Run
  // begins, unless the value of an earlier Run has not been sent yet: that is
  // kept. It must not change the selector.
  template <class T, class Handler = internal::NoHandler>
  std::size_t AddSend(SendChan<T> channel,
                      std::type_identity_t<std::function<T()>> value,
                      Handler handler = {}) {
    return Add(
        MakeSend<T>(std::move(channel), std::move(value), std::move(handler)));
  }
  template <class T, class Handler = internal::NoHandler>
  std::size_t AddSend(const Chan<T>& channel,
                      std::type_identity_t<std::function<T()>> value,
                      Handler handler = {}) {
    return AddSend(SendChan<T>(channel), std::move(value), std::move(handler));
  }

  // Adds the default: Run then never blocks.
  //
  // Panics: if there is one already.
  std::size_t AddDefault(std::function<void()> handler = {});

  // Replaces a case, whatever it was.
  //
  // Panics: if there is no such case.
  template <class T, class Handler = internal::NoHandler>
  void SetRecv(std::size_t index, RecvChan<T> channel, Handler handler = {}) {
    Set(index, MakeRecv<T>(std::move(channel), std::move(handler)));
  }
  template <class T, class Handler = internal::NoHandler>
  void SetRecv(std::size_t index, const Chan<T>& channel,
               Handler handler = {}) {
    SetRecv(index, RecvChan<T>(channel), std::move(handler));
  }
  template <class T, class Handler = internal::NoHandler>
  void SetSend(std::size_t index, SendChan<T> channel,
               std::type_identity_t<std::function<T()>> value,
               Handler handler = {}) {
    Set(index,
        MakeSend<T>(std::move(channel), std::move(value), std::move(handler)));
  }
  template <class T, class Handler = internal::NoHandler>
  void SetSend(std::size_t index, const Chan<T>& channel,
               std::type_identity_t<std::function<T()>> value,
               Handler handler = {}) {
    SetSend(index, SendChan<T>(channel), std::move(value), std::move(handler));
  }

  // The case is never chosen any more, until it is set again; its channel, its
  // handler and an unsent value are dropped.
  //
  // Panics: if there is no such case.
  void Disable(std::size_t index);

  // Removes all cases.
  void Clear();

  // Performs one of the cases, as Select does, and returns its index. A handler
  // may change the selector, its own case too, and run it.
  //
  // Blocks: without a default, until a case is ready; for ever if there is no
  //         case at all.
  // Panics: "send on closed channel", if that case is chosen.
  std::size_t Run();

 private:
  class Case {
   public:
    virtual ~Case() = default;
    virtual internal::SelectCase Untyped() = 0;
    virtual void Finish(bool received) = 0;
  };

  template <class T, class Handler>
  class Recv final : public Case {
   public:
    Recv(RecvChan<T> channel, Handler handler)
        : channel_(std::move(channel)),
          case_(internal::ChanAccess::Ref(channel_).get(), std::move(handler)) {
    }
    internal::SelectCase Untyped() override { return case_.Untyped(); }
    void Finish(bool received) override { case_.Finish(received); }

   private:
    RecvChan<T> channel_;
    internal::RecvCase<T, Handler> case_;
  };

  template <class T, class Handler>
  class Send final : public Case {
   public:
    Send(SendChan<T> channel, std::function<T()> value, Handler handler)
        : channel_(std::move(channel)),
          value_(std::move(value)),
          handler_(std::move(handler)) {}
    internal::SelectCase Untyped() override {
      internal::Hchan* hchan = internal::ChanAccess::Ref(channel_).get();
      if (hchan != nullptr && !unsent_.has_value()) unsent_.emplace(value_());
      void* element = unsent_.has_value() ? std::addressof(*unsent_) : nullptr;
      return {hchan, element, true};
    }
    void Finish(bool) override {
      unsent_.reset();
      std::invoke(handler_);
    }

   private:
    SendChan<T> channel_;
    std::function<T()> value_;
    Handler handler_;
    std::optional<T> unsent_;
  };

  // Never ready; SelectGo is told of it apart.
  class Default final : public Case {
   public:
    explicit Default(std::function<void()> handler)
        : handler_(std::move(handler)) {}
    internal::SelectCase Untyped() override { return {}; }
    void Finish(bool) override {
      if (handler_ != nullptr) handler_();
    }

   private:
    std::function<void()> handler_;
  };

  // While a handler runs, cases that are replaced stay: one may be its own.
  class HandlerScope {
   public:
    explicit HandlerScope(Selector& selector) : selector_(selector) {
      ++selector_.handlers_;
    }
    ~HandlerScope() {
      if (--selector_.handlers_ == 0) selector_.retired_.clear();
    }
    HandlerScope(const HandlerScope&) = delete;
    HandlerScope& operator=(const HandlerScope&) = delete;

   private:
    Selector& selector_;
  };

  template <class T, class Handler>
  static std::unique_ptr<Case> MakeRecv(RecvChan<T> channel, Handler handler) {
    return std::make_unique<Recv<T, Handler>>(std::move(channel),
                                              std::move(handler));
  }
  template <class T, class Handler>
  static std::unique_ptr<Case> MakeSend(SendChan<T> channel,
                                        std::function<T()> value,
                                        Handler handler) {
    return std::make_unique<Send<T, Handler>>(
        std::move(channel), std::move(value), std::move(handler));
  }

  std::size_t Add(std::unique_ptr<Case> added);
  void Set(std::size_t index, std::unique_ptr<Case> replacement);
  void Retire(std::unique_ptr<Case> replaced);

  static constexpr std::size_t kNone = SIZE_MAX;

  std::vector<std::unique_ptr<Case>> cases_;  // Null: disabled.
  std::size_t default_index_ = kNone;
  int handlers_ = 0;                            // Running now, nested.
  std::vector<std::unique_ptr<Case>> retired_;  // Empty if none is running.

  // A Run's working memory, kept for the next one.
  std::vector<internal::SelectCase> untyped_;
  std::vector<std::uint32_t> poll_order_;
  std::vector<std::uint32_t> lock_order_;
  std::vector<internal::SudogRoom> sudogs_;
};

}  // namespace gorge

#endif  // GORGE_SELECT_SELECTOR_H_
