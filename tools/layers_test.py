#!/usr/bin/env python3
"""Tests layers.py on small trees that keep the table and that break it."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).absolute().parent))
sys.dont_write_bytecode = True

import layers  # noqa: E402


class LayersTest(unittest.TestCase):
    def check(self, path, *includes, lines=0, text=""):
        """What layers.py says of a tree with this one file in it."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            for name in includes:
                text += f'#include "gorge/{name}"\n'
            file.write_text(text + "\n" * lines)
            return layers.check(pathlib.Path(folder))

    def assert_allowed(self, path, *includes):
        self.assertEqual(self.check(path, *includes), [])

    def assert_refused(self, path, include, why):
        self.assertEqual(
            self.check(path, include), [f"{path}:1: gorge/{include}: {why}"]
        )

    def test_lower_layers_may_be_included(self):
        self.assert_allowed("chan/chan.h", "core/go.h", "core/internal/park.h")
        self.assert_allowed("select/select.h", "chan/internal/hchan.h")
        self.assert_allowed("context/cancel.cc", "sync/mutex.h")
        self.assert_allowed("net/conn.cc", "core/internal/netpoll.h")

    def test_own_internal_may_be_opened(self):
        self.assert_allowed("chan/chan.h", "chan/internal/hchan.h")
        self.assert_allowed("chan/internal/a.cc", "chan/internal/hchan.h")

    def test_higher_layers_may_not_be_included(self):
        self.assert_refused(
            "core/go.cc", "chan/chan.h", "core may not include chan"
        )
        self.assert_refused(
            "chan/chan.h", "sync/mutex.h", "chan may not include sync"
        )

    def test_internal_of_others_may_not_be_opened(self):
        self.assert_refused(
            "context/cancel.cc",
            "core/internal/park.h",
            "context may not open internal/ of core",
        )
        self.assert_refused(
            "net/conn.cc",
            "chan/internal/hchan.h",
            "net may not open internal/ of chan",
        )

    def test_internal_never_includes_its_own_public_headers(self):
        why = "internal/ never includes the public headers of its folder"
        self.assert_refused("chan/internal/hchan.cc", "chan/chan.h", why)

    def test_users_see_what_is_public(self):
        self.assert_allowed("examples/pipeline/main.cc", "gorge.h")
        self.assert_allowed("bench/chan_bench.cc", "chan/chan.h")
        self.assert_refused(
            "bench/chan_bench.cc",
            "chan/internal/hchan.h",
            "bench may not open internal/ of chan",
        )

    def test_tests_see_everything(self):
        self.assert_allowed(
            "tests/chan/hchan_test.cc",
            "chan/internal/hchan.h",
            "tests/support/runtime_test.h",
        )

    def test_the_umbrella_includes_public_headers_only(self):
        self.assert_allowed("gorge.h", "chan/chan.h")
        self.assert_refused(
            "gorge.h",
            "chan/internal/hchan.h",
            "gorge.h includes public headers only",
        )
        self.assert_refused("sync/mutex.h", "gorge.h", "only users include it")

    def test_every_folder_must_be_in_the_table(self):
        self.assert_refused("tests/a_test.cc", "fiber/a.h", "no such folder")

    def test_a_file_has_an_end(self):
        self.assertEqual(self.check("core/go.cc", lines=400), [])
        self.assertEqual(
            self.check("core/go.cc", lines=401),
            ["core/go.cc: 401 lines; 400 is the end"],
        )
        self.assertEqual(self.check("tests/core/go_test.cc", lines=401), [])

    def test_build_files_allow_what_the_table_does(self):
        bazel = 'gorge_library(\n name = "sync",\n folders = ["%s"],\n)\n'
        self.assertEqual(self.check("sync/BUILD.bazel", text=bazel % "core"), [])
        self.assertEqual(
            self.check("sync/BUILD.bazel", text=bazel % "chan"),
            ["sync/BUILD.bazel: sync may not use chan so"],
        )
        cmake = "gorge_library(\n  NAME net\n  FOLDERS core\n  OPENS %s\n)\n"
        self.assertEqual(
            self.check("net/CMakeLists.txt", text=cmake % "core"), []
        )
        self.assertEqual(
            self.check("net/CMakeLists.txt", text=cmake % "core chan"),
            ["net/CMakeLists.txt: net may not use chan so"],
        )

    def test_the_table_has_no_cycle(self):
        for folder, (may_include, may_open) in layers.LIBRARY.items():
            self.assertLessEqual(may_open, may_include, folder)
            for lower in may_include:
                self.assertNotIn(folder, layers.LIBRARY[lower][0])


if __name__ == "__main__":
    unittest.main()
