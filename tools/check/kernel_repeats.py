#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kernels share text: at most MOST of the lines of src/kernels stand in five lines or more that another file has too,
word for word. Comments, blank lines, indentation and lines of lone braces do not count. With a path it lists that
file's lines."""

import collections
import re
import sys

from project import Problems, files, read

WINDOW = 5
MOST = 0.05
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)


def code_of(path):
    """(number, text) of each line of code."""
    text = COMMENT.sub(lambda found: "\n" * found.group().count("\n"), read(path))
    lines = ((number, " ".join(line.split())) for number, line in enumerate(text.splitlines(), 1))
    return [(number, line) for number, line in lines if line.strip("{} ")]


def main():
    problems = Problems()
    code = {path: code_of(path) for path in files(".cl", ".clh") if path.parts[:2] == ("src", "kernels")}
    homes = collections.defaultdict(set)

    def windows(path):
        lines = [line for _, line in code[path]]
        return [tuple(lines[i:i + WINDOW]) for i in range(len(lines) - WINDOW + 1)]

    for path in code:
        for window in windows(path):
            homes[window].add(path)
    repeated = {}
    for path, lines in code.items():
        here = {i + k for i, window in enumerate(windows(path)) if len(homes[window]) > 1 for k in range(WINDOW)}
        repeated[path] = [lines[i] for i in sorted(here)]
    by_name = {str(path): found for path, found in repeated.items()}
    for path in sys.argv[1:]:
        if path not in by_name:
            problems.add(path, 0, "is no .cl or .clh file of src/kernels (src/kernels/FAMILY/NAME.cl)")
        for number, line in by_name.get(path, []):
            print(f"{path}:{number}: {line}")
    count, total = sum(map(len, repeated.values())), sum(map(len, code.values()))
    if count > MOST * total:
        for path, lines in sorted(repeated.items(), key=lambda one: -len(one[1])):
            if lines:
                problems.add(path, lines[0][0], f"{len(lines)} of {len(code[path])} lines of code stand elsewhere too")
        print(f"src/kernels: {count} of {total} lines of code ({count / total:.1%}) are repeated; at most {MOST:.0%} may be")
    problems.finish()


main()
