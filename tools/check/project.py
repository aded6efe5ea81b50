# SPDX-License-Identifier: Apache-2.0
"""What the checks of this folder share: the repository's files and a list of problems."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def files(*suffixes):
    """Sorted paths, relative to ROOT, of the files that git tracks or would add."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True).stdout
    paths = sorted({pathlib.PurePosixPath(name) for name in listing.split("\0") if name})
    return [p for p in paths
            if (not suffixes or p.name.endswith(suffixes)) and (ROOT / p).is_file()]


def read(path):
    """The text of a file of the repository."""
    return (ROOT / path).read_text(encoding="utf-8")


class Problems:
    """Prints each problem as it is found; finish() ends the check."""

    def __init__(self):
        self.count = 0

    def add(self, path, line, text):
        """Reports `text` at a 1-based line of a file; line 0 stands for the whole file."""
        self.count += 1
        where = f"{path}:{line}" if line else f"{path}"
        print(f"{where}: {text}")

    def finish(self):
        sys.exit(1 if self.count else 0)
