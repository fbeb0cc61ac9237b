#!/bin/sh
# Runs a program and compares what it prints with a file.
#
# Usage: check_output.sh PROGRAM EXPECTED
#
# If the file opens with "$ name arguments...", as a terminal would show it, the
# program is given these arguments. It runs where the script was started.
set -eu
program=$1
expected=$2
actual=$(mktemp)
wanted=$(mktemp)
trap 'rm -f "$actual" "$wanted"' EXIT

arguments=
if head -n 1 "$expected" | grep -q '^\$ '; then
  arguments=$(head -n 1 "$expected" | sed 's/^\$ *[^ ]* *//')
  tail -n +2 "$expected" >"$wanted"
else
  cat "$expected" >"$wanted"
fi

# Unquoted: the arguments are words.
# shellcheck disable=SC2086
"$program" $arguments >"$actual" || {
  echo "$program: exit status $?"
  cat "$actual"
  exit 1
}
diff -u "$wanted" "$actual"
