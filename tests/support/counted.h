// tests/support/counted.h -- an element type whose instances are counted.

#ifndef GORGE_TESTS_SUPPORT_COUNTED_H_
#define GORGE_TESTS_SUPPORT_COUNTED_H_

#include <atomic>
#include <utility>

namespace gorge::testing {

// Move-only. RuntimeTest fails if instances are left at the end of a test.
class Counted {
 public:
  explicit Counted(int value = 0) : value_(value) { ++live; }
  Counted(Counted&& other) noexcept
      : value_(std::exchange(other.value_, kMovedFrom)) {
    ++live;
  }
  Counted& operator=(Counted&& other) noexcept {
    value_ = std::exchange(other.value_, kMovedFrom);
    return *this;
  }
  ~Counted() { --live; }

  int value() const { return value_; }
  bool moved_from() const { return value_ == kMovedFrom; }

  static inline std::atomic<int> live{0};

 private:
  static constexpr int kMovedFrom = -1;
  int value_;
};

}  // namespace gorge::testing

#endif  // GORGE_TESTS_SUPPORT_COUNTED_H_
