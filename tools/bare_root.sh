#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# tools/bare_root.sh ROOT [COMMAND]
#
# Shows what a fresh Debian 12 machine shows. Makes a bare root in the folder ROOT (Debian's
# essential packages, apt, git and ca-certificates), clones the last commit of this repository into
# it, and runs COMMAND with bash in the clone; by default
#
#     time ./dev demo && time ./dev test
#
# Run it as root on Debian with mmdebstrap installed. Packages come from the Debian sources that
# this machine's own apt uses. A ROOT that exists is used again, with a fresh clone, so that a
# second run starts with the packages of the first.
set -euo pipefail
# shellcheck source=tools/debian_root.sh
source "$(dirname "$0")/debian_root.sh"

(($# >= 1)) || die "usage: tools/bare_root.sh ROOT [COMMAND]"
require_for_roots
repository=$(cd "$(dirname "$0")/.." && pwd)
root=$(realpath -m "$1")
command=${2:-'time ./dev demo && time ./dev test'}
[[ $root != / ]] || die "ROOT may not be /"

# One sources.list line for each suite of Debian 12 that this machine's apt knows.
debian_sources() {
  # shellcheck disable=SC2016  # apt expands these
  apt-get indextargets --format '$(ORIGIN) $(REPO_URI) $(RELEASE) $(COMPONENT)' \
    'Created-By: Packages' |
    awk '$1 == "Debian" && $3 ~ /^bookworm(-updates|-security)?$/ && $4 == "main" {
           print "deb", $2, $3, $4 }' | sort -u
}

if [[ ! -e $root/etc/debian_version ]]; then
  sources=$(debian_sources)
  [[ -n $sources ]] || die "this machine's apt has no Debian 12 lists; run apt-get update"
  mapfile -t options < <(apt_options)
  mmdebstrap --variant=minbase --include=git,ca-certificates "${options[@]}" bookworm "$root" - \
    <<<"$sources"
fi
cp /etc/resolv.conf "$root/etc/resolv.conf"
rm -rf "$root/opt/morton"
git clone -q --no-hardlinks "$repository" "$root/opt/morton"

# Mounts live in a namespace of their own and vanish with the command.
export root command
# shellcheck disable=SC2016  # expanded by the inner bash
unshare --mount --fork bash -euo pipefail -c '
  mount --rbind /dev "$root/dev"
  mount -t proc proc "$root/proc"
  mount --rbind /sys "$root/sys"
  exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM="${TERM:-dumb}" LANG=C.UTF-8 \
    chroot "$root" bash -c "cd /opt/morton && $command"'
