#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# tools/release.sh TAG [PART...]
#
# Builds what a release publishes from its tag (v0.1.0), tries each in a bare root, and gathers it in
# build-release/TAG with the file SHA256SUMS. The parts, all without a name:
#
#   packages   Debian packages for amd64, arm64 and armhf; on this machine with the tests of debian/tests,
#              on the others through qemu
#   wheels     Python wheels for amd64, tried with morton[cpu], and for arm64, through qemu with PoCL
#   program    the program that needs only libc and libOpenCL; it runs the demo
#   site       the pages as an archive, after the checks in a browser
#   sources    the tagged files as an archive
#
# The tag, CMakeLists.txt, CHANGELOG.md and debian/changelog must name one version. Parts that are
# there already are built anew; the roots in build-packages are used again. Run it as root, with the
# packages of `./dev package` and `./dev site` installed, and qemu-user-static. It takes hours.
set -euo pipefail

# shellcheck source=tools/debian_root.sh
source "$(dirname "$0")/debian_root.sh"

repository=$(cd "$(dirname "$0")/.." && pwd)
(($# > 0)) || die "usage: ./dev release TAG [packages] [wheels] [program] [site] [sources]"
tag=$1
shift
(($# > 0)) || set -- sources program site packages wheels
for part; do
  [[ $part =~ ^(packages|wheels|program|site|sources)$ ]] || die "there is no part '$part'"
done
git -C "$repository" rev-parse --verify --quiet "refs/tags/$tag^{commit}" >/dev/null ||
  die "there is no tag '$tag'"
require_for_roots
[[ ! " $* " =~ \ (packages|wheels)\  || -r /usr/lib/binfmt.d/qemu-aarch64.conf ]] ||
  die "packages and wheels need the package qemu-user-static"

result=$repository/build-release/$tag
sources=$repository/build-release/$tag-sources
mkdir -p "$result"
rm -rf "$sources"
git clone --quiet --branch "$tag" -c advice.detachedHead=false "$repository" "$sources"

version=$(sed -n 's/^project(morton VERSION \([0-9.]*\).*/\1/p' "$sources/CMakeLists.txt")
[[ $tag == "v$version" ]] || die "the tag is $tag, and CMakeLists.txt says $version"
grep -q "^## \[$version\]" "$sources/CHANGELOG.md" ||
  die "CHANGELOG.md has no section '## [$version]'"
head -n 1 "$sources/debian/changelog" | grep -q "^morton ($version)" ||
  die "debian/changelog does not begin with $version"

# The roots of earlier builds, with what ccache keeps in them.
mkdir "$sources/build-packages"
for architecture in amd64 arm64 armhf; do
  mkdir -p "$repository/build-packages/root-$architecture"
  ln -s "$repository/build-packages/root-$architecture" "$sources/build-packages/"
done

in_sources() { (cd "$sources" && "$@"); }

# in_place COMMAND...: runs it in the sources where they hide the repository, in a namespace of mounts.
# Paths are then those of daily builds, so what ccache has kept of these serves the release.
in_place() {
  # shellcheck disable=SC2016  # expanded by the inner bash
  sources=$sources repository=$repository unshare --mount bash -euo pipefail -c '
    mount --bind "$sources" "$repository"
    cd "$repository"
    exec "$@"' bash "$@"
}

# publish PATTERN FILE...: the files, in place of all that have the pattern.
publish() {
  find "$result" -maxdepth 1 -name "$1" -delete
  shift
  cp "$@" "$result/"
}

make_packages() {
  in_sources tools/debian_packages.sh amd64 arm64 armhf
  in_sources tools/try_packages.sh --tests
  in_sources tools/try_packages.sh arm64
  in_sources tools/try_packages.sh armhf
  rm -f "$sources"/build-packages/*/*-dbgsym_*.deb
  publish '*.deb' "$sources"/build-packages/{amd64,arm64,armhf}/*.deb
}

make_wheels() {
  in_sources tools/wheels.sh amd64 arm64
  in_sources tools/try_wheel.sh
  in_sources tools/try_wheel.sh arm64
  publish '*.whl' "$sources"/build-wheels/*.whl
}

make_program() {
  in_place ./dev build static
  in_place build-static/morton demo
  cp "$sources/build-static/morton" "$result/morton-$version-linux-$(uname -m)"
}

make_site() {
  in_place ./dev site --check
  tar -C "$sources/build/site" --transform "s,^html,morton-$version-site," -cJf \
    "$result/morton-$version-site.tar.xz" html
}

make_sources() {
  git -C "$sources" archive --prefix="morton-$version/" --output "$result/morton-$version.tar.gz" HEAD
}

for part; do
  echo "== $part"
  began=$SECONDS
  "make_$part"
  echo "$part: $((SECONDS - began)) s"
done
rm -f "$result/SHA256SUMS"
sums=$(cd "$result" && sha256sum -- *)
echo "$sums" >"$result/SHA256SUMS"
echo "$result:"
echo "$sums"
