// tests/support/paths.h -- every way that an element can take through a
// channel.
//
// What a channel does to its elements is the same for all element types, so the
// tests of the types, and of their lifetime, send one element along each way:
// all operations that send, to all that receive, with and without a buffer,
// either side first.

#ifndef GORGE_TESTS_SUPPORT_PATHS_H_
#define GORGE_TESTS_SUPPORT_PATHS_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/core/runtime.h"
#include "gorge/select/select.h"
#include "gorge/select/selector.h"
#include "gorge/sync/wait_group.h"
#include "gorge/tests/support/channels.h"
#include "gtest/gtest.h"

namespace gorge::testing {

template <class T>
class Paths {
 public:
  using Make = std::function<T()>;        // The element to be sent.
  using Check = std::function<void(T&)>;  // Looks at what was received.

  // The elements' copies on a goroutine's stack must fit into `stack_size`.
  explicit Paths(Make make, Check check, std::size_t stack_size = 0)
      : make_(std::move(make)),
        check_(std::move(check)),
        stack_size_(stack_size) {}

  // Sends one element along each way. Called by a goroutine.
  void TakeAll() {
    for (const Sender& sender : kSenders) {
      for (const Receiver& receiver : kReceivers) {
        for (const int capacity : {0, 1}) {
          for (const bool sender_first : {false, true}) {
            TakeOne(sender, receiver, capacity, sender_first);
          }
        }
      }
    }
  }

 private:
  struct Sender {
    const char* name;
    bool parks;
    void (*send)(const Chan<T>& c, const Make& make);
  };
  struct Receiver {
    const char* name;
    bool parks;
    void (*receive)(const Chan<T>& c, const Check& check);
  };

  static void Send(const Chan<T>& c, const Make& make) { c.Send(make()); }
  static void TrySend(const Chan<T>& c, const Make& make) {
    T value = make();
    while (!c.TrySend(std::move(value))) Gosched();
  }
  static void SelectSend(const Chan<T>& c, const Make& make) {
    EXPECT_EQ(Select(OnRecv(MakeChan<int>()), OnSend(c, make())), 1u);
  }
  static void InOrderSend(const Chan<T>& c, const Make& make) {
    EXPECT_EQ(SelectInOrder(OnRecv(MakeChan<int>()), OnSend(c, make())), 1u);
  }
  static void SelectorSend(const Chan<T>& c, const Make& make) {
    Selector selector;
    selector.AddRecv(MakeChan<int>());
    selector.AddSend(c, make);
    EXPECT_EQ(selector.Run(), 1u);
  }

  static void Recv(const Chan<T>& c, const Check& check) {
    std::optional<T> value = c.Recv();
    ASSERT_TRUE(value.has_value());
    check(*value);
  }
  static void TryRecv(const Chan<T>& c, const Check& check) {
    while (true) {
      typename Chan<T>::TryRecvResult result = c.TryRecv();
      if (!result.ready) {
        Gosched();
        continue;
      }
      ASSERT_TRUE(result.value.has_value());
      check(*result.value);
      return;
    }
  }
  static void Range(const Chan<T>& c, const Check& check) {
    for (T& value : c) {
      check(value);
      return;
    }
    ADD_FAILURE() << "closed";
  }
  static void SelectOptional(const Chan<T>& c, const Check& check) {
    Select(OnRecv(MakeChan<int>()), OnRecv(c, [&](std::optional<T>&& value) {
             ASSERT_TRUE(value.has_value());
             check(*value);
           }));
  }
  static void SelectValue(const Chan<T>& c, const Check& check) {
    Select(OnRecv(MakeChan<int>()),
           OnRecv(c, [&](T&& value) { check(value); }));
  }
  static void SelectOut(const Chan<T>& c, const Check& check) {
    std::optional<T> out;
    Select(OnRecv(MakeChan<int>()), OnRecv(c, std::addressof(out)));
    ASSERT_TRUE(out.has_value());
    check(*out);
  }
  static void InOrderRecv(const Chan<T>& c, const Check& check) {
    std::optional<T> out;
    SelectInOrder(OnRecv(MakeChan<int>()), OnRecv(c, std::addressof(out)));
    ASSERT_TRUE(out.has_value());
    check(*out);
  }
  static void SelectorRecv(const Chan<T>& c, const Check& check) {
    Selector selector;
    selector.AddRecv(MakeChan<int>());
    selector.AddRecv(c, [&](std::optional<T>&& value) {
      ASSERT_TRUE(value.has_value());
      check(*value);
    });
    EXPECT_EQ(selector.Run(), 1u);
  }

  static constexpr Sender kSenders[] = {
      {"Send", true, &Send},
      {"TrySend", false, &TrySend},
      {"Select", true, &SelectSend},
      {"SelectInOrder", true, &InOrderSend},
      {"Selector", true, &SelectorSend},
  };
  static constexpr Receiver kReceivers[] = {
      {"Recv", true, &Recv},
      {"TryRecv", false, &TryRecv},
      {"range", true, &Range},
      {"Select, handler of an optional", true, &SelectOptional},
      {"Select, handler of a value", true, &SelectValue},
      {"Select, target", true, &SelectOut},
      {"SelectInOrder", true, &InOrderRecv},
      {"Selector", true, &SelectorRecv},
  };

  // The side that is first parks, or has put its element into the buffer,
  // before the other one starts; two that only try take turns.
  void TakeOne(const Sender& sender, const Receiver& receiver, int capacity,
               bool sender_first) {
    const bool first_parks = sender_first ? sender.parks : receiver.parks;
    const bool second_parks = sender_first ? receiver.parks : sender.parks;
    if (!first_parks && !second_parks && capacity == 0) return;  // Never meet.
    const Chan<T> c = MakeChan<T>(capacity);
    const GoOptions options{.stack_size = stack_size_};
    WaitGroup both;
    both.Add(2);
    const auto send = [&] {
      sender.send(c, make_);
      both.Done();
    };
    const auto receive = [&] {
      receiver.receive(c, check_);
      both.Done();
    };
    if (sender_first) {
      go(options, send);
      if (capacity > 0) {
        while (c.Len() == 0) Gosched();
      } else if (first_parks) {
        AwaitWaiting(c, 1);
      }
      go(options, receive);
    } else {
      go(options, receive);
      if (first_parks) AwaitWaiting(c, 1);
      go(options, send);
    }
    both.Wait();
    EXPECT_FALSE(::testing::Test::HasFailure())
        << sender.name << " to " << receiver.name << ", capacity " << capacity
        << (sender_first ? ", sender" : ", receiver") << " first";
  }

  const Make make_;
  const Check check_;
  const std::size_t stack_size_;
};

}  // namespace gorge::testing

#endif  // GORGE_TESTS_SUPPORT_PATHS_H_
