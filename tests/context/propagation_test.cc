#include "gorge/context/propagation.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gorge/context/context.h"
#include "gorge/core/panic.h"
#include "gtest/gtest.h"

namespace gorge {
namespace {

// What a header says, read at `now`; nothing may be later than this.
absl::Duration Left(const Context& ctx) {
  return *ctx.Deadline() - absl::Now();
}

Cancelable Read(const Context& parent, const std::string& header) {
  absl::StatusOr<Cancelable> read = WithTimeoutHeader(parent, header);
  EXPECT_TRUE(read.ok()) << header << ": " << read.status();
  return *std::move(read);
}

std::string HeaderOf(absl::Duration left) {
  const auto [ctx, cancel] = WithTimeout(Background(), left);
  return TimeoutHeader(ctx);
}

TEST(PropagationTest, NoDeadlineIsAnEmptyHeader) {
  EXPECT_EQ(TimeoutHeader(Background()), "");
  const auto [ctx, cancel] = WithCancel(Background());
  EXPECT_EQ(TimeoutHeader(ctx), "");
  EXPECT_EQ(HeaderOf(absl::InfiniteDuration()), "");
}

TEST(PropagationTest, AnEmptyHeaderIsNoDeadline) {
  const auto [ctx, cancel] = Read(Background(), "");
  EXPECT_FALSE(ctx.Deadline().has_value());
  EXPECT_TRUE(ctx.Err().ok());
  cancel();
  EXPECT_FALSE(ctx.Err().ok());
}

TEST(PropagationTest, APastDeadlineIsZeroAndEndsAtOnce) {
  EXPECT_EQ(HeaderOf(-absl::Seconds(1)), "0n");
  const auto [ctx, cancel] = Read(Background(), "0n");
  EXPECT_TRUE(absl::IsDeadlineExceeded(ctx.Err()));
}

TEST(PropagationTest, TheUnitIsTheFinestThatHasRoom) {
  const auto unit = [](absl::Duration left) { return HeaderOf(left).back(); };
  EXPECT_EQ(unit(absl::Milliseconds(99)), 'n');
  EXPECT_EQ(unit(absl::Seconds(90)), 'u');
  EXPECT_EQ(unit(absl::Hours(27)), 'm');
  EXPECT_EQ(unit(absl::Hours(24 * 365)), 'S');
  EXPECT_EQ(unit(absl::Hours(24 * 365 * 50)), 'M');
  EXPECT_EQ(unit(absl::Hours(24 * 365 * 1'000)), 'H');
  EXPECT_EQ(HeaderOf(absl::Hours(1'000'000'000)), "99999999H");
}

TEST(PropagationTest, WhatIsReadIsNeverLaterThanWhatWasWritten) {
  for (const absl::Duration left :
       {absl::Milliseconds(50), absl::Seconds(1), absl::Minutes(5),
        absl::Hours(30), absl::Hours(100'000)}) {
    const auto [ctx, cancel] = WithTimeout(Background(), left);
    const absl::Time before = absl::Now();
    const std::string header = TimeoutHeader(ctx);
    EXPECT_LE(header.size(), 9u);
    const auto [read, cancel_read] = Read(Background(), header);
    const absl::Duration passed = absl::Now() - before;
    EXPECT_LE(*read.Deadline() - *ctx.Deadline(), passed) << header;
    // A unit has at least five digits in use, but for the shortest times.
    EXPECT_GE(*read.Deadline() - *ctx.Deadline(), -left / 90'000) << header;
  }
}

TEST(PropagationTest, EveryUnitIsRead) {
  const std::pair<const char*, absl::Duration> all[] = {
      {"1H", absl::Hours(1)},
      {"99999999H", absl::Hours(99'999'999)},
      {"2M", absl::Minutes(2)},
      {"00000003S", absl::Seconds(3)},
      {"40000000m", absl::Milliseconds(40'000'000)},
      {"50000000u", absl::Microseconds(50'000'000)},
      {"99999999n", absl::Nanoseconds(99'999'999)},
  };
  for (const auto& [header, length] : all) {
    const absl::Time before = absl::Now();
    const auto [ctx, cancel] = Read(Background(), header);
    EXPECT_GE(*ctx.Deadline(), before + length) << header;
    EXPECT_LE(Left(ctx), length) << header;
  }
}

TEST(PropagationTest, TheParentsDeadlineComesFirst) {
  const auto [parent, cancel_parent] =
      WithTimeout(Background(), absl::Minutes(1));
  const auto [ctx, cancel] = Read(parent, "1H");
  EXPECT_EQ(ctx.Deadline(), parent.Deadline());
  cancel_parent();
  EXPECT_TRUE(absl::IsCancelled(ctx.Err()));
}

TEST(PropagationTest, GarbageIsAnInvalidArgument) {
  for (const char* header :
       {"n", "1", "12345", "123456789S", "1 S", " 1S", "1S ", "-1S", "+1S",
        "1.5S", "1s", "1h", "0x1S", "1SS", "S1", "1e3m",
        "\xff"
        "1S",
        "99999999999999999999999999H"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(
        WithTimeoutHeader(Background(), header).status()))
        << header;
  }
  EXPECT_TRUE(absl::IsInvalidArgument(
      WithTimeoutHeader(Background(), std::string_view("1\0S", 3)).status()));
}

TEST(PropagationTest, OfANilContextIsAPanic) {
  EXPECT_THROW(static_cast<void>(TimeoutHeader(Context())), Panic);
  EXPECT_THROW(static_cast<void>(WithTimeoutHeader(Context(), "1S")), Panic);
  EXPECT_THROW(static_cast<void>(WithTimeoutHeader(Context(), "")), Panic);
}

}  // namespace
}  // namespace gorge
