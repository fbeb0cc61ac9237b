// What a handle cannot do does not compile.

#include <memory>
#include <string>
#include <type_traits>

#include "gorge/chan/chan.h"
#include "gorge/select/select.h"
#include "gorge/select/selector.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

template <class C, class T = int>
concept Sends = requires(const C& c, T v) {
  c.Send(v);
};
template <class C, class T = int>
concept TriesToSend = requires(const C& c, T v) {
  c.TrySend(v);
};
template <class C>
concept Closes = requires(const C& c) {
  c.Close();
};
template <class C>
concept Receives = requires(const C& c) {
  c.Recv();
};
template <class C>
concept TriesToReceive = requires(const C& c) {
  c.TryRecv();
};
template <class C>
concept Ranges = requires(const C& c) {
  c.begin();
  c.end();
};
template <class C>
concept Measures = requires(const C& c) {
  c.Len();
  c.Cap();
  static_cast<bool>(c);
};
template <class C>
concept SelectsSend = requires(const C& c) {
  OnSend(c, 1);
};
template <class C>
concept SelectsRecv = requires(const C& c, int out) {
  OnRecv(c);
  OnRecv(c, &out);
};
template <class C>
concept SelectorSends = requires(Selector& s, const C& c) {
  s.AddSend(c, [] { return 1; });
};
template <class C>
concept SelectorReceives = requires(Selector& s, const C& c) {
  s.AddRecv(c);
};
template <class A, class B>
concept Compares = requires(const A& a, const B& b) {
  a == b;
};

using Both = Chan<int>;
using In = SendChan<int>;
using Out = RecvChan<int>;

static_assert(Sends<Both> && Sends<In> && !Sends<Out>);
static_assert(TriesToSend<Both> && TriesToSend<In> && !TriesToSend<Out>);
static_assert(Closes<Both> && Closes<In> && !Closes<Out>);
static_assert(Receives<Both> && !Receives<In> && Receives<Out>);
static_assert(TriesToReceive<Both> && !TriesToReceive<In> &&
              TriesToReceive<Out>);
static_assert(Ranges<Both> && !Ranges<In> && Ranges<Out>);
static_assert(Measures<Both> && Measures<In> && Measures<Out>);
static_assert(SelectsSend<Both> && SelectsSend<In> && !SelectsSend<Out>);
static_assert(SelectsRecv<Both> && !SelectsRecv<In> && SelectsRecv<Out>);
static_assert(SelectorSends<Both> && SelectorSends<In> && !SelectorSends<Out>);
static_assert(SelectorReceives<Both> && !SelectorReceives<In> &&
              SelectorReceives<Out>);

// Both ends convert to one of them, implicitly; nothing converts back.
static_assert(std::is_convertible_v<Both, In>);
static_assert(std::is_convertible_v<Both, Out>);
static_assert(!std::is_constructible_v<Both, In>);
static_assert(!std::is_constructible_v<Both, Out>);
static_assert(!std::is_constructible_v<In, Out>);
static_assert(!std::is_constructible_v<Out, In>);
static_assert(!std::is_assignable_v<Both&, In>);
static_assert(!std::is_assignable_v<In&, Out>);

// A channel of one type is none of another, however the elements convert.
static_assert(!std::is_constructible_v<Chan<long>, Chan<int>>);
static_assert(!std::is_constructible_v<SendChan<int>, Chan<long>>);
static_assert(!std::is_constructible_v<RecvChan<const int>, Chan<int>>);
static_assert(!Compares<Chan<int>, Chan<long>>);
static_assert(!Compares<In, Out>);

// What is sent must convert to the element.
static_assert(Sends<Both, short>);
static_assert(!Sends<Both, std::string>);
static_assert(!Sends<Chan<std::unique_ptr<int>>, std::unique_ptr<int>>);

// Nobody takes a number or a null pointer for a channel.
static_assert(!std::is_constructible_v<Both, std::nullptr_t>);
static_assert(!std::is_constructible_v<Both, int>);
static_assert(!std::is_constructible_v<Both, void*>);

TEST(OneWayTest, IsCheckedByTheCompiler) {}

}  // namespace
}  // namespace gorge
