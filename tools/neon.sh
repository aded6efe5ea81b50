#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# tools/neon.sh make ROOT PACKAGE...
# tools/neon.sh run ROOT PROGRAM [ARGUMENTS]
#
# Runs a test program for arm64 on this machine: qemu translates it, PoCL's compiler and the kernels
# that it makes. So kernels run on vectors of 4 floats and 32 registers (NEON).
#
# "make" unpacks PoCL and the given packages of Debian 12 for arm64 into the folder ROOT, with which
# cmake/arm64.cmake builds; a ROOT that exists is used again. "run" runs the program with it.
# Without a filter of GoogleTest's among the arguments, NEON_FILTER's tests run. Compiled kernels are
# kept in ROOT/cache, so that a second run takes a quarter of the time.
#
# It needs Debian with mmdebstrap, g++-aarch64-linux-gnu and qemu-user-static installed. Packages
# come from where this machine's own apt gets Debian 12's.
set -euo pipefail
# shellcheck source=tools/debian_root.sh
source "$(dirname "$0")/debian_root.sh"

# The kernels whose texts depend on the vectors, with this processor's values, between convolutions too; and some
# whose vectors have one width. Each has few cases, because compiling a kernel takes qemu seconds.
NEON_FILTER='*CatalogueLanes*pocl_neon:*CatalogueBlocks.*'
for way in elementwise_program max_pool2d_gradient_rows reduce_columns reduce_row_vectors; do
  NEON_FILTER+=":*CatalogueEntries.ComputeTheirCases/*_$way"
done

usage='usage: tools/neon.sh make ROOT PACKAGE... | run ROOT PROGRAM [ARGUMENTS]'
(($# >= 3)) || die "$usage"
command=$1
root=$(realpath -m "$2")
shift 2
[[ $root != / ]] || die "ROOT may not be /"
libpocl=$root/usr/lib/aarch64-linux-gnu/libpocl.so.2
icd=$root/neon.icd

require() {
  command -v "$1" >/dev/null || die "install the package $2"
}

make_root() {
  require mmdebstrap mmdebstrap
  require aarch64-linux-gnu-g++ g++-aarch64-linux-gnu
  require qemu-aarch64-static qemu-user-static
  [[ ! -e $icd ]] || return 0
  [[ ! -e $root ]] || die "$root exists and is no root with PoCL for arm64; remove it or name another"
  local packages
  packages=$(IFS=, && echo "$*")
  # Packages are unpacked only: what they would run once installed is of arm64.
  make_debian_root bookworm "$root" --variant=extract --architectures=arm64 --include="$packages"
  [[ -e $libpocl ]] || die "Debian 12's pocl-opencl-icd has no $libpocl"
  # PoCL's compiler links kernels with the linker beside the gcc that it finds. This machine's cross linker runs
  # without qemu.
  rm -rf "$root/usr/lib/gcc"
  # Programs read of the processor here; without it they would read of this machine's.
  mkdir -p "$root/proc"
  cat >"$root/proc/cpuinfo" <<'CPUINFO'
processor	: 0
BogoMIPS	: 50.00
Features	: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop asimddp ssbs
CPU implementer	: 0x41
CPU architecture: 8
CPU variant	: 0x3
CPU part	: 0xd0c
CPU revision	: 1

CPUINFO
  echo "$libpocl" >"$icd"
}

run_program() {
  require qemu-aarch64-static qemu-user-static
  [[ -e $icd ]] || die "$root is no root with PoCL for arm64; make it first"
  local program filter=(--gtest_filter="$NEON_FILTER") argument
  program=$(realpath -e "$1") || die "no program $1"
  shift
  for argument; do
    [[ $argument != --gtest_filter=* ]] || filter=()
  done
  mkdir -p "$root/cache/pocl" "$root/cache/morton"
  exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME="$root/cache" LANG=C.UTF-8 \
    OCL_ICD_VENDORS="$icd" POCL_CACHE_DIR="$root/cache/pocl" POCL_MEMORY_LIMIT=2 \
    POCL_MAX_PTHREAD_COUNT=2 MORTON_CACHE_DIR="$root/cache/morton" \
    qemu-aarch64-static -L "$root" "$program" "${filter[@]}" "$@"
}

case $command in
  make) make_root "$@" ;;
  run) run_program "$@" ;;
  *) die "$usage" ;;
esac
