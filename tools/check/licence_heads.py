#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every source file says its licence in its first three lines."""

from project import Problems, files, read

SUFFIXES = (".cpp", ".hpp", ".c", ".h", ".map", ".rs", ".cl", ".clh", ".def", ".py", ".sh", ".cmake", ".in", ".cases",
            "CMakeLists.txt", ".clang-format")
OTHERS = ("dev", ".ci/run")


def main():
    problems = Problems()
    paths = files(*SUFFIXES) + [p for p in files() if str(p) in OTHERS]
    for path in paths:
        if path.name == "morton.pc.in":
            continue
        head = read(path).splitlines()[:3]
        if not any("SPDX-License-Identifier: Apache-2.0" in line for line in head):
            problems.add(path, 1, "has no line 'SPDX-License-Identifier: Apache-2.0' at its head")
    problems.finish()


main()
