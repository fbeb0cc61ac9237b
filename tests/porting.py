#!/usr/bin/env python3
"""Compiles each row of docs/porting.md.

Usage: porting.py COMPILER INCLUDE_DIR

The last column of a row is the body of a function that has the variables below.
"""

import pathlib
import re
import subprocess
import sys

DOCUMENT = pathlib.Path(__file__).resolve().parent.parent / "docs/porting.md"

PRELUDE = """\
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <variant>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gorge/gorge.h"

using namespace gorge;

void f(int, int);
void work();
void use(int);
void show(absl::Time);
void log(const std::string&);
inline constexpr Key<std::string> kUser("user");

struct Variables {
  int x, y, v;
  bool ready;
  Chan<int> c, d;
  Chan<std::monostate> done;
  Context ctx;
  absl::Status status;
  absl::Time start;
  Mutex mu;
  RWMutex rw;
  WaitGroup wg;
  Once once;
  Cond cond;
  Map<std::string, int> m;
};
"""


def rows():
    """Yields (line number, code) of each row."""
    for number, line in enumerate(DOCUMENT.read_text().splitlines(), 1):
        row = re.match(r"\| .* \| `([^`]*)` \|$", line)
        if row:
            yield number, row[1]
        elif line.startswith("| ") and not line.startswith("| Go |"):
            sys.exit(f"{DOCUMENT}:{number}: no code in the last column")


def program():
    text = [PRELUDE]
    for number, code in rows():
        text.append(f"struct Row{number} : Variables {{ void Body() {{")
        text.append(f'#line {number} "{DOCUMENT}"')
        text.append(f"{code}")
        text.append("} };")
    return "\n".join(text) + "\n"


def main():
    compiler, include = sys.argv[1:]
    text = program()
    done = subprocess.run(
        [compiler, "-std=c++20", "-fsyntax-only", f"-I{include}", "-x", "c++", "-"],
        input=text,
        text=True,
    )
    count = text.count("struct Row")
    print(f"{count} rows")
    if done.returncode != 0 or count < 50:
        sys.exit(1)


main()
