#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists and files agree:

- src/kernels: every entry names a .cl file beside it, every .cl file has an entry, and no file
  lies where the build does not embed it;
- src/ops/ops.def: one line, one .cpp file and one tests/cases file for every operator;
- tests: every test lies in a folder that becomes a program.
"""

import json
import re

from project import ROOT, Problems, files, read

TEST_FOLDERS = {"support", "host", "device", "model", "error", "plans", "consumer"}


def check_kernels(problems):
    # Anything else below src/kernels would be missed by the build's pattern.
    named = set()
    kernels = [p for p in files() if p.parts[:2] == ("src", "kernels")]
    for path in kernels:
        if len(path.parts) != 4 or path.suffix not in (".cl", ".json"):
            problems.add(path, 0, "src/kernels holds <family>/*.cl and <family>/*.json only")
        elif path.suffix == ".json" and path.parts[2] != "tuned":
            named |= sources_of(path, problems)
    for path in kernels:
        if path.suffix == ".cl" and path not in named:
            problems.add(path, 0, "is the source of no entry")


def sources_of(path, problems):
    """The .cl files that a .json file of src/kernels names; reports those that are absent."""
    try:
        content = json.loads(read(path))
    except json.JSONDecodeError as error:
        problems.add(path, error.lineno, f"is not JSON: {error.msg}")
        return set()
    entries = content if isinstance(content, list) else [content]
    found = set()
    for entry in entries:
        if "source" not in entry:
            continue
        source = path.parent / entry["source"]
        found.add(source)
        if not (ROOT / source).is_file():
            problems.add(path, 0, f"names a source that does not exist: {source}")
    return found


def snake_case(name):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def check_operators(problems):
    definition = ROOT / "src/ops/ops.def"
    if not definition.is_file():
        return
    listed = {}
    for line, text in enumerate(read("src/ops/ops.def").splitlines(), 1):
        match = re.match(r"\s*\w+\(\s*\"?(\w+)", text)
        if match and not text.lstrip().startswith(("#", "//")):
            listed[snake_case(match.group(1))] = line
    for name, line in listed.items():
        for path in (f"src/ops/{name}.cpp", f"tests/cases/{name}.cases"):
            if not (ROOT / path).is_file():
                problems.add("src/ops/ops.def", line, f"{name} has no {path}")
    for path in files(".cpp", ".cases"):
        # What operators share has a header; an operator has none, for ops.def declares it.
        operator = (path.parts[:2] == ("src", "ops")
                    and not (ROOT / path.with_suffix(".hpp")).is_file())
        if (operator or path.suffix == ".cases") and path.stem not in listed:
            problems.add(path, 0, "has no line in src/ops/ops.def")


def check_tests(problems):
    for path in files(".cpp"):
        if path.parts[0] == "tests" and path.parts[1] not in TEST_FOLDERS:
            problems.add(path, 0, f"no test program takes it in; there are {sorted(TEST_FOLDERS)}")


def main():
    problems = Problems()
    check_kernels(problems)
    check_operators(problems)
    check_tests(problems)
    problems.finish()


main()
