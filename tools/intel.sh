#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# tools/intel.sh FOLDER PROGRAM [ARGUMENTS]
#
# Runs a test program on Intel's OpenCL for processors: another compiler than PoCL's, which turns
# work-items into lanes by its own rules, with halves, doubles and images made from buffers.
# It comes from PyPI, as the extra `cpu` of pyproject.toml names it, and its licence is Intel's. The folder
# becomes a virtual environment that has it (830 MB); one that exists is used again.
#
# The program sees this driver alone, and its kernels go to a folder that is removed behind it.
# It needs an x86-64 processor and the package python3-venv.
set -euo pipefail

die() {
  echo "intel: $*" >&2
  exit 1
}

(($# >= 2)) || die "usage: tools/intel.sh FOLDER PROGRAM [ARGUMENTS]"
repository=$(cd "$(dirname "$0")/.." && pwd)
folder=$(realpath -m "$1")
program=$(realpath -e "$2") || die "no program $2"
shift 2
[[ $(uname -m) == x86_64 ]] || die "Intel's OpenCL is for x86-64 processors, and this is $(uname -m)"

# Made whole or not at all: a download that breaks off leaves no driver that looks complete.
if [[ ! -e $folder/ready ]]; then
  rm -rf "$folder"
  mapfile -t packages < <(python3 -c '
import sys, tomllib
with open(sys.argv[1], "rb") as file:
    print("\n".join(tomllib.load(file)["project"]["optional-dependencies"]["cpu"]))' "$repository/pyproject.toml")
  python3 -m venv "$folder" || die "the virtual environment could not be made; is python3-venv installed?"
  "$folder/bin/pip" --quiet --disable-pip-version-check install "${packages[@]}" ||
    die "PyPI gave no Intel OpenCL; is this machine online?"
  touch "$folder/ready"
fi
driver=$folder/lib/libintelocl.so
[[ -e $driver ]] || die "Intel's packages have no $driver any more"
"$folder/bin/pip" --disable-pip-version-check list 2>/dev/null | grep '^intel-opencl-rt ' >&2

cache=$(mktemp -d)
trap 'rm -rf "$cache"' EXIT
OCL_ICD_VENDORS=$driver MORTON_CACHE_DIR=$cache "$program" "$@"
