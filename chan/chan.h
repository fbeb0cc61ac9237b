// chan/chan.h -- typed channels. Go: chan T, chan<- T, <-chan T.
//
// A Chan is a handle: copying it costs one atomic increment, all copies mean
// the same channel, and the channel lives as long as a handle does. A
// default-constructed handle is the nil channel, and so is one that was moved
// from. When the last handle goes away while goroutines are blocked on the
// channel, they stay blocked, as in Go.
//
// Every operation works from goroutines and from plain threads alike. "Blocks"
// below means: the calling goroutine, never its worker thread; in a plain
// thread, the thread.
//
// T is moved, never copied, from the sender to the receiver: through the
// buffer, or, where one of them waits, straight from stack to stack. Its move
// constructor and its destructor run under the channel's lock: they must not
// block, yield, start a goroutine, or use the same channel.
//
// Ordering: what precedes a send happens before the return of the receive that
// gets the element. What precedes Close happens before a receive that returns
// because of it. What precedes a receive on a channel without buffer happens
// before the return of the send; with a buffer of n, the k-th receive happens
// before the return of send k + n.

#ifndef GORGE_CHAN_CHAN_H_
#define GORGE_CHAN_CHAN_H_

#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>  // std::monostate, for channels that only signal.

#include "gorge/chan/internal/chan_ref.h"
#include "gorge/chan/internal/element.h"
#include "gorge/chan/internal/hchan.h"
#include "gorge/core/internal/check.h"

namespace gorge {

template <class T>
class Chan;
template <class T>
class SendChan;
template <class T>
class RecvChan;

// What TryRecv found. Not ready: nothing to receive now. Ready without a value:
// closed and drained.
template <class T>
struct TryRecvResultOf {
  bool ready = false;
  std::optional<T> value;
};

namespace internal {

// What every handle can do.
template <class Self>
class AnyHandle {
 public:
  // The number of elements in the buffer; a snapshot. 0 for nil.
  std::size_t Len() const { return get() == nullptr ? 0 : get()->Len(); }
  // The size of the buffer. 0 for nil.
  std::size_t Cap() const { return get() == nullptr ? 0 : get()->Cap(); }
  // True unless nil.
  explicit operator bool() const { return get() != nullptr; }

  // Same channel, or both nil.
  friend bool operator==(const Self& a, const Self& b) {
    return ChanAccess::Ref(a).get() == ChanAccess::Ref(b).get();
  }
  template <class H>
  friend H AbslHashValue(H state, const Self& handle) {
    return H::combine(std::move(state), ChanAccess::Ref(handle).get());
  }

 protected:
  Hchan* get() const {
    return ChanAccess::Ref(static_cast<const Self&>(*this)).get();
  }
};

// What a handle to the sending end can do.
template <class Self, class T>
class SendEnd {
 public:
  // Sends `value`: hands it to a waiting receiver, else puts it into the
  // buffer, else waits for either.
  //
  // Blocks: until a receiver or the buffer has it. For ever on nil.
  // Panics: "send on closed channel", also when it is closed meanwhile.
  // Go:     c <- value.
  void Send(T value) const {
    Hchan* hchan = get();
    if (hchan == nullptr) ParkForever(WaitReason::kChanNil);
    hchan->Send(std::addressof(value));
  }

  // Sends if that is possible without blocking. On false, `value` has not been
  // moved from (or copied); what was converted to a T for the call has been.
  // Never sends on nil.
  //
  // Blocks: never.
  // Panics: "send on closed channel".
  // Go:     select { case c <- value: default: }.
  [[nodiscard]] bool TrySend(T&& value) const {
    Hchan* hchan = get();
    return hchan != nullptr && hchan->TrySend(std::addressof(value));
  }
  [[nodiscard]] bool TrySend(const T& value) const
      requires(std::is_copy_constructible_v<T>) {
    Hchan* hchan = get();
    if (hchan == nullptr || !hchan->MightSend()) return false;
    T copy(value);
    return hchan->TrySend(std::addressof(copy));
  }

  // Closes the channel: receivers get what is buffered and then nothing, all
  // who are blocked return, senders with a Panic.
  //
  // Blocks: never.
  // Panics: "close of closed channel", "close of nil channel".
  // Go:     close(c).
  void Close() const {
    Hchan* hchan = get();
    if (hchan == nullptr) RaisePanic("close of nil channel");
    hchan->Close();
  }

 private:
  Hchan* get() const {
    return ChanAccess::Ref(static_cast<const Self&>(*this)).get();
  }
};

template <class Handle, class T>
class RecvIterator;

// What a handle to the receiving end can do.
template <class Self, class T>
class RecvEnd {
 public:
  using TryRecvResult = TryRecvResultOf<T>;

  // Receives the next element; nullopt once the channel is closed and drained.
  //
  // Blocks: until there is one or it is closed. For ever on nil.
  // Go:     v, ok := <-c.
  std::optional<T> Recv() const {
    Hchan* hchan = get();
    if (hchan == nullptr) ParkForever(WaitReason::kChanNil);
    std::optional<T> value;
    hchan->Recv(std::addressof(value));
    return value;
  }

  // Receives if that is possible without blocking. Nil is never ready.
  //
  // Blocks: never.
  // Go:     select { case v, ok := <-c: default: }.
  [[nodiscard]] TryRecvResult TryRecv() const {
    TryRecvResult result;
    Hchan* hchan = get();
    if (hchan != nullptr) {
      result.ready = hchan->TryRecv(std::addressof(result.value)) !=
                     RecvResult::kWouldBlock;
    }
    return result;
  }

  // An input range: receives, one element at each step, until closed.
  //
  // Blocks: begin() and ++, as Recv does.
  // Go:     for v := range c.
  RecvIterator<Self, T> begin() const {
    return RecvIterator<Self, T>(static_cast<const Self&>(*this));
  }
  std::default_sentinel_t end() const { return {}; }

 private:
  Hchan* get() const {
    return ChanAccess::Ref(static_cast<const Self&>(*this)).get();
  }
};

// Keeps the element received last, and the channel.
template <class Handle, class T>
class RecvIterator {
 public:
  using iterator_concept = std::input_iterator_tag;
  using value_type = T;
  using difference_type = std::ptrdiff_t;

  explicit RecvIterator(Handle handle)
      : handle_(std::move(handle)), value_(handle_.Recv()) {}
  RecvIterator(RecvIterator&&) noexcept = default;
  RecvIterator& operator=(RecvIterator&&) noexcept = default;

  T& operator*() const { return *value_; }
  T* operator->() const { return std::addressof(*value_); }
  RecvIterator& operator++() {
    value_.reset();
    // Not assigned: T need not be assignable.
    if (std::optional<T> next = handle_.Recv())
      value_.emplace(std::move(*next));
    return *this;
  }
  void operator++(int) { ++*this; }
  friend bool operator==(const RecvIterator& it, std::default_sentinel_t) {
    return !it.value_.has_value();
  }

 private:
  Handle handle_;
  mutable std::optional<T> value_;
};

}  // namespace internal

// The sending end of a channel: a view that a Chan converts to.
template <class T>
class SendChan : public internal::AnyHandle<SendChan<T>>,
                 public internal::SendEnd<SendChan<T>, T> {
 public:
  SendChan() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): as in Go.
  SendChan(const Chan<T>& both);
  // NOLINTNEXTLINE(google-explicit-constructor): as in Go.
  SendChan(Chan<T>&& both) noexcept;

 private:
  friend class internal::ChanAccess;
  internal::ChanRef ref_;
};

// The receiving end of a channel: a view that a Chan converts to.
template <class T>
class RecvChan : public internal::AnyHandle<RecvChan<T>>,
                 public internal::RecvEnd<RecvChan<T>, T> {
 public:
  RecvChan() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): as in Go.
  RecvChan(const Chan<T>& both);
  // NOLINTNEXTLINE(google-explicit-constructor): as in Go.
  RecvChan(Chan<T>&& both) noexcept;

 private:
  friend class internal::ChanAccess;
  internal::ChanRef ref_;
};

// Both ends of a channel.
template <class T>
class Chan : public internal::AnyHandle<Chan<T>>,
             public internal::SendEnd<Chan<T>, T>,
             public internal::RecvEnd<Chan<T>, T> {
 public:
  Chan() = default;

 private:
  friend class internal::ChanAccess;
  internal::ChanRef ref_;
};

// Makes a channel with a buffer of `capacity` elements; without one, each send
// waits for its receive. One allocation, of capacity * sizeof(T) and a header;
// an empty T takes no room, whatever the capacity.
//
// Panics: "makechan: size out of range" if negative or impossible.
// Throws: std::bad_alloc.
// Go:     make(chan T, capacity).
template <class T>
[[nodiscard]] Chan<T> MakeChan(std::ptrdiff_t capacity = 0) {
  static_assert(std::is_object_v<T>, "the elements of a channel are objects");
  static_assert(std::is_nothrow_move_constructible_v<T>,
                "the elements of a channel need a move constructor that is "
                "noexcept; of other types send a std::unique_ptr<T>");
  return internal::ChanAccess::Make<Chan<T>>(internal::ChanRef(
      internal::Hchan::Make(internal::kElementType<T>, capacity)));
}

template <class T>
SendChan<T>::SendChan(const Chan<T>& both)
    : ref_(internal::ChanAccess::Ref(both)) {}
template <class T>
SendChan<T>::SendChan(Chan<T>&& both) noexcept
    : ref_(internal::ChanAccess::Ref(std::move(both))) {}
template <class T>
RecvChan<T>::RecvChan(const Chan<T>& both)
    : ref_(internal::ChanAccess::Ref(both)) {}
template <class T>
RecvChan<T>::RecvChan(Chan<T>&& both) noexcept
    : ref_(internal::ChanAccess::Ref(std::move(both))) {}

namespace internal {

template <class Handle>
struct HashHandle {
  std::size_t operator()(const Handle& handle) const {
    return std::hash<const void*>()(ChanAccess::Ref(handle).get());
  }
};

}  // namespace internal
}  // namespace gorge

template <class T>
struct std::hash<gorge::Chan<T>> : gorge::internal::HashHandle<gorge::Chan<T>> {
};
template <class T>
struct std::hash<gorge::SendChan<T>>
    : gorge::internal::HashHandle<gorge::SendChan<T>> {};
template <class T>
struct std::hash<gorge::RecvChan<T>>
    : gorge::internal::HashHandle<gorge::RecvChan<T>> {};

#endif  // GORGE_CHAN_CHAN_H_
