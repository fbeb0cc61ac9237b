// tests/stress/pool_stress.cc -- Pool: items taken, used, given back, kept, and
// aged, by goroutines and by plain threads that come and go. Checked:
//   - an item is held by one at a time, who sees what the last one wrote;
//   - none is destroyed while it is held, or twice;
//   - only ageing destroys what is in the pool, and none is lost.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include "gorge/core/runtime.h"
#include "gorge/sync/pool.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/stress.h"

namespace gorge::testing {
namespace {

struct Item {
  Item() { ++live; }
  Item(const Item&) = delete;
  Item& operator=(const Item&) = delete;
  ~Item() {
    if (held.exchange(true)) Fail("destroyed while it is held, or twice");
    --live;
  }

  std::atomic<bool> held{false};
  int uses = 0;  // Not atomic: handed from holder to holder.
  std::atomic<int> uses_again{0};

  static inline std::atomic<int> live{0};
};

class Using {
 public:
  Using(StressRound& round, bool ages) : round_(round), ages_(ages) {}

  void Play() {
    Random random = round_.NewRandom();
    Crowd crowd;
    for (std::uint32_t i = 2 + random.Below(8); i > 0; --i) {
      crowd.Start(OneIn(3, random), [this] { Use(Scaled(15000) + 10); });
    }
    crowd.Start(false, [this] { ComeAndGo(); });
    crowd.Join();
    // Once in some seconds Put ages the pool by itself.
    const bool aged = ages_ || StressRound::Clock::now() - begin_ > kPeriod;
    if (!aged && destroyed_ != 0) Fail("%d were destroyed", +destroyed_);
  }

 private:
  static constexpr std::chrono::seconds kPeriod{9};

  // An item of this pool, whose end is counted.
  struct Counting : Item {
    explicit Counting(std::atomic<int>& ends) : ended(ends) {}
    ~Counting() { ++ended; }
    std::atomic<int>& ended;
  };

  // Threads that end with items in their places, and give their numbers back.
  void ComeAndGo() {
    for (int i = Scaled(100) + 2; i > 0; --i) {
      Crowd threads;
      for (int k = 0; k < 2; ++k) {
        threads.Start(true, [this] { Use(Scaled(100) + 10); });
      }
      threads.Join();
    }
  }

  void Use(int times) {
    Random random = round_.NewRandom();
    for (; times > 0; --times) {
      Pooled<Counting> item = pool_.Get();
      Hold(*item, random);
      if (OneIn(4, random)) {  // Two at once.
        Pooled<Counting> other = pool_.Get();
        Hold(*other, random);
        Release(*other);
      }
      Release(*item);
      GiveBack(std::move(item), random);
      if (ages_ && OneIn(200, random)) pool_.Age();
    }
    Progress();
  }

  static void Hold(Item& item, Random& random) {
    if (item.held.exchange(true)) Fail("two hold an item");
    if (++item.uses != ++item.uses_again) Fail("a use was not seen");
    if (OneIn(16, random)) Gosched();
  }
  static void Release(Item& item) {
    if (!item.held.exchange(false)) Fail("two held an item");
  }

  void GiveBack(Pooled<Counting> item, Random& random) {
    switch (random.Below(8)) {
      case 0:
        pool_.Put(std::move(item));
        break;
      case 1:
        pool_.Put(item.release());
        break;
      case 2:
        // Not in the pool any more: one end that is no loss.
        item.release().reset();
        --destroyed_;
        break;
      case 3:
        pool_.Put(std::make_unique<Counting>(destroyed_));
        break;
      default:
        break;  // By its destructor.
    }
  }

  StressRound& round_;
  const bool ages_;
  const StressRound::Clock::time_point begin_ = StressRound::Clock::now();
  std::atomic<int> destroyed_{0};  // By the pool.
  Pool<Counting> pool_{
      [this] { return std::make_unique<Counting>(destroyed_); }};
};

void PlayRound(StressRound& round) {
  Crowd crowd;
  for (int i = 0; i < 4; ++i) {
    const bool ages = i % 2 == 0;
    crowd.Start(i == 3, [&round, ages] {
      std::make_unique<Using>(round, ages)->Play();
    });
  }
  crowd.Join();
  if (Item::live != 0) Fail("%d items are lost", +Item::live);
  Await([] { return NumGoroutine() == 0; });
}

}  // namespace
}  // namespace gorge::testing

int main(int argc, char** argv) {
  return gorge::testing::RunStress(argc, argv, gorge::testing::PlayRound);
}
