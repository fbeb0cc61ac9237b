#!/usr/bin/env bash
# Installs the library that was built in BUILD, moves the installation, and uses
# it from projects outside the tree: found by CMake, found by pkg-config, and as
# a subdirectory of the project.
#
# Usage: run.sh SOURCE BUILD

set -uo pipefail
source=$(realpath "$1")
build=$(realpath "$2")
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

# try NAME: runs a function in a folder of its own, which holds the program.
try() {
  mkdir "$work/$1" && cp "$here/main.cc" "$work/$1" && cd "$work/$1" || exit
  if "$1"; then
    echo "$1: ok"
    ((passed += 1))
  else
    echo "$1: FAILED"
    ((failed += 1))
  fi
}

cmake_project() {
  cp "$here/$1/CMakeLists.txt" . &&
    cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release "${@:2}" &&
    cmake --build build && build/main
}

find_package() {
  cmake_project find_package -DCMAKE_PREFIX_PATH="$work/prefix"
}

pkg_config() {
  local -x PKG_CONFIG_PATH
  PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name gorge.pc)")
  # Unquoted: the flags are words.
  # shellcheck disable=SC2046
  c++ -std=c++20 main.cc -o main $(pkg-config --cflags --libs gorge) && ./main
}

add_subdirectory() {
  cmake_project add_subdirectory -DGORGE_SOURCE_DIR="$source"
}

cmake --install "$build" --prefix "$work/elsewhere" >/dev/null &&
  mv "$work/elsewhere" "$work/prefix" || exit
try find_package
try pkg_config
try add_subdirectory

echo "$passed passed, $failed failed"
((failed == 0))
