// tests/stress/chan_stress.cc -- send, receive and close on one channel from
// many goroutines and plain threads at once, every element accounted for.
//
// A scene is one channel with its senders, receivers and closers; a round plays
// some scenes side by side. Checked in each:
//   - what was sent is what was received and what is left in the buffer; no
//     element twice, none that its sender was told had not been sent;
//   - a receiver gets the elements of one sender in the order they were sent;
//   - of several closers one succeeds, and nobody sees the close before it;
//   - a TrySend that does not send leaves its value where it is;
//   - no element is leaked, nobody is left in a queue of the channel.

#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "gorge/chan/chan.h"
#include "gorge/core/go.h"
#include "gorge/core/panic.h"
#include "gorge/core/runtime.h"
#include "gorge/tests/support/counted.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/stress.h"

namespace gorge::testing {
namespace {

constexpr int kStopToken = -2;  // An element that tells one receiver to end.

enum class Ending {
  kCloseEarly,  // Closers close while the senders send.
  kCloseLate,   // Closed once the senders have ended.
  kStop,        // Each receiver is sent a kStopToken.
  kLeave,       // Nobody blocks; what is buffered is dropped with the channel.
};

// A receiver's notes: the last element it has had from each sender.
using LastSeen = std::vector<int>;

class Scene {
 public:
  explicit Scene(StressRound& round)
      : round_(round), random_(round.NewRandom()) {
    static constexpr int kCapacities[] = {0, 1, 2, 64};
    static constexpr Ending kEndings[] = {
        Ending::kCloseEarly, Ending::kCloseLate, Ending::kStop, Ending::kLeave};
    ending_ = OneOf(kEndings, random_);
    senders_ = 1 + Below(4);
    receivers_ = 1 + Below(4);
    each_ = 1 + Below(OneIn(4, random_) ? 1000 : 100);
    sent_ = std::vector<std::atomic<int>>(total());
    received_ = std::vector<std::atomic<int>>(total());
    channel_ = MakeChan<Counted>(OneOf(kCapacities, random_));
  }

  void Play() {
    Crowd senders;
    Crowd receivers;
    Crowd closers;
    for (int i = 0; i < senders_; ++i) {
      senders.Start(OneIn(4, random_), [this, i, mine = channel_]() mutable {
        Send(i, std::move(mine));
      });
    }
    for (int i = 0; i < receivers_; ++i) {
      receivers.Start(OneIn(4, random_), [this, mine = channel_]() mutable {
        Receive(std::move(mine));
      });
    }
    if (ending_ == Ending::kCloseEarly) {
      for (int i = 1 + Below(3); i > 0; --i) {
        closers.Start(OneIn(4, random_),
                      [this, mine = channel_] { CloseSoon(mine); });
      }
    }
    senders.Join();
    if (ending_ == Ending::kCloseLate) CloseSoon(channel_);
    if (ending_ == Ending::kStop) {
      for (int i = 0; i < receivers_; ++i) channel_.Send(Counted(kStopToken));
    }
    closers.Join();
    receivers.Join();
    CheckEnd();
  }

 private:
  int Below(int n) {
    return static_cast<int>(random_.Below(static_cast<std::uint32_t>(n)));
  }
  std::size_t total() const {
    return static_cast<std::size_t>(senders_ * each_);
  }

  void Send(int sender, Chan<Counted> channel) {
    Random random = round_.NewRandom();
    for (int i = 0; i < each_; ++i) {
      const int id = sender * each_ + i;
      if (OneIn(8, random)) channel = Chan<Counted>(channel);
      if (OneIn(16, random)) Gosched();
      try {
        if (SendOne(SendChan<Counted>(channel), id, random)) {
          sent_[static_cast<std::size_t>(id)] = 1;
        }
      } catch (const Panic& panic) {
        if (std::strcmp(panic.what(), "send on closed channel") != 0 ||
            !closing_) {
          Fail("a send on a channel that is open: %s", panic.what());
        }
        if (OneIn(2, random)) return;
      }
    }
  }

  // True if the element was sent.
  bool SendOne(const SendChan<Counted>& channel, int id, Random& random) {
    if (ending_ != Ending::kLeave && OneIn(2, random)) {
      channel.Send(Counted(id));
      return true;
    }
    Counted element(id);
    for (std::uint32_t tries = 1 + random.Below(4); tries > 0; --tries) {
      try {
        if (channel.TrySend(std::move(element))) return true;
      } catch (const Panic&) {
        CheckUnmoved(element, id);
        throw;
      }
      CheckUnmoved(element, id);
      Gosched();
    }
    if (ending_ == Ending::kLeave || OneIn(2, random)) return false;
    channel.Send(std::move(element));
    return true;
  }

  static void CheckUnmoved(const Counted& element, int id) {
    if (element.value() != id) {
      Fail("a TrySend that failed has moved from its value");
    }
  }

  void Receive(Chan<Counted> channel) {
    Random random = round_.NewRandom();
    LastSeen last(static_cast<std::size_t>(senders_), -1);
    const RecvChan<Counted> view = channel;
    for (int i = 0;; ++i) {
      if (OneIn(8, random)) channel = Chan<Counted>(channel);
      if (OneIn(16, random)) Gosched();
      if (ending_ == Ending::kLeave) {
        if (i > each_) return;
        if (auto [ready, value] = view.TryRecv(); value) Note(*value, last);
      } else if (!ReceiveSome(view, last, random)) {
        return;
      }
    }
  }

  // False once the receiver is to end.
  bool ReceiveSome(const RecvChan<Counted>& channel, LastSeen& last,
                   Random& random) {
    switch (random.Below(4)) {
      case 0: {
        auto [ready, value] = channel.TryRecv();
        if (!ready) return true;
        return NoteOrEnd(value, last);
      }
      case 1: {
        std::uint32_t left = 1 + random.Below(10);
        for (Counted& value : channel) {
          if (!Note(value, last)) return false;
          if (--left == 0) return true;
        }
        return NoteOrEnd(std::nullopt, last);
      }
      default:
        return NoteOrEnd(channel.Recv(), last);
    }
  }

  bool NoteOrEnd(const std::optional<Counted>& value, LastSeen& last) {
    if (value.has_value()) return Note(*value, last);
    if (!closing_) Fail("a receive found an open channel closed");
    return false;
  }

  // False for kStopToken.
  bool Note(const Counted& value, LastSeen& last) {
    const int id = value.value();
    if (id == kStopToken) return false;
    if (id < 0 || static_cast<std::size_t>(id) >= total()) {
      Fail("received %d, which nobody sent", id);
    }
    if (received_[static_cast<std::size_t>(id)].exchange(1) != 0) {
      Fail("received element %d twice", id);
    }
    int& previous = last[static_cast<std::size_t>(id / each_)];
    if (id <= previous) Fail("received %d after %d", id, previous);
    previous = id;
    if (id % 64 == 0) Progress();
    return true;
  }

  void CloseSoon(const Chan<Counted>& channel) {
    Random random = round_.NewRandom();
    for (std::uint32_t n = random.Below(50); n > 0; --n) Gosched();
    closing_ = true;
    try {
      channel.Close();
      ++closed_;
    } catch (const Panic& panic) {
      if (std::strcmp(panic.what(), "close of closed channel") != 0) {
        Fail("a close failed: %s", panic.what());
      }
    }
  }

  void CheckEnd() {
    const bool closes =
        ending_ == Ending::kCloseEarly || ending_ == Ending::kCloseLate;
    if (closed_ != (closes ? 1 : 0)) Fail("%d closes succeeded", +closed_);
    const int waiting = internal::ChanAccess::Ref(channel_).get()->Waiting();
    if (waiting != 0) Fail("%d are left in the queues", waiting);
    std::size_t left = channel_.Len();
    if (closes) {
      LastSeen last(static_cast<std::size_t>(senders_), -1);
      while (std::optional<Counted> value = channel_.Recv()) Note(*value, last);
      left = 0;
    }
    for (std::size_t id = 0; id < total(); ++id) {
      if (received_[id] != 0 && sent_[id] == 0) {
        Fail("element %zu was received, but its sender was told otherwise", id);
      }
      left -= static_cast<std::size_t>(sent_[id] - received_[id]);
    }
    if (left != 0) Fail("%zd elements are lost", -static_cast<ssize_t>(left));
  }

  StressRound& round_;
  Random random_;
  Ending ending_;
  int senders_;
  int receivers_;
  int each_;  // Elements of a sender; it numbers them through.
  std::vector<std::atomic<int>> sent_;
  std::vector<std::atomic<int>> received_;
  std::atomic<bool> closing_{false};
  std::atomic<int> closed_{0};
  Chan<Counted> channel_;
};

void PlayRound(StressRound& round) {
  Random random = round.NewRandom();
  Crowd directors;
  for (std::uint32_t i = 1 + random.Below(4); i > 0; --i) {
    directors.Start(OneIn(3, random), [&round] {
      for (int n = Scaled(30); n > 0 && !round.TimeIsUp(); --n) {
        Scene(round).Play();
        Progress();
      }
    });
  }
  directors.Join();
  Await([] { return NumGoroutine() == 0; });
  if (Counted::live != 0) Fail("%d elements are left", +Counted::live);
}

}  // namespace
}  // namespace gorge::testing

int main(int argc, char** argv) {
  return gorge::testing::RunStress(argc, argv, &gorge::testing::PlayRound);
}
