#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Code names a family of problems as families::gemm, which the compiler checks, not as a text."""

import re

from project import Problems, files, read

# Here a family's own name is made of its line in families.def.
HOME = "src/problems/"
COMPARES = re.compile(r'family(?:\(\)|\.name\(\)|_name)? *[!=]= *"|" *[!=]= *[\w.>()-]*family\b')
SEARCHES = re.compile(r'\buse\w*\.find\("')
ASSIGNS = re.compile(r'\bproblem\.family = "|\bTunedProblem\{"')


def main():
    problems = Problems()
    for path in files(".cpp", ".hpp"):
        if str(path).startswith(HOME):
            continue
        for line, text in enumerate(read(path).splitlines(), 1):
            if any(one.search(text) for one in (COMPARES, SEARCHES, ASSIGNS)):
                problems.add(path, line, "names a family of problems by a text; write families::NAME")
    problems.finish()


main()
