// What ends examples/pipeline early, Ctrl-C and --timeout, and what it shows on
// a terminal meanwhile.

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gorge/tests/support/child.h"
#include "gorge/tests/support/json.h"
#include "gorge/tests/support/scale.h"
#include "gorge/tests/support/temp_dir.h"
#include "gtest/gtest.h"

namespace gorge::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr int kFiles = 4000;

// A tree of which nobody comes to the end while a test lasts: its files have
// four gigabytes, all of them the same megabyte. The one that cannot be read
// comes first: once it is named, the counting has begun.
class PipelineInterruptTest : public ::testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite() {
    tree = std::make_unique<TempDir>();
    std::string text;
    while (text.size() < 1'000'000) text += "int foo(double bar, Baz* baz);\n";
    tree->Link("0", "nowhere");
    tree->Write("1000.h", text);
    for (int i = 1; i < kFiles; ++i) {
      std::filesystem::create_hard_link(
          *tree / "1000.h", *tree / (std::to_string(1000 + i) + ".h"));
    }
  }
  static void TearDownTestSuite() { tree.reset(); }

  static std::vector<std::string> Command(
      const std::vector<std::string>& more = {}) {
    std::vector<std::string> command = {PIPELINE, GetParam(), tree->path()};
    command.insert(command.end(), more.begin(), more.end());
    return command;
  }

  static std::unique_ptr<TempDir> tree;
};

std::unique_ptr<TempDir> PipelineInterruptTest::tree;

INSTANTIATE_TEST_SUITE_P(Modes, PipelineInterruptTest,
                         ::testing::Values("--workers=1", "--workers=2",
                                           "--workers=16", "--serial",
                                           "--compare"));

TEST_P(PipelineInterruptTest, ReportsWhatItHadAndExitsWith130) {
  Child child(Command());
  child.AwaitStderr("broken link\n");

  child.Kill(SIGINT);

  const Ended ended = child.Wait();
  EXPECT_EQ(ended.status, 130);
  EXPECT_THAT(ended.out, HasSubstr(", interrupted: a part of the files\n"));
  EXPECT_THAT(ended.out, HasSubstr("\nleft out\n         1 broken link\n"));
}

TEST_P(PipelineInterruptTest, MarksItsJson) {
  Child child(Command({"--json"}));
  child.AwaitStderr("broken link\n");

  child.Kill(SIGINT);

  const std::optional<Json> report = Json::Parse(child.Wait().out);
  ASSERT_TRUE(report.has_value());
  EXPECT_TRUE((*report)["interrupted"].boolean());
  EXPECT_FALSE((*report)["timed_out"].boolean());
  EXPECT_LT((*report)["files"].number(), kFiles);
}

TEST_P(PipelineInterruptTest, StopsWithin100Milliseconds) {
  // The best of a few: other programs may keep the machine busy.
  const absl::Duration limit = absl::Milliseconds(100) * kSlowdown;
  absl::Duration best = absl::InfiniteDuration();
  for (int i = 0; i < 10 && best >= limit; ++i) {
    Child child(Command());
    child.AwaitStderr("broken link\n");
    const absl::Time begin = absl::Now();
    child.Kill(SIGINT);
    child.Wait();
    best = std::min(best, absl::Now() - begin);
  }
  EXPECT_LT(best, limit);
}

TEST_P(PipelineInterruptTest, ExitsWith124WhenTheTimeIsOver) {
  const absl::Time begin = absl::Now();

  const Ended ended = RunChild(Command({"--timeout=50ms"}));

  EXPECT_GE(absl::Now() - begin, absl::Milliseconds(50));
  EXPECT_EQ(ended.status, 124);
  EXPECT_THAT(ended.out,
              HasSubstr(", timed out after 50ms: a part of the files\n"));
}

TEST_P(PipelineInterruptTest, ReportsWhatItHadWhenTheTimeIsOver) {
  // More and more time, until there is something to report.
  double files = 0;
  for (absl::Duration timeout = absl::Milliseconds(100); files == 0;
       timeout *= 2) {
    const Ended ended = RunChild(
        Command({"--json", "--timeout=" + absl::FormatDuration(timeout)}));

    ASSERT_EQ(ended.status, 124);
    const std::optional<Json> report = Json::Parse(ended.out);
    ASSERT_TRUE(report.has_value());
    EXPECT_TRUE((*report)["timed_out"].boolean());
    EXPECT_FALSE((*report)["interrupted"].boolean());
    files = (*report)["files"].number();
  }
  EXPECT_LT(files, kFiles);
}

TEST_P(PipelineInterruptTest, IsInterruptedBeforeTheTimeIsOver) {
  Child child(Command({"--timeout=1h"}));
  child.AwaitStderr("broken link\n");

  child.Kill(SIGINT);

  const Ended ended = child.Wait();
  EXPECT_EQ(ended.status, 130);
  EXPECT_THAT(ended.out, HasSubstr(", interrupted: a part of the files\n"));
}

TEST_P(PipelineInterruptTest, ShowsOnATerminalHowFarItIs) {
  Child child(Command(), Child::Stderr::kTerminal);

  child.AwaitStderr(" goroutines");

  child.Kill(SIGINT);
  const Ended ended = child.Wait();
  EXPECT_THAT(ended.err,
              ContainsRegex("\r(warming up: )?[0-9,]+ files?   [0-9.]+ .?B   "
                            "[0-9.]+ .?B/s   [0-9]+ goroutines"));
  // The line is gone at the end.
  EXPECT_THAT(ended.err, EndsWith("\r\x1b[K"));
}

TEST_P(PipelineInterruptTest, EndsAtOnceAtTheSecondSignal) {
  // A comparison's report is short, and its end may be quicker than a signal.
  if (std::string_view(GetParam()) == "--compare") return;
  // It cannot end by itself: nobody reads its report, which is a long one.
  TempDir broken;
  for (int i = 1000; i < 1300; ++i) broken.Link(std::to_string(i), "nowhere");
  Child child({PIPELINE, GetParam(), "--json", broken.path()});
  child.AwaitStderr("1299: broken link\n");

  // The second may come before it has seen the first: then they are one.
  while (!child.HasEnded()) {
    child.Kill(SIGINT);
    absl::SleepFor(absl::Milliseconds(1));
  }

  EXPECT_EQ(child.Wait().signal, SIGINT);
}

TEST(PipelineStatusTest, ShowsNothingWhereNobodyLooks) {
  TempDir tree;
  tree.Write("a.h", "foo");

  EXPECT_EQ(RunChild({PIPELINE, tree.path()}).err, "");
}

}  // namespace
}  // namespace gorge::testing
