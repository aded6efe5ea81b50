# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# What the scripts share that make a root of Debian's packages with mmdebstrap. They source it and
# call these functions.

die() {
  echo "$(basename "$0" .sh): $*" >&2
  exit 1
}

require_for_roots() {
  ((EUID == 0)) || die "run it as root: it makes roots of Debian and mounts /proc in them"
  command -v mmdebstrap >/dev/null || die "install the package mmdebstrap"
}

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

# make_debian_root SUITE ROOT OPTION...: a new root by mmdebstrap with these options.
make_debian_root() {
  local suite=$1 root=$2 uri options
  shift 2
  uri=$(debian_uri)
  [[ -n $uri ]] || die "this machine's apt has no Debian 12 lists; run apt-get update"
  mapfile -t options < <(apt_options)
  mkdir -p "$(dirname "$root")"
  mmdebstrap --quiet "$@" "${options[@]}" "$suite" "$root" "$uri" || die "the root could not be made"
}

# make_trial_root ROOT OPTION...: a new bare root of Debian 12, in place of one that is there.
make_trial_root() {
  local root=$1
  rm -rf "$root"
  make_debian_root bookworm "$root" --variant=minbase "${@:2}"
  cp /etc/resolv.conf "$root/etc/resolv.conf"
}

# take_builds [--jobs N] [ARCHITECTURE...]: `jobs` and `architectures` of a script that builds; the
# standard is this machine's.
take_builds() {
  jobs=$(nproc)
  if [[ ${1:-} == --jobs ]]; then
    jobs=${2:?--jobs needs a number}
    shift 2
  fi
  architectures=("$@")
  (($# > 0)) || architectures=("$(dpkg --print-architecture)")
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

# build_root ROOT ARCHITECTURE: a bare root in which packages for the architecture are built, where it
# does not exist. What compiles for another architecture than this machine's comes with it.
build_root() {
  local root=$1 architecture=$2 include=lintian,ccache,fakeroot here
  here=$(dpkg --print-architecture)
  local of=$here
  if [[ ! -e $root/ready ]]; then
    if [[ $architecture != "$here" ]]; then
      include+=,crossbuild-essential-$architecture
      of+=,$architecture
    fi
    # The folder stays, which may be a link to another.
    mkdir -p "$root"
    find "$root/" -mindepth 1 -delete
    make_debian_root bookworm "$root" --variant=buildd --architectures="$of" --include="$include"
    touch "$root/ready"
  fi
  cp /etc/resolv.conf "$root/etc/resolv.conf"
}

# copy_sources REPOSITORY PLACE: the files that git knows or would add, as they are.
copy_sources() {
  local repository=$1 place=$2
  rm -rf "$place"
  mkdir -p "$place"
  git -C "$repository" ls-files -z --cached --others --exclude-standard |
    while IFS= read -r -d '' file; do
      [[ ! -e $repository/$file ]] || printf '%s\0' "$file"
    done | tar -C "$repository" --null -T - -c | tar -C "$place" -x
}

# machine_of ARCHITECTURE: its name in wheels' tags and in the names of compilers.
machine_of() {
  case $1 in
    amd64) echo x86_64 ;;
    arm64) echo aarch64 ;;
    *) return 1 ;;
  esac
}

# carry_pip ROOT: how this machine's pip reaches its packages.
carry_pip() {
  local root=$1 certificates
  [[ -e /etc/pip.conf ]] || return 0
  cp /etc/pip.conf "$root/etc/pip.conf"
  certificates=$(sed -n 's/^cert *= *//p' /etc/pip.conf)
  [[ -z $certificates ]] || install -D -m 644 "$certificates" "$root/$certificates"
}

# run_through_qemu ARCHITECTURE: from now on this machine's kernel runs the architecture's programs
# through qemu, in roots too. Where that was not so, it ends with the script.
run_through_qemu() {
  local name place=/proc/sys/fs/binfmt_misc
  case $1 in
    arm64) name=qemu-aarch64 ;;
    armhf) name=qemu-arm ;;
    amd64) name=qemu-x86_64 ;;
    *) return 1 ;;
  esac
  [[ -e $place/register ]] || mount -t binfmt_misc binfmt_misc "$place" || return 1
  [[ ! -e $place/$name ]] || return 0
  [[ -r /usr/lib/binfmt.d/$name.conf ]] || return 1
  cat "/usr/lib/binfmt.d/$name.conf" >"$place/register"
  # shellcheck disable=SC2064  # the name as it is now
  trap "echo -1 >$place/$name" EXIT
}

# take_trial [ARCHITECTURE]: of a script that tries what was built, `here`, this machine's architecture,
# and `architecture`, by default the same, with `most_seconds` that the trial may take. Programs of
# another run through qemu, without a limit.
take_trial() {
  here=$(dpkg --print-architecture)
  architecture=${1:-$here}
  most_seconds=120
  [[ $architecture != "$here" ]] || return 0
  run_through_qemu "$architecture" || die "$architecture needs the package qemu-user-static"
  # shellcheck disable=SC2034  # for the script
  most_seconds=never
}
