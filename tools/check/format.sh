#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every C++ file is as clang-format leaves it; ./dev fmt mends it.
set -euo pipefail
cd "$(dirname "$0")/../.."
git ls-files -z --cached --others --exclude-standard -- '*.cpp' '*.hpp' |
  xargs -0 -r clang-format --dry-run -Werror
