// tests/stress/select_stress.cc -- selects of every shape over the same 64
// channels, from goroutines and plain threads, while channels are closed and
// replaced.
//
// A scene has actors, each of which performs one select after the other: of 1
// to 64 cases, sends and receives mixed, channels more than once, nil ones,
// with and without default, as Select, SelectInOrder and Selector. Pumpers try
// sends and receives besides, so that the actors never all wait for each other.
// Checked:
//   - one handler is called, for the case whose index is returned;
//   - what was sent is what was received and what is left in the buffers; the
//     values of the cases not chosen stay where they are;
//   - a receiver gets from one channel the elements of one sender in order;
//   - nobody sees a close before it, or is left in a queue of a channel.

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "gorge/chan/chan.h"
#include "gorge/chan/done_chan.h"
#include "gorge/core/go.h"
#include "gorge/core/panic.h"
#include "gorge/core/runtime.h"
#include "gorge/select/select.h"
#include "gorge/select/selector.h"
#include "gorge/tests/support/counted.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/stress.h"

namespace gorge::testing {
namespace {

constexpr int kLines = 64;

// A channel, and what is known of it.
struct Line {
  explicit Line(int line_number, std::ptrdiff_t capacity)
      : number(line_number), channel(MakeChan<Counted>(capacity)) {}

  const int number;
  const Chan<Counted> channel;
  std::atomic<bool> closing{false};
};

// The channels in use, and those that were before.
class Lines {
 public:
  explicit Lines(Random random) : random_(random) {
    for (int i = 0; i < kLines; ++i) Make();
  }

  Line& Pick(Random& random) {
    const std::lock_guard<std::mutex> hold(mutex_);
    return *current_[random.Below(kLines)];
  }

  // Puts a new one in the place of one, which is closed.
  void Replace() {
    Line* old;
    {
      const std::lock_guard<std::mutex> hold(mutex_);
      const std::size_t place = random_.Below(kLines);
      old = current_[place];
      current_[place] = current_.back();
      current_.pop_back();
      Make();
    }
    old->closing = true;
    old->channel.Close();
  }

  // For when all is over.
  const std::vector<std::unique_ptr<Line>>& all() const { return all_; }

 private:
  void Make() {
    static constexpr int kCapacities[] = {0, 0, 1, 2, 64};
    all_.push_back(std::make_unique<Line>(static_cast<int>(all_.size()),
                                          OneOf(kCapacities, random_)));
    current_.push_back(all_.back().get());
  }

  std::mutex mutex_;
  Random random_;
  std::vector<Line*> current_;
  std::vector<std::unique_ptr<Line>> all_;
};

// Which elements were sent and which received. An element's value says who
// makes it, and counts up.
class Ledger {
 public:
  static constexpr int kEach = 1 << 15;  // Elements of one sender.

  explicit Ledger(int senders)
      : sent_(static_cast<std::size_t>(senders * kEach)),
        received_(sent_.size()),
        out_of_order_(sent_.size()) {}

  static int SenderOf(int id) { return id / kEach; }

  void ExceptFromOrder(int id) {
    out_of_order_[static_cast<std::size_t>(id)] = 1;
  }
  bool InOrder(int id) const {
    return out_of_order_[static_cast<std::size_t>(id)] == 0;
  }
  void Send(int id) { sent_[static_cast<std::size_t>(id)] = 1; }
  void Receive(int id) {
    if (id < 0 || static_cast<std::size_t>(id) >= sent_.size()) {
      Fail("received %d, which nobody sent", id);
    }
    if (received_[static_cast<std::size_t>(id)].exchange(1) != 0) {
      Fail("received element %d twice", id);
    }
  }

  void Check() const {
    for (std::size_t id = 0; id < sent_.size(); ++id) {
      if (received_[id] != sent_[id]) {
        Fail("element %zu was %s", id,
             sent_[id] != 0 ? "lost" : "received, but not sent");
      }
    }
  }

 private:
  std::vector<std::atomic<std::uint8_t>> sent_;
  std::vector<std::atomic<std::uint8_t>> received_;
  std::vector<std::atomic<std::uint8_t>> out_of_order_;
};

struct Oops {};  // Thrown by handlers, now and then.

// What the actors of a scene share.
struct Stage {
  Stage(StressRound& r, int senders)
      : round(r), lines(r.NewRandom()), ledger(senders) {}

  void Quit() {
    if (!quitting.exchange(true)) quit.Close();
  }

  StressRound& round;
  Lines lines;
  Ledger ledger;
  const DoneChan quit = MakeDoneChan();  // Closed by Quit.
  std::atomic<bool> quitting{false};
};

class Actor {
 public:
  Actor(Stage& stage, int number)
      : stage_(stage),
        random_(stage.round.NewRandom()),
        next_(number * Ledger::kEach),
        end_(next_ + Ledger::kEach) {}

  void Act(int steps) {
    while (steps-- > 0 && !quit_ && next_ + 1000 < end_) {
      try {
        Step();
      } catch (const Oops&) {
      }
      if (OneIn(30, random_)) stage_.lines.Replace();
      if (OneIn(16, random_)) Gosched();
      Progress();
    }
  }

  // Keeps the others going until `done`.
  void Pump(const std::atomic<bool>& done) {
    while (!done) {
      Line& line = stage_.lines.Pick(random_);
      if (OneIn(2, random_)) {
        const auto [ready, value] = line.channel.TryRecv();
        if (ready) NoteReceived(line, value);
      } else {
        if (next_ == end_) return stage_.Quit();
        Counted element(next_);
        if (TrySend(line, element)) {
          stage_.ledger.Send(next_++);
          // The actors may all wait for the end by now, which comes when we
          // have no element left.
          Progress();
        }
      }
      if (OneIn(4, random_)) Gosched();
    }
  }

 private:
  template <std::size_t N>
  struct Plan {
    std::array<Line*, N> lines;
    std::array<Chan<Counted>, N> channels;
    std::array<Counted, N> elements;
    std::array<int, N> ids;
    std::size_t called = SIZE_MAX;
  };

  // One of many selects whose cases are known when this is compiled, or a
  // Selector.
  void Step() {
    if (OneIn(3, random_)) return RunSelector();
    switch (random_.Below(6)) {
      case 0:
        return StepOf(std::make_index_sequence<1>());
      case 1:
        return StepOf(std::make_index_sequence<2>());
      case 2:
        return StepOf(std::make_index_sequence<3>());
      case 3:
        return StepOf(std::make_index_sequence<8>());
      case 4:
        return StepOf(std::make_index_sequence<21>());
      default:
        return StepOf(std::make_index_sequence<63>());
    }
  }

  template <std::size_t... I>
  void StepOf(std::index_sequence<I...>) {
    Plan<sizeof...(I)> plan;
    for (std::size_t i = 0; i < sizeof...(I); ++i) {
      plan.lines[i] = &stage_.lines.Pick(random_);
      if (!OneIn(4, random_)) plan.channels[i] = plan.lines[i]->channel;
      plan.ids[i] = next_++;
      plan.elements[i] = Counted(plan.ids[i]);
    }
    std::size_t chosen = SIZE_MAX;
    try {
      const auto run = [&](auto&& last) {
        chosen = OneIn(2, random_) ? Select(MakeCase<I>(plan)..., last)
                                   : SelectInOrder(MakeCase<I>(plan)..., last);
      };
      const auto note_last = [&] { plan.called = sizeof...(I); };
      if (OneIn(2, random_)) {
        run(OnDefault(note_last));
      } else {
        run(OnRecv(stage_.quit.View(), [&] {
          quit_ = true;
          note_last();
        }));
      }
      if (chosen != plan.called) {
        Fail("a select returned %zu, and called the handler of %zu", chosen,
             plan.called);
      }
    } catch (const Panic& panic) {
      CheckPanic(panic);
    } catch (const Oops&) {
      chosen = plan.called;
    }
    CheckUnmoved(plan, chosen);
  }

  template <std::size_t I, std::size_t N>
  auto MakeCase(Plan<N>& plan) {
    if constexpr (I % 2 == 0) {
      return OnRecv(plan.channels[I],
                    [this, &plan](std::optional<Counted> value) {
                      Called(plan.called, I);
                      NoteReceived(*plan.lines[I], value);
                      MaybeThrow();
                    });
    } else {
      return OnSend(plan.channels[I], std::move(plan.elements[I]),
                    [this, &plan] {
                      Called(plan.called, I);
                      stage_.ledger.Send(plan.ids[I]);
                      MaybeThrow();
                    });
    }
  }

  template <std::size_t N>
  static void CheckUnmoved(const Plan<N>& plan, std::size_t chosen) {
    for (std::size_t i = 0; i < N; ++i) {
      const bool sent = i == chosen && i % 2 == 1;
      if (sent != plan.elements[i].moved_from()) {
        Fail("the value of case %zu of %zu is %s", i, N,
             sent ? "still there" : "gone");
      }
    }
  }

  static void Called(std::size_t& called, std::size_t index) {
    if (called != SIZE_MAX) Fail("a select called two handlers");
    called = index;
  }

  void MaybeThrow() {
    if (OneIn(20, random_)) throw Oops();
  }

  static void CheckPanic(const Panic& panic) {
    if (std::strcmp(panic.what(), "send on closed channel") != 0) {
      Fail("a select panicked: %s", panic.what());
    }
  }

  // A Selector with some cases, run some times.
  void RunSelector() {
    Selector selector;
    std::size_t called = SIZE_MAX;
    const std::size_t count = 1 + random_.Below(64);
    std::vector<int> ids(count);
    std::vector<Line*> lines(count);
    const bool has_default = OneIn(2, random_);
    const std::size_t last = random_.Below(static_cast<std::uint32_t>(count));
    for (std::size_t i = 0; i < count; ++i) {
      if (i == last && has_default) {
        selector.AddDefault([&called, i] { Called(called, i); });
      } else if (i == last) {
        selector.AddRecv(stage_.quit.View(), [this, &called, i] {
          quit_ = true;
          Called(called, i);
        });
      } else {
        AddCase(selector, i, lines[i], ids[i], called);
      }
    }
    for (std::uint32_t runs = 1 + random_.Below(8); runs > 0 && !quit_;
         --runs) {
      called = SIZE_MAX;
      try {
        const std::size_t chosen = selector.Run();
        if (chosen != called) {
          Fail("a Selector returned %zu, and called the handler of %zu", chosen,
               called);
        }
      } catch (const Panic& panic) {
        CheckPanic(panic);
        for (std::size_t i = 0; i < count; ++i) {
          if (i != last && lines[i]->closing) selector.Disable(i);
        }
      } catch (const Oops&) {
      }
    }
  }

  void AddCase(Selector& selector, std::size_t i, Line*& line, int& id,
               std::size_t& called) {
    line = &stage_.lines.Pick(random_);
    const Chan<Counted> channel =
        OneIn(4, random_) ? Chan<Counted>() : line->channel;
    if (OneIn(2, random_)) {
      selector.AddRecv(channel,
                       [this, i, &line, &called](std::optional<Counted> value) {
                         Called(called, i);
                         NoteReceived(*line, value);
                         MaybeThrow();
                       });
      return;
    }
    selector.AddSend(
        channel,
        [this, &id] {
          id = next_++;
          // It may be sent after what this actor makes later.
          stage_.ledger.ExceptFromOrder(id);
          return Counted(id);
        },
        [this, i, &id, &called] {
          Called(called, i);
          stage_.ledger.Send(id);
          MaybeThrow();
        });
  }

  static bool TrySend(const Line& line, Counted& element) {
    const int id = element.value();
    try {
      if (line.channel.TrySend(std::move(element))) return true;
    } catch (const Panic& panic) {
      CheckPanic(panic);
    }
    if (element.value() != id) {
      Fail("a TrySend that failed has moved from its value");
    }
    return false;
  }

  void NoteReceived(const Line& line, const std::optional<Counted>& value) {
    if (!value.has_value()) {
      if (!line.closing) Fail("a receive found an open channel closed");
      return;
    }
    const int id = value->value();
    stage_.ledger.Receive(id);
    if (!stage_.ledger.InOrder(id)) return;
    const auto [last, is_first] =
        last_.try_emplace({line.number, Ledger::SenderOf(id)}, id);
    if (is_first) return;
    if (id < last->second) Fail("received %d after %d", id, last->second);
    last->second = id;
  }

  Stage& stage_;
  Random random_;
  int next_;  // The next element made here.
  const int end_;
  bool quit_ = false;
  // The last element received, by channel and sender.
  std::map<std::pair<int, int>, int> last_;
};

// What is left in the channels, once nobody uses them any more.
void Drain(Stage& stage) {
  for (const auto& line : stage.lines.all()) {
    const int waiting =
        internal::ChanAccess::Ref(line->channel).get()->Waiting();
    if (waiting != 0) Fail("%d are left in the queues", waiting);
    while (true) {
      const auto [ready, value] = line->channel.TryRecv();
      if (ready && !value && !line->closing) {
        Fail("a receive found an open channel closed");
      }
      if (!value) break;
      stage.ledger.Receive(value->value());
    }
  }
}

void PlayScene(StressRound& round) {
  Random random = round.NewRandom();
  const int actors = 2 + static_cast<int>(random.Below(10));
  const int steps = 1 + static_cast<int>(random.Below(200));
  Stage stage(round, actors + 2);
  std::atomic<int> ended{0};
  std::atomic<bool> done{false};
  Crowd crowd;
  Crowd pumpers;
  for (int i = 0; i < 2; ++i) {
    pumpers.Start(OneIn(2, random), [&stage, &done, number = actors + i] {
      Actor(stage, number).Pump(done);
    });
  }
  for (int i = 0; i < actors; ++i) {
    crowd.Start(OneIn(3, random), [&stage, &ended, i, actors, steps] {
      Actor(stage, i).Act(steps);
      if (++ended == (actors + 1) / 2) stage.Quit();
    });
  }
  crowd.Join();
  done = true;
  pumpers.Join();
  Drain(stage);
  stage.ledger.Check();
}

void PlayRound(StressRound& round) {
  Random random = round.NewRandom();
  Crowd directors;
  for (std::uint32_t i = 1 + random.Below(2); i > 0; --i) {
    directors.Start(OneIn(3, random), [&round] {
      for (int n = Scaled(6); n > 0 && !round.TimeIsUp(); --n) {
        PlayScene(round);
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
