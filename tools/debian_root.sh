# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# What the scripts share that make a root of Debian's packages with mmdebstrap. They source it and
# call these functions.

# Where this machine's apt gets Debian's main section.
debian_uri() {
  # shellcheck disable=SC2016  # apt expands these
  apt-get indextargets --format '$(ORIGIN) $(REPO_URI) $(RELEASE) $(COMPONENT)' \
    'Created-By: Packages' |
    awk '$1 == "Debian" && $3 == "bookworm" && $4 == "main" && !seen { print $2; seen = 1 }'
}

# mmdebstrap options that carry over how this machine's apt reaches its sources.
apt_options() {
  local key value
  for key in Acquire::http::Proxy Acquire::https::Proxy Acquire::Check-Valid-Until \
    Acquire::Check-Date; do
    value=
    eval "$(apt-config shell value "$key")"
    [[ -z $value ]] || printf -- '--aptopt=%s "%s"\n' "$key" "$value"
  done
}

# in_root ROOT REPOSITORY ro|rw NAME=VALUE... COMMAND...: runs the command in the root, at the
# repository's own path there, read-only or not. Its /tmp is empty. Mounts live in a namespace of
# their own and vanish with the command.
in_root() {
  local root=$1 repository=$2 access=$3
  shift 3
  mkdir -p "$root/$repository" "$root/tmp"
  # shellcheck disable=SC2016  # expanded by the inner bash
  root=$root repository=$repository access=$access unshare --mount --fork bash -euo pipefail -c '
    mount --rbind /dev "$root/dev"
    mount -t proc proc "$root/proc"
    [[ ! -d /sys/devices ]] || mount --rbind /sys "$root/sys"
    mount -t tmpfs tmpfs "$root/tmp"
    mkdir -p "$root/$repository"
    mount --bind "$repository" "$root/$repository"
    [[ $access == rw ]] || mount -o remount,bind,ro "$root/$repository"
    exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LANG=C.UTF-8 \
      chroot "$root" bash -c "cd \"\$1\" && shift && exec env \"\$@\"" bash "$repository" "$@"' bash "$@"
}
