#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every C and C++ file is as clang-format leaves it; prints the first line of each that is not.
set -euo pipefail
cd "$(dirname "$0")/../.."
clang-format --version >/dev/null
problems=$(git ls-files -z --cached --others --exclude-standard -- '*.cpp' '*.hpp' '*.c' '*.h' |
  xargs -0 -r clang-format --dry-run -Werror 2>&1 |
  grep -E '^[^ ].*: error: ' | sort -t: -u -k1,1 | cut -d: -f1,2) || true
if [[ -n $problems ]]; then
  printf '%s\n' "$problems"
  echo "these lines are not as clang-format leaves them; ./dev fmt mends them"
  exit 1
fi
