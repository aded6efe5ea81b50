#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""debian/libmorton0.symbols lists the functions of the interface for C, as src/api/c/morton.map does."""

import re
from pathlib import Path

from project import Problems, read

MAP = Path("src/api/c/morton.map")
SYMBOLS = Path("debian/libmorton0.symbols")


def functions_of_map():
    """name@version of each function."""
    version, names = "", set()
    for line in read(MAP).splitlines():
        node = re.match(r"(\w[\w.]*) \{", line)
        if node:
            version = node.group(1)
            names.add(f"{version}@{version}")
        name = re.match(r"    (morton_\w+);$", line)
        if name:
            names.add(f"{name.group(1)}@{version}")
    return names


def main():
    problems = Problems()
    listed = set(re.findall(r"^ ([\w.]+@[\w.]+) ", read(SYMBOLS), re.MULTILINE))
    for name in sorted(functions_of_map() ^ listed):
        problems.add(SYMBOLS, 1, f"{name} is {'listed, but not' if name in listed else 'not listed, but'} in {MAP}")
    problems.finish()


main()
