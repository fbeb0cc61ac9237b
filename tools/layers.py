#!/usr/bin/env python3
"""Checks the tree against the table of layers: every #include "gorge/...", and
what the build files of a library folder say it may use.

Usage: layers.py [ROOT]. Prints one line per violation; the exit status is 1 if
there is one. Changing the table is a design decision, never a way to make a
build pass.
"""

import pathlib
import re
import sys

MAX_LINES = 400

# folder: (may include the public headers of, may open internal/ of), lowest
# layer first. Every folder may include its own files.
CORE = {"core"}
GUTS = {"core", "chan"}
BASE = {"core", "chan", "sync", "select", "time"}
MOST = BASE | {"context"}
LIBRARY = {
    "core": (set(), set()),
    "sync": (CORE, CORE),
    "chan": (CORE, CORE),
    "select": (GUTS, GUTS),
    "time": (GUTS, GUTS),
    "context": (BASE, set()),
    "xsync": (MOST, set()),
    "net": (MOST | {"xsync"}, CORE),
    "debug": (MOST | {"xsync"}, CORE),
    "testing": (MOST | {"xsync"}, CORE),
}
ALL = set(LIBRARY)
USERS = {
    "bench": (ALL, set()),
    "examples": (ALL, set()),
    "tests": (ALL, ALL),
}
LAYERS = {**LIBRARY, **USERS}
UMBRELLA = "gorge.h"  # Includes public headers only; users may include it.

INCLUDE = re.compile(r'\s*#\s*include\s*["<]gorge/([^">]+)[">]')


# Where a build file says what a folder may include, and may open.
BUILD_FILES = {
    "BUILD.bazel": (r"folders = \[([^]]*)\]", r"opens = \[([^]]*)\]"),
    "CMakeLists.txt": (r"FOLDERS([a-z\s]*)", r"OPENS([a-z\s]*)"),
}


def is_internal(path):
    return len(path.parts) > 1 and path.parts[1] == "internal"


def complaint(source, target):
    """Says what is wrong with `source` including `target`; None if nothing is.

    Both are paths from the top level, such as chan/internal/hchan.h.
    """
    source_folder, target_folder = source.parts[0], target.parts[0]
    if str(target) == UMBRELLA:
        return None if source_folder in USERS else "only users include it"
    if target_folder not in LAYERS:
        return "no such folder"
    if str(source) == UMBRELLA:
        if target_folder in LIBRARY and not is_internal(target):
            return None
        return f"{UMBRELLA} includes public headers only"
    if source_folder == target_folder:
        if (
            source_folder in LIBRARY
            and is_internal(source)
            and not is_internal(target)
        ):
            return "internal/ never includes the public headers of its folder"
        return None
    may_include, may_open = LAYERS[source_folder]
    if is_internal(target) and target_folder not in may_open:
        return f"{source_folder} may not open internal/ of {target_folder}"
    if not is_internal(target) and target_folder not in may_include:
        return f"{source_folder} may not include {target_folder}"
    return None


def sources(root):
    """All C++ files that the table speaks of, as paths from `root`."""
    if (root / UMBRELLA).exists():
        yield pathlib.PurePath(UMBRELLA)
    for folder in LAYERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".h", ".cc"):
                yield path.relative_to(root)


def check_build_files(root):
    """The complaints about build files that allow what the table does not."""
    for folder, table in LIBRARY.items():
        for name, patterns in BUILD_FILES.items():
            path = root / folder / name
            if not path.exists():
                continue
            text = path.read_text(encoding="utf-8")
            for pattern, allowed in zip(patterns, table):
                match = re.search(pattern, text)
                said = set(re.findall(r"[a-z]+", match[1] if match else ""))
                for extra in sorted(said - allowed):
                    yield f"{folder}/{name}: {folder} may not use {extra} so"


def check(root):
    """Returns the violations in the tree at `root`, one string each."""
    found = list(check_build_files(root))
    for source in sources(root):
        lines = (root / source).read_text(encoding="utf-8").splitlines()
        if source.parts[0] in LIBRARY and len(lines) > MAX_LINES:
            found.append(
                f"{source}: {len(lines)} lines; {MAX_LINES} is the end"
            )
        for number, line in enumerate(lines, 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            why = complaint(source, pathlib.PurePath(match.group(1)))
            if why:
                found.append(
                    f"{source}:{number}: gorge/{match.group(1)}: {why}"
                )
    return found


def main(argv):
    here = pathlib.Path(__file__).absolute().parent.parent
    root = pathlib.Path(argv[1]) if len(argv) > 1 else here
    found = check(root)
    for violation in found:
        print(violation)
    print(f"layers: {len(list(sources(root)))} files, {len(found)} violations")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
