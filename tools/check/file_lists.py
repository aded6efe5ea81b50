#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists and files agree:

- src/kernels: every entry names a .cl file beside it, every .cl file has an entry, every .clh file
  is included, and no file lies where the build does not embed it;
- src/ops/ops.def: one line, one file or row of a table, and one tests/cases file for every
  operator;
- tests: every test lies in a folder that becomes a program.
"""

import json
import re

from project import ROOT, Problems, files, read

TEST_FOLDERS = {"support", "host", "device", "model", "error", "plans", "consumer", "fuzz",
                "graphs", "faults"}


def check_kernels(problems):
    # Anything else below src/kernels would be missed by the build's pattern.
    named = set()
    kernels = [p for p in files() if p.parts[:2] == ("src", "kernels")]
    for path in kernels:
        if len(path.parts) != 4 or path.suffix not in (".cl", ".clh", ".json"):
            problems.add(path, 0, "src/kernels holds <family>/*.cl, *.clh and *.json only")
        elif path.suffix == ".json" and path.parts[2] not in ("tuned", "boards"):
            named |= sources_of(path, problems)
    for path in kernels:
        if path.suffix == ".cl" and path not in named:
            problems.add(path, 0, "is the source of no entry")
        if path.suffix == ".clh" and path not in named:
            problems.add(path, 0, "no entry includes it")


def sources_of(path, problems):
    """The .cl and .clh files that a .json file of src/kernels names; reports those that are absent."""
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
        for name in [entry["source"], *entry.get("include", [])]:
            # One of another family is named with that family's folder.
            source = (path.parent.parent if "/" in name else path.parent) / name
            found.add(source)
            if not (ROOT / source).is_file():
                problems.add(path, 0, f"names a file that does not exist: {source}")
    return found


def snake_case(name):
    """The stem of an operator's files: MaxPool's is max_pool, IsNaN's is_nan, ai.onnx.ml.Scaler's ai_onnx_ml_scaler."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.replace("NaN", "Nan")).lower().replace(".", "_")


DEFINITION = "src/ops/ops.def"
LISTED = re.compile(r"\s*MORTON_(?:OPERATOR\((\w+)\)|ROW\((\w+), (\w+)\)|ROW_OF\(([\w.]+), (\w+), (\w+)\))")
# A row of a table: `{"Abs", 6, ...`, `{.name = "DFT", ...`, `reduce_operator<...>("ReduceL1")`, `control_row("If"`, or a name with its
# domain, whoever makes it.
ROW = re.compile(r'^\s*(?:\{"([\w.]+)",\s+\d+,|\{\.name = "(\w+)"|\w+<.*>\("([\w.]+)"\)|control_row\("(\w+)"|(?:\w+\(|\{*\.name = )?"([a-z]\w*\.[\w.]+\.[A-Z]\w+)")', re.M)


def check_operators(problems):
    if not (ROOT / DEFINITION).is_file():
        return
    sources = [p for p in files(".cpp") if p.parts[:2] == ("src", "ops")]
    # What operators share has a header; files of operators have none, for ops.def declares them.
    homes = {p.stem: p for p in sources if not (ROOT / p.with_suffix(".hpp")).is_file()}
    cases = {p.stem: p for p in files(".cases")}
    rows = {}  # of each file, the operators that ops.def says are rows there
    for line, text in enumerate(read(DEFINITION).splitlines(), 1):
        match = LISTED.match(text)
        if not match:
            continue
        single, row, table, domain, other, other_table = match.groups()
        name = f"{domain}.{other}" if domain else row or single
        stem = table or other_table or snake_case(name)
        rows.setdefault(stem, set()).update(() if single else {name})
        if stem not in homes:
            problems.add(DEFINITION, line, f"{name}: src/ops holds no {stem}.cpp")
        # Control flow takes graphs, which no case can state.
        if not cases.pop(snake_case(name), None) and stem != "control_flow":
            problems.add(DEFINITION, line, f"{name} has no tests/cases/{snake_case(name)}.cases")
    for stem, path in homes.items():
        if stem not in rows:
            problems.add(path, 0, f"has no line in {DEFINITION}")
            continue
        found = {next(filter(None, names)) for names in ROW.findall(read(path))}
        for name in sorted(rows[stem] ^ found):
            problems.add(path, 0, f"{DEFINITION} and the rows here differ in {name}")
    for path in cases.values():
        problems.add(path, 0, f"has no line in {DEFINITION}")


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
