#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# tools/rusticl.sh ROOT PROGRAM [ARGUMENTS]
#
# Runs a statically linked test program on Mesa's rusticl, which has what PoCL lacks: images made
# from buffers and native half arithmetic. Mesa 25 comes with Debian 13, so the folder ROOT becomes
# a root of Debian 13 with Mesa's OpenCL on llvmpipe (a CPU) and nothing else; a ROOT that exists is
# used again. The program sees this repository under the path that it has here, and writes only to a
# scratch folder.
#
# Run it as root on Debian with mmdebstrap installed. Packages come from where this machine's own
# apt gets Debian 12's.
set -euo pipefail
# shellcheck source=tools/debian_root.sh
source "$(dirname "$0")/debian_root.sh"

(($# >= 2)) || die "usage: tools/rusticl.sh ROOT PROGRAM [ARGUMENTS]"
require_for_roots
repository=$(cd "$(dirname "$0")/.." && pwd)
root=$(realpath -m "$1")
program=$(realpath "$2") || die "no program $2"
shift 2
[[ $root != / ]] || die "ROOT may not be /"
[[ $program == "$repository"/* ]] || die "$program lies outside of $repository"

icd=$root/etc/OpenCL/vendors/rusticl.icd
if [[ ! -e $icd ]]; then
  [[ ! -e $root ]] || die "$root exists and is no root with rusticl; remove it or name another"
  make_debian_root trixie "$root" --variant=apt --include=mesa-opencl-icd,ocl-icd-libopencl1
  [[ -e $icd ]] || die "Debian 13's mesa-opencl-icd installed no $icd"
fi

in_root "$root" "$repository" ro OCL_ICD_VENDORS=/etc/OpenCL/vendors/rusticl.icd RUSTICL_ENABLE=llvmpipe \
  RUSTICL_FEATURES=fp16 MORTON_CACHE_DIR=/tmp/morton "$program" "$@"
