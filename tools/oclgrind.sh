#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# tools/oclgrind.sh [PROGRAM] [GTEST_FILTER]
#
# Runs device tests under Oclgrind, which simulates a device and reports out-of-bounds accesses,
# data races, divergent barriers, uninitialised reads and misused API calls of our kernels.
# Oclgrind's own status is always 0, so a log that is not empty is the failure, and so is a test
# that fails or a filter that matches nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

# The tests with cases small enough for the simulator (one work-group and a remainder).
OCLGRIND_FILTER='*Oclgrind*'

program=${1:-build/tests/device_tests}
filter=${2:-$OCLGRIND_FILTER}
[[ -x $program ]] || {
  echo "oclgrind: no program $program; run ./dev build first" >&2
  exit 1
}
command -v oclgrind >/dev/null || {
  echo "oclgrind: not installed; run ./dev setup" >&2
  exit 1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

# run NAME OPTION...: one pass over the tests with more options for Oclgrind.
run() {
  local name=$1 log=$work/$1.log
  shift
  echo "== oclgrind, $name"
  mkdir "$work/$name-cache"
  : >"$log"
  # A failed test is seen below, after the log has been shown.
  MORTON_CACHE_DIR=$work/$name-cache oclgrind --local-mem-size 1048576 --log "$log" "$@" \
    "$program" --gtest_filter="$filter" --gtest_brief=1 \
    </dev/null 2>&1 | tee "$work/$name.out" || true
  if ! grep -qE '^\[==========\] [1-9][0-9]* tests? from .* ran' "$work/$name.out"; then
    echo "oclgrind: no test ran to its end (filter $filter)" >&2
    status=1
  elif grep -q '^\[  FAILED  \]' "$work/$name.out"; then
    echo "oclgrind: tests failed" >&2
    status=1
  fi
  if [[ -s $log ]]; then
    echo "oclgrind: the log of $name is not empty:" >&2
    sed -n '1,200p' "$log" >&2
    status=1
  fi
}

# Accesses and races are those of the code that devices run, so it is optimised. Uninitialised reads
# are looked for without optimisation: it would keep private variables in registers, where they are
# not seen, and it makes "freeze" instructions, on which that check of Oclgrind 21.10 stops ("Unsupported
# instruction") and leaves the kernel undone.
run accesses --data-races --uniform-writes --check-api
run uninitialised --uninitialized --build-options -cl-opt-disable
((status == 0)) && echo "oclgrind: both logs are empty"
exit "$status"
