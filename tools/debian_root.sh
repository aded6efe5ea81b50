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
