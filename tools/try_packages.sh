#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# tools/try_packages.sh [--tests] [ARCHITECTURE]
#
# Installs the packages that tools/debian_packages.sh has built for this machine in a bare root of
# Debian 12 (its essential packages and apt), as a user does, and runs `morton demo`. Prints what that
# takes, and fails where it is more than 120 seconds. --tests runs the programs of debian/tests there
# too. The root, build-packages/root-try, is made anew each time.
#
# Another architecture's run through qemu, without a limit of time; what is the same everywhere comes
# from this machine's packages. Run it as root, with mmdebstrap installed, and for another architecture
# qemu-user-static.
set -euo pipefail
# shellcheck source=tools/debian_root.sh
source "$(dirname "$0")/debian_root.sh"

repository=$(cd "$(dirname "$0")/.." && pwd)
with_tests=0
if [[ ${1:-} == --tests ]]; then
  with_tests=1
  shift
fi
[[ $# -le 1 && ${1:-} =~ ^(|amd64|arm64|armhf)$ ]] ||
  die "usage: tools/try_packages.sh [--tests] [amd64|arm64|armhf]"
packages=$repository/build-packages
root=$packages/root-try
require_for_roots
take_trial "$@"
for needed in "$packages/$architecture/morton_*.deb" "$packages/$here/morton-common_*.deb"; do
  compgen -G "$needed" >/dev/null || die "there is no $needed: ./dev package builds them"
done

# qemu gives programs of 32 bits the places of a folder's entries in 64 bits, at which their readdir
# fails: OpenCL's loader would find no driver in a folder, so the file is named.
driver=()
[[ $architecture != armhf || $here == armhf ]] || driver=(OCL_ICD_VENDORS=/etc/OpenCL/vendors/pocl.icd)

make_trial_root "$root" --architectures="$architecture"
mkdir "$root/packages"
cp "$packages/$architecture"/*.deb "$root/packages/"
[[ $architecture == "$here" ]] || cp "$packages/$here"/*_all.deb "$root/packages/"
rm -f "$root"/packages/*-dbgsym_*.deb

# shellcheck disable=SC2016  # expanded by the inner bash
in_root "$root" "$repository" ro most="$most_seconds" "${driver[@]}" DEBIAN_FRONTEND=noninteractive bash -euo pipefail -c '
  cd /packages
  apt-get update -qq
  started=$SECONDS
  apt-get install -y ./*.deb </dev/null >install.log 2>&1 || { tail -n 20 install.log; exit 1; }
  installed=$SECONDS
  morton demo
  ended=$SECONDS
  echo "apt install ./*.deb: $((installed - started)) s; morton demo: $((ended - installed)) s"
  [[ $most == never ]] || ((ended - started <= most)) || { echo "that is more than $most s" >&2; exit 1; }'

((with_tests)) || exit 0
# shellcheck disable=SC2016
in_root "$root" "$repository" ro "${driver[@]}" DEBIAN_FRONTEND=noninteractive bash -euo pipefail -c '
  mapfile -t needed < <(sed -n "s/^Depends: //p" debian/tests/control | tr -d "," | tr " " "\n" | sort -u)
  apt-get install -y --no-install-recommends "${needed[@]}" </dev/null >/tmp/install.log 2>&1 ||
    { tail -n 20 /tmp/install.log; exit 1; }
  for test in $(sed -n "s/^Tests: //p" debian/tests/control); do
    export AUTOPKGTEST_TMP=/tmp/$test
    mkdir "$AUTOPKGTEST_TMP"
    echo "== debian/tests/$test"
    "debian/tests/$test"
  done'
