"""gorge_library() and gorge_test() for Bazel; cc.cmake is the twin for CMake.

Both find a folder's files by pattern, so a new file needs no line in any build
file.
"""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_library", "cc_test")

WARNINGS = [
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wshadow",
    "-Wcast-qual",
    "-Wnon-virtual-dtor",
    "-Woverloaded-virtual",
    "-Wextra-semi",
    "-Wvla",
]

def gorge_library(name, folders = [], opens = [], deps = []):
    """The two targets of a folder of the library: `internal`, and its public one.

    Args:
      name: the folder.
      folders: folders whose public headers it may include.
      opens: folders whose internal/ it may open.
      deps: libraries of others.
    """
    lower = ["//" + folder for folder in folders]
    lower += ["//" + folder + ":internal" for folder in opens]
    cc_library(
        name = "internal",
        srcs = native.glob(["internal/*.cc"], allow_empty = True),
        hdrs = native.glob(["internal/*.h"], allow_empty = True),
        copts = WARNINGS,
        include_prefix = "gorge/" + native.package_name(),
        linkopts = ["-pthread"],
        visibility = ["//:__subpackages__"],
        deps = lower + deps,
    )
    cc_library(
        name = name,
        srcs = native.glob(["*.cc"], allow_empty = True),
        hdrs = native.glob(["*.h"], allow_empty = True),
        copts = WARNINGS,
        include_prefix = "gorge/" + native.package_name(),
        visibility = ["//visibility:public"],
        deps = [":internal"] + lower + deps,
    )
    gorge_sources(name = "sources")

def gorge_sources(name):
    """Hands the files of this folder to tools/layers.py.

    Args:
      name: "sources".
    """
    native.filegroup(
        name = name,
        srcs = native.glob(["**/*.h", "**/*.cc"], allow_empty = True) +
               native.glob(["BUILD.bazel", "CMakeLists.txt"], allow_empty = True),
        visibility = ["//tools:__pkg__"],
    )

def gorge_program(name, srcs, deps = [], testonly = False):
    """A program.

    Args:
      name: the program.
      srcs: its files.
      deps: what it needs beside the library.
      testonly: whether it may use what only tests may.
    """
    cc_binary(
        name = name,
        testonly = testonly,
        srcs = srcs,
        copts = WARNINGS,
        visibility = ["//:__subpackages__"],
        deps = deps + ["//:gorge"],
    )

def gorge_test(name, srcs, deps = [], args = [], data = [], defines = []):
    """A program that is run as one test.

    Args:
      name: the test.
      srcs: its files.
      deps: what it needs beside the library.
      args: the command line.
      data: files it opens, programs it runs.
      defines: macros.
    """
    cc_test(
        name = name,
        srcs = srcs,
        args = args,
        copts = WARNINGS,
        data = data + ["//tools:tsan.supp"],
        local_defines = defines,
        deps = deps + ["//:gorge"],
    )

def _script_test_impl(ctx):
    words = [ctx.expand_location(word, ctx.attr.data) for word in ctx.attr.command]
    script = ctx.actions.declare_file(ctx.label.name + ".sh")
    ctx.actions.write(
        output = script,
        content = "#!/bin/sh\nexec " + " ".join(words) + "\n",
        is_executable = True,
    )
    return [DefaultInfo(
        executable = script,
        runfiles = ctx.runfiles(files = ctx.files.data),
    )]

# Runs a command at the top level. A rule of our own: sh_test and py_test have
# moved between repositories from one Bazel to the next.
gorge_script_test = rule(
    implementation = _script_test_impl,
    attrs = {
        "command": attr.string_list(mandatory = True),
        "data": attr.label_list(allow_files = True),
    },
    test = True,
)
