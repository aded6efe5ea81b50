#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# tools/oclgrind.sh [PROGRAM] [GTEST_FILTER]
# tools/oclgrind.sh --planted [PROGRAM]
#
# Runs device tests under Oclgrind, which simulates a device and reports out-of-bounds accesses,
# data races, divergent barriers, uninitialised reads and misused API calls of our kernels.
# Oclgrind's own status is always 0, so a log that is not empty is the failure, and so is a test
# that fails or a filter that matches nothing. Before the tests, and with --planted nothing else, it runs
# kernels with planted defects (tests/device/planted_defects_test.cpp), each of which must be reported.
set -euo pipefail
cd "$(dirname "$0")/.."

# The tests with cases small enough for the simulator (one work-group and a remainder).
OCLGRIND_FILTER='*Oclgrind*'

only_planted=0
if [[ ${1:-} == --planted ]]; then
  only_planted=1
  shift
fi
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

# A process keeps what it has built: an eighth of the tests took more than 12 GB. So they are in parts.
parts=32

# run NAME OPTION...: one pass over the tests with more options for Oclgrind, as many parts at a time as
# there are processors.
run() {
  local name=$1 part ran=0
  shift
  echo "== oclgrind, $name"
  mkdir "$work/$name"
  # What fails is seen in what each part says.
  # shellcheck disable=SC2016  # expanded by the inner bash
  seq 0 $((parts - 1)) | folder=$work/$name parts=$parts program=$program filter=$filter \
    xargs -P "$(nproc)" -I '{}' bash -c '
      part=$1 && shift
      mkdir "$folder/cache$part" && : >"$folder/$part.log"
      MORTON_CACHE_DIR=$folder/cache$part GTEST_TOTAL_SHARDS=$parts GTEST_SHARD_INDEX=$part \
        oclgrind --local-mem-size 1048576 --log "$folder/$part.log" "$@" \
        "$program" --gtest_filter="$filter" --gtest_brief=1 </dev/null >"$folder/$part.out" 2>&1' \
    bash '{}' "$@" || true
  for ((part = 0; part < parts; ++part)); do
    cat "$work/$name/$part.out"
    if ! grep -qE '^\[==========\] [0-9]+ tests? from .* ran' "$work/$name/$part.out"; then
      echo "oclgrind: part $part did not run to its end" >&2
      status=1
    elif grep -q '^\[  FAILED  \]' "$work/$name/$part.out"; then
      echo "oclgrind: tests failed" >&2
      status=1
    fi
    ! grep -qE '^\[==========\] [1-9]' "$work/$name/$part.out" || ran=1
    if [[ -s $work/$name/$part.log ]]; then
      echo "oclgrind: the log of $name is not empty:" >&2
      sed -n '1,200p' "$work/$name/$part.log" >&2
      status=1
    fi
  done
  ((ran)) || {
    echo "oclgrind: no test ran (filter $filter)" >&2
    status=1
  }
}

# The two passes: what each looks for.
accesses=(--data-races --uniform-writes --check-api)
uninitialised=(--uninitialized --build-options -cl-opt-disable)

# planted DEFECT WORDS OPTION...: the simulator reports the defect, with these words in its log; no
# words: nothing at all.
planted() {
  local defect=$1 words=$2 log=$work/planted-$1.log
  shift 2
  : >"$log"
  MORTON_CACHE_DIR=$work oclgrind --local-mem-size 1048576 --log "$log" "$@" \
    "$program" --gtest_filter="*PlantedDefects.$defect/*" --gtest_brief=1 </dev/null >"$log.out" 2>&1 || true
  if ! grep -qE '^\[==========\] 1 test from' "$log.out"; then
    echo "oclgrind: the planted defect $defect did not run" >&2
    cat "$log.out" >&2
    status=1
  elif [[ -n $words ]] && ! grep -qF "$words" "$log"; then
    echo "oclgrind: the planted defect $defect is not reported (\"$words\")" >&2
    status=1
  elif [[ -z $words && -s $log ]]; then
    echo "oclgrind: a kernel without a defect is reported:" >&2
    cat "$log" >&2
    status=1
  fi
}

echo "== oclgrind, planted defects"
planted None '' "${accesses[@]}"
planted None '' "${uninitialised[@]}"
planted ReadBeyond 'Invalid read' "${accesses[@]}"
planted WriteBeyond 'Invalid write' "${accesses[@]}"
planted Race 'data race' "${accesses[@]}"
planted SameValueRace 'data race' "${accesses[@]}"
planted DivergentBarrier 'divergence' "${accesses[@]}"
planted Uninitialised 'uninitialized value' "${uninitialised[@]}"
if ((only_planted)); then
  ((status == 0)) && echo "oclgrind: all planted defects are reported"
  exit "$status"
fi

# Accesses and races are those of the code that devices run, so it is optimised. Uninitialised reads
# are looked for without optimisation: it would keep private variables in registers, where they are
# not seen, and it makes "freeze" instructions, on which that check of Oclgrind 21.10 stops ("Unsupported
# instruction") and leaves the kernel undone.
run accesses "${accesses[@]}"
run uninitialised "${uninitialised[@]}"
((status == 0)) && echo "oclgrind: both logs are empty"
exit "$status"
