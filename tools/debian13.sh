#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# tools/debian13.sh rusticl|pocl ROOT PROGRAM [ARGUMENTS]
#
# Runs a statically linked test program on a driver of Debian 13:
#
#   rusticl  Mesa 25's OpenCL on llvmpipe (a CPU), which has what PoCL 3.1 lacks: images made from
#            buffers and native half arithmetic
#   pocl     PoCL 6, with a newer LLVM than Debian 12's
#
# The folder ROOT becomes a root of Debian 13 with that driver and nothing else; a ROOT that exists is
# used again. The program sees this repository under the path that it has here, and writes only to a
# scratch folder.
#
# Run it as root on Debian with mmdebstrap installed. Packages come from where this machine's own
# apt gets Debian 12's.
set -euo pipefail
# shellcheck source=tools/debian_root.sh
source "$(dirname "$0")/debian_root.sh"

(($# >= 3)) || die "usage: tools/debian13.sh rusticl|pocl ROOT PROGRAM [ARGUMENTS]"
case $1 in
  rusticl)
    package=mesa-opencl-icd
    environment=(RUSTICL_ENABLE=llvmpipe RUSTICL_FEATURES=fp16)
    ;;
  pocl)
    package=pocl-opencl-icd
    environment=(POCL_CACHE_DIR=/tmp/pocl)
    ;;
  *) die "the driver is rusticl or pocl, not '$1'" ;;
esac
require_for_roots
repository=$(cd "$(dirname "$0")/.." && pwd)
root=$(realpath -m "$2")
program=$(realpath "$3") || die "no program $3"
icd=etc/OpenCL/vendors/$1.icd
shift 3
[[ $root != / ]] || die "ROOT may not be /"
[[ $program == "$repository"/* ]] || die "$program lies outside of $repository"

if [[ ! -e $root/$icd ]]; then
  [[ ! -e $root ]] || die "$root exists and has no $icd; remove it or name another"
  make_debian_root trixie "$root" --variant=apt --include="$package,ocl-icd-libopencl1"
  [[ -e $root/$icd ]] || die "Debian 13's $package installed no $icd"
fi

in_root "$root" "$repository" ro "OCL_ICD_VENDORS=/$icd" MORTON_CACHE_DIR=/tmp/morton "${environment[@]}" \
  "$program" "$@"
