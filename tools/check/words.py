#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No file names a path of somebody's own machine, and none is left unfinished."""

import re

from project import Problems, files, read

DENIED = [
    (re.compile(r"(?<![\w.])/(home|work|root|tmp/brief)/"), "names a path of one machine"),
    (re.compile(r"\b(TODO|FIXME|XXX)\b"), "is unfinished"),
]
# This file spells the words that it looks for.
SELF = "tools/check/words.py"
BINARY = (".gz", ".png", ".jpg", ".npy", ".npz", ".onnx", ".pb", ".bin")


def main():
    problems = Problems()
    for path in files():
        if str(path) == SELF or path.name.endswith(BINARY):
            continue
        for line, text in enumerate(read(path).splitlines(), 1):
            for pattern, what in DENIED:
                match = pattern.search(text)
                if match:
                    problems.add(path, line, f"{what}: {match.group()}")
    problems.finish()


main()
