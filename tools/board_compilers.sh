#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# tools/board_compilers.sh ROOT [BOARD PROGRAM [ARGUMENTS]]
#
# Runs a program where the GPU of a board is an OpenCL device that compiles and executes nothing: Mesa's
# compilers for Mali (Panfrost) and Adreno (Freedreno) behind its drm-shims, small libraries that pretend to
# be the kernel's driver. The compilers print statistics of each kernel and its machine code on stderr.
#
# BOARD names the GPU: g31, g52, g57, g310, g610, t860 (Mali), a618, a630, a660, a730, a740, a750 (Adreno).
#
#     tools/board_compilers.sh build/boards g610 build/morton devices
#
# The folder ROOT becomes a root of Debian 13 in which Mesa is built from Debian's source. That takes six
# minutes on two cores, 2 GB, and happens once; what was stopped goes on where it stopped. The program finds
# this repository under the path that it has here, and may write there. What it writes elsewhere is lost: the
# root's /tmp is emptied with each call.
#
# MORTON_BOARD_DEBUG takes the place of the compilers' own debug words (shaderdb,shaders): "" is quiet.
# MORTON_KERNEL_DIR and MORTON_CLBLAST_PARAMETERS count where they name what lies in this repository. PoCL is
# there too, as the second platform: what is to be executed runs on it.
#
# Run it as root on Debian with mmdebstrap installed. Packages come from where this machine's own apt gets
# Debian 12's.
set -euo pipefail
# shellcheck source=tools/debian_root.sh
source "$(dirname "$0")/debian_root.sh"

# The newest that Debian 13 has had; another one may print its statistics otherwise.
MESA=mesa-25.0.7

usage='usage: tools/board_compilers.sh ROOT [BOARD PROGRAM [ARGUMENTS]]; boards: g31 g52 g57 g310 g610 t860 a618 a630 a660 a730 a740 a750'
(($# == 1 || $# >= 3)) || die "$usage"
require_for_roots
repository=$(cd "$(dirname "$0")/.." && pwd)
root=$(realpath -m "$1")
[[ $root != / ]] || die "ROOT may not be /"

driver='' number=''
if (($# > 1)); then
  case $2 in
    t860) driver=panfrost number=0x860 ;;
    g31) driver=panfrost number=0x7093 ;;
    g52) driver=panfrost number=0x7212 ;;
    g57) driver=panfrost number=0x9093 ;;
    g310) driver=panfrost number=0xac74 ;;
    g610) driver=panfrost number=0xa867 ;;
    a618 | a630 | a660 | a730 | a740 | a750) driver=freedreno number=${2#a} ;;
    *) die "no board $2; boards are g31 g52 g57 g310 g610 t860 a618 a630 a660 a730 a740 a750" ;;
  esac
  program=$(realpath -e "$3") || die "no program $3"
  [[ $program == "$repository"/* ]] || die "$program lies outside of $repository"
  shift 3
fi

inside() {
  in_root "$root" "$repository" rw "$@"
}

packages=dpkg-dev,xz-utils,meson,ninja-build,gcc,g++,pkg-config,python3-mako,python3-yaml,python3-packaging
packages+=,python3-setuptools,bison,flex,libdrm-dev,llvm-19-dev,libclang-19-dev,libclang-cpp19-dev,clang-19
packages+=,libclc-19,libclc-19-dev,libllvmspirvlib-19-dev,spirv-tools,rustc,bindgen,rustfmt,glslang-tools
packages+=,zlib1g-dev,libexpat1-dev,libelf-dev,libzstd-dev,libxml2-dev,liblua5.3-dev,libarchive-dev
packages+=,ocl-icd-libopencl1,ocl-icd-opencl-dev,ca-certificates

mesa_options=(-Dbuildtype=release -Dplatforms= -Dglx=disabled -Degl=disabled -Dgles1=disabled
  -Dgles2=disabled -Dopengl=false -Dgbm=disabled -Dvulkan-drivers= '-Dgallium-drivers=panfrost,freedreno'
  -Dgallium-rusticl=true -Dtools=drm-shim -Dllvm=enabled -Dvideo-codecs= -Dvalgrind=disabled
  -Dlibunwind=disabled -Dlmsensors=disabled -Drust_std=2021 -Dfreedreno-kmds=msm)

# step NAME TEXT FUNCTION: once in this root.
step() {
  [[ ! -e $root/opt/done-$1 ]] || return 0
  echo "board_compilers: $2" >&2
  "$3" >&2 || die "$2: failed; the step begins anew with the next call"
  mkdir -p "$root/opt"
  touch "$root/opt/done-$1"
}

make_root() {
  rm -rf "${root:?}"
  (make_debian_root trixie "$root" --variant=apt --include="$packages") || return 1
  echo "deb-src $(debian_uri) trixie main" >"$root/etc/apt/sources.list.d/source.list"
}

fetch_mesa() {
  rm -rf "$root/opt/mesa"
  mkdir -p "$root/opt/mesa"
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  # apt's own user may not write there.
  inside bash -euc 'apt-get -q update && cd /opt/mesa && apt-get -q source -o APT::Sandbox::User=root mesa' || return 1
  [[ -d $root/opt/mesa/$MESA ]] || die "Debian 13 has another Mesa now: $(ls "$root/opt/mesa")"
}

configure_mesa() {
  rm -rf "$root/opt/mesa/build"
  inside meson setup "/opt/mesa/build" "/opt/mesa/$MESA" "${mesa_options[@]}"
}

# Kernels with tables of constants upload them as they are built, and that takes a fence. The shim has none: its
# answer lacks the file that stands for one, and the driver ends the process.
mend_shim() {
  # shellcheck disable=SC2016  # expanded by the inner bash
  inside bash -euc 'cd "/opt/mesa/$1/src/drm-shim"
    if ! grep -q drm_shim_ioctl_syncobj_to_fd device.c; then
      sed -i \
        -e "/^ioctl_fn_t core_ioctls/i static int\ndrm_shim_ioctl_syncobj_to_fd(int fd, unsigned long request, void *arg)\n{\n   ((struct drm_syncobj_handle *)arg)->fd = dup(fd);\n   return 0;\n}\n" \
        -e "/DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD/s/drm_shim_ioctl_stub/drm_shim_ioctl_syncobj_to_fd/" device.c
    fi
    [[ $(grep -c drm_shim_ioctl_syncobj_to_fd device.c) == 2 ]]' bash "$MESA"
}

# Malis from the G52 on multiply four bytes by four in one instruction (IDP), which Arm's own driver offers and Mesa's
# compiler knows only to print. docs/boards.md says what this makes of the figures. Files that have their part already,
# as after a call that was stopped, are left alone: what counts is that all have it in the end.
add_dot_products() {
  cp "$repository/tools/mesa_dot_products.patch" "$root/opt/mesa/"
  # shellcheck disable=SC2016  # expanded by the inner bash
  inside bash -euc 'cd "/opt/mesa/$1"
    is_there() { patch -R --dry-run -f -s -p1 -i ../mesa_dot_products.patch; }
    is_there >/dev/null || patch --forward -r - -p1 -i ../mesa_dot_products.patch || is_there' bash "$MESA"
}

build_mesa() {
  inside ninja -C /opt/mesa/build
}

install_pocl() {
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  inside apt-get -q -y --no-install-recommends install pocl-opencl-icd
}

if [[ -e $root && ! -e $root/opt/done-root && -n $(ls -A "$root") && ! -e $root/etc/debian_version ]]; then
  die "$root exists and is no root of board compilers; remove it or name another"
fi
step root "making a root of Debian 13" make_root
step fetch "fetching Mesa's source" fetch_mesa
step configure "configuring Mesa" configure_mesa
step mend "giving the drm-shim fences" mend_shim
step dots "giving Mali's compiler dot products of bytes" add_dot_products
step build-dots "building Mesa's compilers (1,103 steps)" build_mesa
step pocl "installing PoCL" install_pocl
[[ -n $driver ]] || exit 0

# A program of Debian 12 brings its libraries, but for those of the C and C++ languages and OpenCL's.
# Each repository has a folder of its own: an older build must not run with a newer one's.
libraries=/opt/libraries$repository
mkdir -p "$root$libraries"
{ ldd "$program" 2>/dev/null || true; } | awk '$2 == "=>" && $3 ~ /^\// && $1 !~ /^lib(c|m|gcc_s|stdc\+\+|OpenCL)\.so/ { print $3 }' |
  while read -r library; do
    cmp -s "$library" "$root$libraries/${library##*/}" && continue
    # Several of these may run at once: each puts a whole file in its place.
    cp -L "$library" "$root$libraries/.${library##*/}.$$"
    mv -f "$root$libraries/.${library##*/}.$$" "$root$libraries/${library##*/}"
  done
mkdir -p "$root/opt/vendors"
echo /opt/mesa/build/src/gallium/targets/rusticl/libRusticlOpenCL.so.1 >"$root/opt/vendors/rusticl.icd"
cp -u "$root/etc/OpenCL/vendors/pocl.icd" "$root/opt/vendors/"

settings=(OCL_ICD_VENDORS=/opt/vendors MESA_SHADER_CACHE_DISABLE=true RUSTICL_FEATURES=fp16
  "RUSTICL_ENABLE=$driver" "LD_LIBRARY_PATH=$libraries" MORTON_CACHE_DIR=/tmp/morton)
for name in MORTON_KERNEL_DIR MORTON_CLBLAST_PARAMETERS; do
  [[ -z ${!name-} ]] || settings+=("$name=$(realpath -e "${!name}")")
done
case $driver in
  panfrost)
    # Midgard's machine code names its units with the word "verbose" only.
    settings+=("PAN_GPU_ID=$number" "BIFROST_MESA_DEBUG=${MORTON_BOARD_DEBUG-shaderdb,shaders}"
      "MIDGARD_MESA_DEBUG=${MORTON_BOARD_DEBUG-shaderdb,shaders,verbose}"
      LD_PRELOAD=/opt/mesa/build/src/panfrost/drm-shim/libpanfrost_noop_drm_shim.so)
    ;;
  freedreno)
    settings+=("FD_GPU_ID=$number" FD_MESA_DEBUG="${MORTON_BOARD_DEBUG-shaderdb}" IR3_SHADER_DEBUG=cs
      LD_PRELOAD=/opt/mesa/build/src/freedreno/drm-shim/libfreedreno_noop_drm_shim.so)
    ;;
esac
status=0
inside "${settings[@]}" "$program" "$@" || status=$?
((status < 128)) || echo "board_compilers: signal $((status - 128)) ended $program; docs/boards.md says which kernels" \
  "end Mesa's compilers" >&2
exit "$status"
