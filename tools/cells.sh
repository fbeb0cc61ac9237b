# tools/cells.sh -- the cells of continuous integration, for ./dev ci CELL.
#
# Each is a function cell_NAME and ends with the line "N passed, M failed".
# shellcheck shell=bash disable=SC2154

# Runs a command as one check.
check() {
  "$@" || failed || return
  echo "1 passed, 0 failed"
}

# build_and_test CELL [OPTION...]
build_and_test() {
  { configure "$@" && build "$1"; } || failed || return
  run_tests "$1"
}

# Warnings are errors; bench and examples are built too.
cell_gcc() {
  set_up || failed || return
  build_and_test gcc -DCMAKE_CXX_COMPILER=g++ -DGORGE_WERROR=ON
}

# The same with clang, whose -Wthread-safety reads the lock annotations.
cell_clang() {
  set_up clang || failed || return
  build_and_test clang -DCMAKE_CXX_COMPILER=clang++ -DGORGE_WERROR=ON
}

# AddressSanitizer, LeakSanitizer and UndefinedBehaviorSanitizer.
cell_asan() {
  set_up clang libclang-rt-14-dev llvm || failed || return
  build_and_test asan "${sanitizer_options[@]}" -DGORGE_SANITIZE=address
}

# ThreadSanitizer. Clang's: g++'s ends at 8,128 live goroutines.
cell_tsan() {
  set_up clang libclang-rt-14-dev llvm || failed || return
  build_and_test tsan "${sanitizer_options[@]}" -DGORGE_SANITIZE=thread
}

sanitizer_options=(-DCMAKE_CXX_COMPILER=clang++ -DGORGE_BENCH=OFF
  -DCMAKE_CXX_FLAGS_RELEASE="-O1 -g1")

# The checked build: invariants at length, goroutines forced to migrate.
cell_checked() {
  set_up || failed || return
  build_and_test checked -DCMAKE_CXX_COMPILER=g++ -DGORGE_CHECKED=ON \
    -DGORGE_WERROR=ON -DGORGE_BENCH=OFF
}

# The other build system.
cell_bazel() {
  set_up bazel-bootstrap || failed || return
  step "build bazel" bazel build --config=werror //... || failed || return
  step "test bazel" bazel test --config=werror //...
  bazel shutdown
  python3 tools/count_tests.py bazel "$logs/test-bazel.log" \
    build/bazel-testlogs
}

# The library installed, and used from outside the tree in three ways.
cell_install() {
  set_up || failed || return
  { configure_release && build release gorge; } || failed || return
  step "install and use" tests/install/run.sh "$root" build/release
  grep ' passed, ' "$logs/install-and-use.log" || failed
}

# Formatted, and nothing above has changed a file of the repository.
cell_format() {
  check format_check
}
format_check() {
  format --check && { [[ -z ${CI-} ]] || step "unchanged" git diff --exit-code; }
}

cell_tidy() {
  set_up clang clang-tidy || failed || return
  configure clang -DCMAKE_CXX_COMPILER=clang++ -DGORGE_WERROR=ON || failed ||
    return
  check step "clang-tidy" xargs -a <(library_files) -r -n 1 -P "$(nproc)" \
    clang-tidy -p build/clang --quiet
}
library_files() {
  git ls-files -co --exclude-standard "core/*.cc" "chan/*.cc" "sync/*.cc" \
    "select/*.cc" "context/*.cc"
}

cell_layers() {
  check step "layers" sh -c 'tools/layers.py && tools/layers_test.py'
}

cell_demo() {
  check demo
}

run_cell() {
  if ! declare -F "cell_${1-}" >/dev/null; then
    echo "cells: $(declare -F | sed -n 's/.* cell_//p' | xargs)"
    return 2
  fi
  "cell_$1"
}
