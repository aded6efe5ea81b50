#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# tools/try_wheel.sh [ARCHITECTURE]
#
# Installs the wheel that tools/wheels.sh has built for this machine in a bare root of Debian 12 with
# python3 and its venv and nothing else, as a user who is not root, and runs a script of ten lines.
# Without a driver the script must end with one clear error. With a driver it must classify a digit:
# that of morton[cpu] on amd64, and Debian's PoCL elsewhere. Prints what that takes, and fails where it
# is more than 120 seconds. The root, build-wheels/root-try, is made anew each time.
#
# Another architecture's (arm64) runs through qemu, without a limit of time. Run it as root, with
# mmdebstrap installed, and for another architecture qemu-user-static.
set -euo pipefail
# shellcheck source=tools/debian_root.sh
source "$(dirname "$0")/debian_root.sh"

repository=$(cd "$(dirname "$0")/.." && pwd)
root=$repository/build-wheels/root-try
[[ $# -le 1 && ${1:-} =~ ^(|amd64|arm64)$ ]] || die "usage: ./dev wheel --try [amd64|arm64]"
require_for_roots
take_trial "$@"
wheel=$(compgen -G "$repository/build-wheels/morton-*_$(machine_of "$architecture").whl") ||
  die "there is no wheel for $architecture in build-wheels: tools/wheels.sh builds it"
# What brings a driver: an extra of the wheel, or a package of Debian.
if [[ $architecture == amd64 ]]; then extra="[cpu]" package=""; else extra="" package=pocl-opencl-icd; fi

make_trial_root "$root" --architectures="$architecture" --include=python3-venv,ca-certificates
carry_pip "$root"
mkdir -p "$root/srv/user"
cp "$wheel" "$repository/models/lenet5.onnx" "$repository/examples/data/digit_7.png" "$root/srv/user/"
cat >"$root/srv/user/digit.py" <<'END'
import time
import morton as ort

started = time.monotonic()
session = ort.InferenceSession("lenet5.onnx")
port = session.get_inputs()[0]
picture = ort.picture_to_input("digit_7.png", port.shape)
shares, = session.run(None, {port.name: picture})
print(f"a {shares.argmax()}, sure by {100 * shares.max():.2f} %, after {time.monotonic() - started:.1f} s")
print(f"on {session.device.name}")
END
chroot "$root" useradd --home-dir /srv/user user
chroot "$root" chown -R user:user /srv/user

# shellcheck disable=SC2016  # expanded by the inner bash
in_root "$root" "$repository" ro most="$most_seconds" extra="$extra" package="$package" \
  DEBIAN_FRONTEND=noninteractive bash -euo pipefail -c '
  as_user() { setpriv --reuid user --regid user --clear-groups env HOME=/srv/user "$@"; }
  cd /srv/user
  started=$SECONDS
  as_user python3 -m venv plain
  as_user plain/bin/pip --quiet --disable-pip-version-check install ./*.whl
  echo "pip install: $((SECONDS - started)) s"
  if as_user plain/bin/python digit.py >out 2>error; then echo "a driver was found where none is" >&2; exit 1; fi
  tail -n 1 error
  grep -q "no OpenCL device is found.*extra \[cpu\]" error || { cat error >&2; exit 1; }
  started=$SECONDS
  if [[ -n $package ]]; then
    { apt-get update -qq && apt-get install -y --no-install-recommends "$package"; } </dev/null >install.log 2>&1 ||
      { tail -n 20 install.log >&2; exit 1; }
  fi
  as_user python3 -m venv with_driver
  wheel=$(echo ./*.whl)
  as_user with_driver/bin/pip --quiet --disable-pip-version-check install "$wheel$extra"
  installed=$SECONDS
  as_user with_driver/bin/python digit.py | tee answer
  grep -q "^a 7, " answer || { echo "the answer is wrong" >&2; exit 1; }
  ended=$SECONDS
  echo "pip install with ${extra:-$package}: $((installed - started)) s; the script: $((ended - installed)) s"
  [[ $most == never ]] || ((ended - started <= most)) || { echo "that is more than $most s" >&2; exit 1; }'
