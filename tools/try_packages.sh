#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# tools/try_packages.sh [--tests]
#
# Installs the packages that tools/debian_packages.sh has built for this machine in a bare root of
# Debian 12 (its essential packages and apt), as a user does, and runs `morton demo`. Prints what that
# takes, and fails where it is more than 120 seconds. --tests runs the programs of debian/tests there
# too. The root, build-packages/root-try, is made anew each time.
#
# Run it as root, with mmdebstrap installed.
set -euo pipefail
# shellcheck source=tools/debian_root.sh
source "$(dirname "$0")/debian_root.sh"

die() {
  echo "try_packages: $*" >&2
  exit 1
}

repository=$(cd "$(dirname "$0")/.." && pwd)
packages=$repository/build-packages/$(dpkg --print-architecture)
root=$repository/build-packages/root-try
most_seconds=120
[[ ${1:-} =~ ^(--tests)?$ ]] || die "usage: tools/try_packages.sh [--tests]"
((EUID == 0)) || die "run it as root: it mounts /proc and /dev in the new root"
command -v mmdebstrap >/dev/null || die "install the package mmdebstrap"
compgen -G "$packages/morton_*.deb" >/dev/null || die "there is no package in $packages: ./dev package builds them"

uri=$(debian_uri)
[[ -n $uri ]] || die "this machine's apt has no Debian 12 lists; run apt-get update"
mapfile -t options < <(apt_options)
rm -rf "$root"
mmdebstrap --quiet --variant=minbase "${options[@]}" bookworm "$root" "$uri"
cp /etc/resolv.conf "$root/etc/resolv.conf"
mkdir "$root/packages"
cp "$packages"/*.deb "$root/packages/"
rm -f "$root"/packages/*-dbgsym_*.deb

# shellcheck disable=SC2016  # expanded by the inner bash
in_root "$root" "$repository" ro most="$most_seconds" DEBIAN_FRONTEND=noninteractive bash -euo pipefail -c '
  cd /packages
  apt-get update -qq
  started=$SECONDS
  apt-get install -y ./*.deb </dev/null >install.log 2>&1 || { tail -n 20 install.log; exit 1; }
  installed=$SECONDS
  morton demo
  ended=$SECONDS
  echo "apt install ./*.deb: $((installed - started)) s; morton demo: $((ended - installed)) s"
  ((ended - started <= most)) || { echo "that is more than $most s" >&2; exit 1; }'

[[ ${1:-} == --tests ]] || exit 0
# shellcheck disable=SC2016
in_root "$root" "$repository" ro DEBIAN_FRONTEND=noninteractive bash -euo pipefail -c '
  mapfile -t needed < <(sed -n "s/^Depends: //p" debian/tests/control | tr -d "," | tr " " "\n" | sort -u)
  apt-get install -y --no-install-recommends "${needed[@]}" </dev/null >/tmp/install.log 2>&1 ||
    { tail -n 20 /tmp/install.log; exit 1; }
  for test in $(sed -n "s/^Tests: //p" debian/tests/control); do
    export AUTOPKGTEST_TMP=/tmp/$test
    mkdir "$AUTOPKGTEST_TMP"
    echo "== debian/tests/$test"
    "debian/tests/$test"
  done'
