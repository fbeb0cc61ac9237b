// Runs examples/pipeline on small trees. PIPELINE is its path.

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gorge/tests/support/child.h"
#include "gorge/tests/support/json.h"
#include "gorge/tests/support/temp_dir.h"
#include "gtest/gtest.h"

namespace gorge::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::vector<std::string> Command(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), PIPELINE);
  return arguments;
}

Ended Pipeline(std::vector<std::string> arguments) {
  return RunChild(Command(std::move(arguments)));
}

// What it reports with --json, if it succeeds; else the empty value.
Json Report(std::vector<std::string> arguments) {
  arguments.push_back("--json");
  const Ended ended = Pipeline(std::move(arguments));
  EXPECT_EQ(ended.status, 0) << ended.err;
  const std::optional<Json> json = Json::Parse(ended.out);
  EXPECT_TRUE(json.has_value()) << ended.out;
  return json.value_or(Json());
}

long LinesIn(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n');
}

// A report without what differs from run to run.
std::string WithoutTimes(const std::string& text) {
  return std::regex_replace(
      text, std::regex(R"( in [0-9.]+ s, [0-9.]+ k?[MG]?B/s)"), " in T");
}

// A tree with a bit of everything that can be read.
void WriteTree(const TempDir& tree) {
  tree.Write("a.h",
             "#include <x.h>\n"
             "int foo(int foo_2);  // int foo in a comment\n");
  tree.Write("sub/b.cc",
             "/* foo **/ const char* bar = \"foo \\\" foo\"; 'foo';\n"
             "auto x = 0xFFF + 1'000 + foo(bar);\n");
  tree.Write("sub/deep/c.py", "# foo\ndef spam(egg): return egg\n");
  tree.Write("sub/README", "foo");
  tree.Write("empty.h", "");
}

TEST(PipelineTest, CountsFilesBytesLinesAndIdentifiersOfEachKind) {
  TempDir tree;
  WriteTree(tree);

  const Json report = Report({tree.path()});

  EXPECT_EQ(report["files"].number(), 5);
  EXPECT_EQ(report["bytes"].number(), 60 + 85 + 32 + 3);
  EXPECT_EQ(report["lines"].number(), 6);
  EXPECT_FALSE(report["interrupted"].boolean());
  EXPECT_FALSE(report["timed_out"].boolean());
  EXPECT_EQ(report["problems"].size(), 0u);
  ASSERT_EQ(report["kinds"].size(), 4u);
  const Json& cpp = report["kinds"][0];
  EXPECT_EQ(cpp["kind"].string(), "C++");
  EXPECT_EQ(cpp["files"].number(), 1);
  EXPECT_EQ(cpp["lines"].number(), 2);
}

TEST(PipelineTest, LeavesOutKeywordsCommentsStringsAndNumbers) {
  TempDir tree;
  WriteTree(tree);

  const Json report = Report({tree.path()});

  const auto words_of = [&](std::size_t kind) {
    std::string names;
    const Json& identifiers = report["kinds"][kind]["identifiers"];
    for (std::size_t i = 0; i < identifiers.size(); ++i) {
      names +=
          identifiers[i]["name"].string() + " " +
          std::to_string(static_cast<int>(identifiers[i]["count"].number())) +
          "; ";
    }
    return names;
  };
  EXPECT_EQ(words_of(0), "bar 2; foo 1; x 1; ");
  EXPECT_EQ(words_of(1), "foo 1; foo_2 1; h 1; x 1; ");
  EXPECT_EQ(words_of(2), "egg 2; spam 1; ");
  EXPECT_EQ(words_of(3), "foo 1; ");
}

TEST(PipelineTest, CountsWordsThatThePiecesOfALargeFileCutInTwo) {
  constexpr int kWords = 100'000;
  TempDir tree;
  std::string text;
  for (int i = 0; i < kWords; ++i) text += "straddle\n";
  tree.Write("large.h", text);

  const Json report = Report({tree.path()});

  const Json& identifiers = report["kinds"][0]["identifiers"];
  ASSERT_EQ(identifiers.size(), 1u);
  EXPECT_EQ(identifiers[0]["count"].number(), kWords);
  EXPECT_EQ(report["lines"].number(), kWords);
}

TEST(PipelineTest, SkipsWordsOfMoreThan256Characters) {
  TempDir tree;
  tree.Write("a.h", std::string(256, 'a') + " " + std::string(257, 'b') + " " +
                        std::string(1'000'000, 'c'));

  const Json report = Report({tree.path()});

  const Json& identifiers = report["kinds"][0]["identifiers"];
  ASSERT_EQ(identifiers.size(), 1u);
  EXPECT_EQ(identifiers[0]["name"].string(), std::string(256, 'a'));
}

TEST(PipelineTest, ListsTheTenLargestFilesLargestFirst) {
  TempDir tree;
  for (int i = 10; i < 25; ++i) {
    tree.Write(std::to_string(i) + ".txt",
               std::string(static_cast<std::size_t>(i), '\n'));
  }

  const Json report = Report({tree.path()});

  ASSERT_EQ(report["largest"].size(), 10u);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(report["largest"][i]["bytes"].number(), 24.0 - double(i));
    EXPECT_EQ(report["largest"][i]["path"].string(),
              tree / (std::to_string(24 - i) + ".txt"));
  }
}

TEST(PipelineTest, ReportsAsText) {
  TempDir tree;
  WriteTree(tree);
  tree.Link("broken", "nowhere");

  const Ended ended = Pipeline({"--top=2", "--workers=3", tree.path()});

  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(WithoutTimes(ended.out), tree.path() + R"(
5 files, 180 B, 6 lines in T, 3 workers

kind                files         size          lines
C++                     1         85 B              2
C                       2         60 B              2
scripts                 1         32 B              2
no extension            1          3 B              0

          C++                       C                         scripts
        2 bar                     1 foo                     2 egg
        1 foo                     1 foo_2                   1 spam

          no extension
        1 foo

largest files
      85 B sub/b.cc
      60 B a.h
      32 B sub/deep/c.py
       3 B sub/README
       0 B empty.h

left out
         1 broken link
)");
  EXPECT_EQ(ended.err, "pipeline: " + (tree / "broken") + ": broken link\n");
}

TEST(PipelineTest, ReportsAnEmptyDirectory) {
  TempDir tree;

  const Ended ended = Pipeline({tree.path()});

  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(WithoutTimes(ended.out),
              StartsWith(tree.path() + "\n0 files, 0 B, 0 lines in T, "));
}

// The same job gives the same result, however many take part.
class WorkersTest : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Workers, WorkersTest,
                         ::testing::Values("1", "2", "16", "300"));

TEST_P(WorkersTest, FindTheSameAsOneLoop) {
  TempDir tree;
  for (int i = 0; i < 200; ++i) {
    tree.Write("d" + std::to_string(i % 7) + "/" + std::to_string(i) + ".h",
               "word_" + std::to_string(i % 13) + " common\n");
  }
  tree.Link("broken", "nowhere");

  const Ended ended = Pipeline(
      {"--compare", "--top=20", "--workers=" + GetParam(), tree.path()});

  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out,
              AllOf(HasSubstr("200 files"), HasSubstr("      200 common"),
                    HasSubstr("\nserial "), HasSubstr("\nconcurrent "),
                    EndsWith(" times as fast, with the same result\n")));
  // Problems are shown once, although it runs several times.
  EXPECT_EQ(LinesIn(ended.err), 1) << ended.err;
}

TEST(PipelineTest, ComparesAsJson) {
  TempDir tree;
  WriteTree(tree);

  const Json report = Report({"--compare", "--workers=3", tree.path()});

  ASSERT_EQ(report["runs"].size(), 2u);
  EXPECT_EQ(report["runs"][0]["mode"].string(), "serial");
  EXPECT_EQ(report["runs"][1]["mode"].string(), "concurrent");
  EXPECT_EQ(report["runs"][1]["workers"].number(), 3);
  EXPECT_GT(report["ratio"].number(), 0);
}

TEST(PipelineTest, DoesNotWaitForATimeoutThatItDoesNotNeed) {
  TempDir tree;
  WriteTree(tree);

  for (const std::string mode : {"--serial", "--workers=2", "--compare"}) {
    for (const std::string timeout : {"1h", "2562047h", "inf"}) {
      const Json report = Report({mode, "--timeout=" + timeout, tree.path()});

      EXPECT_EQ(report["files"].number(), 5);
      EXPECT_FALSE(report["timed_out"].boolean());
    }
  }
}

TEST(PipelineTest, LooksAtTheTimeAlsoWhereThereAreOnlyDirectories) {
  TempDir tree;

  for (const std::string mode : {"--serial", "--workers=2", "--compare"}) {
    const Ended ended = Pipeline({mode, "--timeout=1ns", tree.path()});

    EXPECT_EQ(ended.status, 124);
    EXPECT_THAT(ended.out, HasSubstr("timed out after 1ns: a part of the files"
                                     "\n0 files"));
  }
}

TEST(PipelineTest, NamesEachProblemOnOneLineAndCountsIt) {
  TempDir tree;
  tree.Write("good.h", "good");
  tree.Write("binary.h", std::string("a\0b", 3));
  tree.Link("broken.h", "nowhere");
  tree.Link("loop.h", "loop.h");
  tree.Link("memory.h", "/proc/self/mem");
  mkfifo((tree / "pipe.h").c_str(), 0600);
  // Not read twice, and not for ever.
  tree.Link("up", "..");

  for (const std::string mode : {"--serial", "--workers=2"}) {
    const Ended ended = Pipeline({mode, tree.path()});

    EXPECT_EQ(ended.status, 0);
    EXPECT_THAT(ended.out,
                AllOf(HasSubstr("\n1 file, 4 B"), HasSubstr("1 broken link\n"),
                      HasSubstr("1 binary file\n"),
                      HasSubstr("1 Too many levels of symbolic links\n"),
                      HasSubstr("1 Input/output error\n"),
                      HasSubstr("1 not a regular file\n")));
    for (const std::string line :
         {"binary.h: binary file", "broken.h: broken link",
          "loop.h: Too many levels of symbolic links",
          "memory.h: Input/output error", "pipe.h: not a regular file"}) {
      EXPECT_THAT(ended.err, HasSubstr("pipeline: " + (tree / line) + "\n"));
    }
    EXPECT_EQ(LinesIn(ended.err), 5) << ended.err;
  }
}

TEST(PipelineTest, NoticesWhatHasGoneOrChangedSinceItLooked) {
  for (const std::string mode : {"--serial", "--workers=2"}) {
    // So many problems come first that it waits for us in the middle of them.
    TempDir tree;
    for (int i = 1000; i < 1300; ++i) {
      tree.Write(std::to_string(i), std::string(1, '\0'));
    }
    tree.Write("deleted.h", "foo");
    tree.Write("replaced.h", "foo");
    tree.Write("sub/x.h", "foo");
    tree.Write("z.h", "foo");
    TempDir aside;
    mkfifo((aside / "pipe").c_str(), 0600);
    Child child(Command({mode, tree.path()}));
    child.AwaitStderr();

    std::filesystem::remove(tree / "deleted.h");
    std::filesystem::rename(aside / "pipe", tree / "replaced.h");
    std::filesystem::rename(tree / "sub", aside / "sub");

    const Ended ended = child.Wait();
    EXPECT_EQ(ended.status, 0);
    EXPECT_THAT(
        ended.err,
        AllOf(HasSubstr((tree / "deleted.h") + ": deleted meanwhile\n"),
              HasSubstr((tree / "replaced.h") + ": not a regular file\n"),
              ContainsRegex("/sub(/x.h)?: deleted meanwhile\n")));
    EXPECT_THAT(ended.out, HasSubstr("\n1 file, 3 B"));
  }
}

TEST(PipelineTest, GoesDownToPathsThatAreTooLongForTheSystem) {
  TempDir tree;
  std::filesystem::path down = tree.path();
  const std::string name(100, 'd');
  while (down.native().size() < 3900) down /= name;
  std::filesystem::create_directories(down);
  // Two more levels, by a way around.
  const std::filesystem::path moved = tree / "moved";
  std::filesystem::create_directories(moved / name / name);
  std::filesystem::rename(moved, down / name);

  const Ended ended = Pipeline({tree.path()});

  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.err, EndsWith("d: File name too long\n"));
  EXPECT_EQ(LinesIn(ended.err), 1);
}

TEST(PipelineTest, WritesNamesSoThatTheyUpsetNoTerminalAndNoParser) {
  TempDir tree;
  tree.Write("\x1b[31m\n\"\xff\xc3\xbc", "foo");
  tree.Link("\xc2\x9b\x07", "nowhere");

  const Ended ended = Pipeline({tree.path()});
  const Json report = Report({tree.path()});

  EXPECT_THAT(ended.out, HasSubstr("\\x1b[31m\\n\"\\xff\xc3\xbc\n"));
  EXPECT_THAT(ended.err, EndsWith("/\\xc2\\x9b\\x07: broken link\n"));
  EXPECT_EQ(report["largest"][0]["path"].string(),
            tree / "\x1b[31m\n\"\xef\xbf\xbd\xc3\xbc");
}

TEST(PipelineTest, RefusesABadCommandLineInOneLine) {
  TempDir tree;
  tree.Write("file", "");
  const std::vector<std::vector<std::string>> bad = {
      {"--workers=0"},
      {"--workers=-1"},
      {"--workers=two"},
      {"--workers="},
      {"--workers"},
      {"--workers=99999999999"},
      {"--top=-1"},
      {"--top=1.5"},
      {"--timeout"},
      {"--timeout="},
      {"--timeout=0s"},
      {"--timeout=-1s"},
      {"--timeout=5"},
      {"--timeout=soon"},
      {"--timeouts=1s"},
      {"--no-such-flag"},
      {"-x"},
      {"--serial=1"},
      {"--serial", "--compare"},
      {tree.path(), tree.path()},
      {""},
      {tree / "missing"},
      {tree / "file"},
  };
  for (const std::vector<std::string>& arguments : bad) {
    const Ended ended = Pipeline(arguments);

    EXPECT_EQ(ended.status, 2) << arguments[0];
    EXPECT_EQ(ended.out, "") << arguments[0];
    EXPECT_THAT(ended.err, StartsWith("pipeline: ")) << arguments[0];
    EXPECT_EQ(LinesIn(ended.err), 1) << ended.err;
  }
}

TEST(PipelineTest, SaysThatStdoutCannotTakeTheReport) {
  TempDir tree;

  const Ended ended = RunChild(
      {"sh", "-c", "exec \"$0\" \"$1\" >/dev/full", PIPELINE, tree.path()});

  EXPECT_EQ(ended.status, 1);
  EXPECT_EQ(ended.err, "pipeline: stdout: No space left on device\n");
}

}  // namespace
}  // namespace gorge::testing
