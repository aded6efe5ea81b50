#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many sources of src/ and cli/ read a header that takes long to read. A header of ours that
includes one gives it to all its readers: declare in the header, include in the source."""

import re

from project import ROOT, Problems, files, read

# Header -> the most sources that may reach it. Lower a limit when a change allows it.
LIMITS = {
    "nlohmann/json.hpp": 112,
    "CL/opencl.hpp": 81,
    "filesystem": 288,
    "functional": 418,
    "unordered_map": 8,
    "iostream": 0,
    "regex": 0,
}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def includes_of(path):
    """Names of the headers from outside, and paths of our own, that a file includes itself."""
    outside, own = set(), set()
    for quote, name in INCLUDE.findall(read(path)):
        found = None
        for base in ("src", "include", "cli"):
            if (ROOT / base / name).is_file():
                found = f"{base}/{name}"
                break
        if found:
            own.add(found)
        elif quote == "<":
            outside.add(name)
    return outside, own


def main():
    problems = Problems()
    direct = {str(path): includes_of(path) for path in files(".cpp", ".hpp")
              if str(path).startswith(("src/", "include/", "cli/"))}

    def reached(path, seen):
        if path in seen or path not in direct:
            return set()
        seen.add(path)
        outside, own = direct[path]
        return outside.union(*(reached(other, seen) for other in own))

    count = dict.fromkeys(LIMITS, 0)
    for path in direct:
        if path.endswith(".cpp") and not path.startswith("include/"):
            for name in reached(path, set()) & LIMITS.keys():
                count[name] += 1
    for name, limit in LIMITS.items():
        if count[name] > limit:
            problems.add("tools/check/heavy_headers.py", 0,
                         f"{count[name]} sources reach <{name}>, at most {limit}: include it in "
                         "sources, not in headers")
    problems.finish()


main()
