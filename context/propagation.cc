#include "gorge/context/propagation.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gorge/context/cancel.h"
#include "gorge/context/deadline.h"
#include "gorge/context/handle.h"

namespace gorge {
namespace {

struct Unit {
  char name;
  absl::Duration length;
};

constexpr std::size_t kMostDigits = 8;
constexpr std::int64_t kMost = 99'999'999;

constexpr Unit kUnits[] = {
    {'n', absl::Nanoseconds(1)},  {'u', absl::Microseconds(1)},
    {'m', absl::Milliseconds(1)}, {'S', absl::Seconds(1)},
    {'M', absl::Minutes(1)},      {'H', absl::Hours(1)},
};

// None if it is not in the syntax.
std::optional<absl::Duration> Parse(std::string_view header) {
  const std::string_view digits = header.substr(0, header.size() - 1);
  if (digits.empty() || digits.size() > kMostDigits) return std::nullopt;
  std::int64_t count = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9') return std::nullopt;
    count = count * 10 + (digit - '0');
  }
  for (const Unit& unit : kUnits) {
    if (unit.name == header.back()) return count * unit.length;
  }
  return std::nullopt;
}

}  // namespace

std::string TimeoutHeader(const Context& ctx) {
  const std::optional<absl::Time> deadline = ctx.Deadline();
  if (!deadline.has_value()) return "";
  const absl::Duration left =
      std::max(*deadline - absl::Now(), absl::ZeroDuration());
  for (const Unit& unit : kUnits) {
    absl::Duration rest;
    const std::int64_t count = absl::IDivDuration(left, unit.length, &rest);
    if (count <= kMost) return absl::StrCat(count, std::string(1, unit.name));
  }
  return absl::StrCat(kMost, "H");
}

absl::StatusOr<Cancelable> WithTimeoutHeader(const Context& parent,
                                             std::string_view header) {
  if (header.empty()) return WithCancel(parent);
  const std::optional<absl::Duration> timeout = Parse(header);
  if (!timeout.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("not a timeout: ", std::string(header.substr(0, 32))));
  }
  return WithTimeout(parent, *timeout);
}

}  // namespace gorge
