#!/usr/bin/env python3
"""Adds up test cases and prints "N passed, M failed".

Usage: count_tests.py ctest JUNIT_XML REPORTS   after ctest --output-junit
       count_tests.py bazel LOG TESTLOGS        after bazel test

A GoogleTest program counts as many as it has cases, any other test as one. A
program that fails without reporting a failed case (it crashed, or ran out of
time) counts as one more failure.
"""

import pathlib
import re
import sys
import xml.etree.ElementTree as xml


def cases(report):
    """The (passed, failed) of a report, skipped cases left out."""
    passed = failed = 0
    try:
        suites = xml.parse(report).iter("testcase")
    except (OSError, xml.ParseError):
        return 0, 0
    for case in suites:
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.get("status") != "notrun" and case.get("result") not in (
            "skipped",
            "suppressed",
        ):
            passed += 1
    return passed, failed


def add_up(tests):
    """Adds up (whether it passed, its report), test by test."""
    total_passed = total_failed = 0
    for ok, report in tests:
        passed, failed = cases(report)
        if ok and passed + failed == 0:
            passed = 1  # A script, or a program without GoogleTest.
        if not ok and failed == 0:
            failed = 1
        total_passed += passed
        total_failed += failed
    return total_passed, total_failed


def ctest_results(junit, reports):
    for test in xml.parse(junit).iter("testcase"):
        name = test.get("name")
        yield test.get("status") == "run", reports / (name + ".xml")


def bazel_results(log, testlogs):
    line = re.compile(
        r"^//(\S*):(\S+) +(?:\(cached\) )?"
        r"(PASSED|FLAKY|FAILED|TIMEOUT|INCOMPLETE|REMOTE FAILURE|NO STATUS)",
        re.MULTILINE,
    )
    for package, name, status in line.findall(log.read_text()):
        report = testlogs / package / name / "test.xml"
        yield status in ("PASSED", "FLAKY"), report


def main(argv):
    kind, paths = argv[1], [pathlib.Path(path) for path in argv[2:]]
    results = {"ctest": ctest_results, "bazel": bazel_results}[kind]
    passed, failed = add_up(results(*paths))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
