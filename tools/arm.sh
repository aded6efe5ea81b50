#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# tools/arm.sh make arm64|armhf ROOT PACKAGE...
# tools/arm.sh run arm64|armhf ROOT PROGRAM [ARGUMENTS]
#
# Runs a test program for Arm on this machine: qemu translates it, PoCL's compiler and the kernels that
# it makes. So kernels run on vectors of 4 floats (NEON): arm64 has 32 registers, as a Neoverse N1 has
# them; armhf has 16, 32-bit addresses and no subnormal numbers in vectors, as a Cortex-A7 has it.
#
# "make" unpacks PoCL and the given packages of Debian 12 for that architecture into the folder ROOT,
# with which cmake/arm.cmake builds; a ROOT that exists is used again. "run" runs the program with it.
# Of device_tests DEVICE_FILTER's tests run, without a filter of GoogleTest's among the arguments.
# Compiled kernels are kept in ROOT/cache, so that a second run takes a quarter of the time.
#
# It needs Debian with mmdebstrap, qemu-user-static, and g++-aarch64-linux-gnu or
# g++-arm-linux-gnueabihf installed. Packages come from where this machine's own apt gets Debian 12's.
set -euo pipefail
# shellcheck source=tools/debian_root.sh
source "$(dirname "$0")/debian_root.sh"

# The kernels whose texts depend on the vectors, with this processor's values, between convolutions too; and some
# whose vectors have one width. Each has few cases, because compiling a kernel takes qemu seconds.
DEVICE_FILTER='*CatalogueLanes*pocl_neon:*CatalogueBlocks.*'
for way in elementwise_program max_pool2d_gradient_rows reduce_columns reduce_row_vectors; do
  DEVICE_FILTER+=":*CatalogueEntries.ComputeTheirCases/*_$way"
done

usage='usage: tools/arm.sh make arm64|armhf ROOT PACKAGE... | run arm64|armhf ROOT PROGRAM [ARGUMENTS]'
(($# >= 4)) || die "$usage"
command=$1
architecture=$2
root=$(realpath -m "$3")
shift 3
case $architecture in
  arm64)
    tuple=aarch64-linux-gnu
    qemu=qemu-aarch64-static
    ;;
  armhf)
    tuple=arm-linux-gnueabihf
    qemu=qemu-arm-static
    ;;
  *) die "$usage" ;;
esac
[[ $root != / ]] || die "ROOT may not be /"
libpocl=$root/usr/lib/$tuple/libpocl.so.2
icd=$root/$architecture.icd

require() {
  command -v "$1" >/dev/null || die "install the package $2"
}

# What programs read of the processor, in place of what this machine says.
processor() {
  if [[ $architecture == arm64 ]]; then
    cat <<'CPUINFO'
processor	: 0
BogoMIPS	: 50.00
Features	: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop asimddp ssbs
CPU implementer	: 0x41
CPU architecture: 8
CPU variant	: 0x3
CPU part	: 0xd0c
CPU revision	: 1

CPUINFO
  else
    cat <<'CPUINFO'
processor	: 0
model name	: ARMv7 Processor rev 5 (v7l)
BogoMIPS	: 38.40
Features	: half thumb fastmult vfp edsp neon vfpv3 tls vfpv4 idiva idivt vfpd32 lpae evtstrm
CPU implementer	: 0x41
CPU architecture: 7
CPU variant	: 0x0
CPU part	: 0xc07
CPU revision	: 5

CPUINFO
  fi
}

make_root() {
  require mmdebstrap mmdebstrap
  require "$tuple-g++" "g++-$tuple"
  require "$qemu" qemu-user-static
  [[ ! -e $icd ]] || return 0
  [[ ! -e $root ]] || die "$root exists and is no root with PoCL for $architecture; remove it or name another"
  local packages
  packages=$(IFS=, && echo "$*")
  # Packages are unpacked only: what they would run once installed is of another processor.
  make_debian_root bookworm "$root" --variant=extract --architectures="$architecture" --include="$packages"
  [[ -e $libpocl ]] || die "Debian 12's pocl-opencl-icd has no $libpocl"
  # PoCL's compiler links kernels with the linker beside the gcc that it finds. This machine's cross linker runs
  # without qemu.
  rm -rf "$root/usr/lib/gcc"
  mkdir -p "$root/proc"
  processor >"$root/proc/cpuinfo"
  echo "$libpocl" >"$icd"
}

run_program() {
  require "$qemu" qemu-user-static
  [[ -e $icd ]] || die "$root is no root with PoCL for $architecture; make it first"
  local program filter=() argument
  program=$(realpath -e "$1") || die "no program $1"
  shift
  [[ $program != */device_tests ]] || filter=(--gtest_filter="$DEVICE_FILTER")
  for argument; do
    [[ $argument != --gtest_filter=* ]] || filter=()
  done
  mkdir -p "$root/cache/pocl" "$root/cache/morton"
  exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME="$root/cache" LANG=C.UTF-8 \
    OCL_ICD_VENDORS="$icd" POCL_CACHE_DIR="$root/cache/pocl" POCL_MEMORY_LIMIT=2 \
    POCL_MAX_PTHREAD_COUNT=2 MORTON_CACHE_DIR="$root/cache/morton" \
    "$qemu" -L "$root" "$program" "${filter[@]}" "$@"
}

case $command in
  make) make_root "$@" ;;
  run) run_program "$@" ;;
  *) die "$usage" ;;
esac
