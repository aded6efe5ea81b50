#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# tools/debian_packages.sh [--jobs N] [ARCHITECTURE...]
#
# Builds Debian packages of the working tree, as debian/ describes them, for amd64 or for the named
# architectures (amd64, arm64, armhf). Others than this machine's are cross-built: the packages that
# are the same everywhere, and python3-morton, come from this machine's build alone. They go to
# build-packages/ARCHITECTURE, and lintian must find no error and no warning in them.
#
# Each architecture has a bare root of Debian 12, build-packages/root-ARCHITECTURE, with what
# debian/control asks for and no more. It is used again, with what ccache keeps there: the first build
# takes tens of minutes, a later one a few. Run it as root, with mmdebstrap installed; packages come
# from where this machine's own apt gets Debian's.
set -euo pipefail
# shellcheck source=tools/debian_root.sh
source "$(dirname "$0")/debian_root.sh"

repository=$(cd "$(dirname "$0")/.." && pwd)
folder=$repository/build-packages
here=$(dpkg --print-architecture)
take_builds "$@"
require_for_roots
mkdir -p "$folder"

# build ARCHITECTURE: its packages, in build-packages/ARCHITECTURE.
build() {
  local architecture=$1 root=$folder/root-$1 kind=(-b) profiles=nocheck passed_over=""
  build_root "$root" "$architecture"
  rm -rf "$root/build"
  copy_sources "$repository" "$root/build/morton"
  if [[ $architecture != "$here" ]]; then
    kind=(-B "--host-arch=$architecture")
    profiles=cross,nocheck
    # The manual pages are in morton-common, which a build for this machine makes.
    passed_over=no-manual-page
  fi
  # shellcheck disable=SC2016  # expanded by the inner bash
  in_root "$root" "$repository" ro architecture="$architecture" profiles="$profiles" jobs="$jobs" \
    passed_over="$passed_over" \
    CCACHE_DIR=/ccache DEB_BUILD_OPTIONS="parallel=$jobs" DEB_BUILD_PROFILES="${profiles/,/ }" \
    bash -euo pipefail -c '
      cd /build/morton
      { apt-get update && apt-get build-dep -y --no-install-recommends --build-profiles "$profiles" \
        --host-architecture "$architecture" ./; } </dev/null >/build/build-dep.log 2>&1 ||
        { tail -n 30 /build/build-dep.log >&2; exit 1; }
      dpkg-buildpackage -us -uc "$@"
      cd /build
      lintian --allow-root --fail-on error,warning ${passed_over:+--suppress-tags "$passed_over"} *.changes' \
    bash "${kind[@]}" || die "$architecture: the packages could not be built, or lintian refuses them"
  rm -rf "${folder:?}/$architecture"
  mkdir -p "$folder/$architecture"
  cp "$root"/build/*.deb "$root"/build/*.changes "$root"/build/*.buildinfo "$folder/$architecture/"
  echo "$architecture:"
  (cd "$folder/$architecture" && du -h -- *.deb)
}

for architecture in "${architectures[@]}"; do
  case $architecture in
    amd64 | arm64 | armhf) build "$architecture" ;;
    *) die "no architecture '$architecture'; there are amd64, arm64 and armhf" ;;
  esac
done
