// core/internal/random.h -- a few nanoseconds of randomness, for fairness only.

#ifndef GORGE_CORE_INTERNAL_RANDOM_H_
#define GORGE_CORE_INTERNAL_RANDOM_H_

#include <cstdint>

namespace gorge::internal {

// Wang Yi's wyrand: passes BigCrush, two multiplications a number. Not locked:
// each goroutine, thread and machine has its own.
class Random {
 public:
  constexpr Random() = default;
  constexpr explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint32_t Next() {
    state_ += 0xa0761d6478bd642fu;
    const Wide product =
        static_cast<Wide>(state_) * (state_ ^ 0xe7037ed1a0b428dbu);
    return static_cast<std::uint32_t>(
        static_cast<std::uint64_t>(product >> 64) ^
        static_cast<std::uint64_t>(product));
  }

  // Uniform in [0, n), n > 0, but for a bias below n / 2^32.
  std::uint32_t Below(std::uint32_t n) {
    return static_cast<std::uint32_t>(
        (static_cast<std::uint64_t>(Next()) * n) >> 32);
  }

 private:
  __extension__ typedef unsigned __int128 Wide;

  std::uint64_t state_ = 0;
};

}  // namespace gorge::internal

#endif  // GORGE_CORE_INTERNAL_RANDOM_H_
