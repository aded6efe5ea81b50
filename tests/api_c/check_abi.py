#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_abi.py LIBRARY [--cc COMPILER] [--write]

The interface for C is what it was:
- the functions that the headers declare, those that src/api/c/morton.map lists and those that the
  library exports are the same;
- types, structs and functions of the headers are those that tests/api_c/morton.abi records
  (abidw and abidiff of Debian's abigail-tools). The record is of a C file with an empty body for each
  function, so no type of C++ is in it. That the library's bodies have these types the C++ compiler
  sees to, for they include the headers.

--write records the headers as they are. Do so only where abidiff finds nothing that breaks programs.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEADERS = sorted((ROOT / "include/morton/c").glob("*.h"))
RECORD = ROOT / "tests/api_c/morton.abi"
MAP = ROOT / "src/api/c/morton.map"
SKIPPED = 77
ABIDIFF_CHANGE, ABIDIFF_BREAKS = 4, 8


def declarations():
    """(name, text without the mark) of each function that the headers declare."""
    for header in HEADERS:
        text = re.sub(r"//[^\n]*|/\*.*?\*/|^\s*#[^\n]*", "", header.read_text(encoding="utf-8"),
                      flags=re.S | re.M)
        for text in re.findall(r"\bMORTON_C_API\s+([^;]+);", text):
            yield re.search(r"\b(morton_\w+)\s*\(", text)[1], text


def listed():
    """The functions of the map, with the version in which each came."""
    text = re.sub(r"/\*.*?\*/", "", MAP.read_text(encoding="utf-8"), flags=re.S)
    versions = {}
    for version, body in re.findall(r"(\S+)\s*\{(.*?)\}", text, re.S):
        versions |= {name: version for name in re.findall(r"\b(morton_\w+)\s*;", body)}
    return versions


def exported(library):
    """Names that are no C++ ones, which the library exports, with their versions."""
    lines = subprocess.run(["nm", "-D", "--defined-only", library], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    symbols = [line.split()[-2:] for line in lines]
    names = [name for kind, name in symbols if kind != "A" and not name.startswith("_")]
    return {name.split("@")[0]: name.rsplit("@", 1)[-1] if "@" in name else "" for name in names}


def check_names(library):
    """Returns what differs, one line each."""
    problems = []
    declared, versions, there = {name for name, _ in declarations()}, listed(), exported(library)
    for name in sorted(declared ^ set(versions)):
        problems.append(f"{name}: in {'the headers' if name in declared else MAP.name} only")
    for name in sorted(set(versions) ^ set(there)):
        problems.append(f"{name}: {'exported, but not in' if name in there else 'in'} {MAP.name}"
                        + ("" if name in there else ", but not exported"))
    for name in sorted(set(versions) & set(there)):
        if versions[name] != there[name]:
            problems.append(f"{name}: has the version '{there[name]}', not {versions[name]}")
    return problems


def describe(compiler, folder):
    """The headers' types and functions as abidw writes them: a file in `folder`."""
    source, library, record = folder / "empty.c", folder / "empty.so", folder / "morton.abi"
    bodies = [f"{text} {{{'' if text.startswith('void ') else ' return 0; '}}}\n"
              for _, text in declarations()]
    source.write_text("#include <morton/morton.h>\n" + "".join(bodies), encoding="utf-8")
    subprocess.run([compiler, "-std=c99", "-g", "-O0", "-fPIC", "-shared", "-w",
                    f"-I{ROOT}/include", str(source), "-o", str(library)], check=True)
    text = subprocess.run(["abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs",
                           "--no-elf-needed", "--type-id-style", "hash", str(library)],
                          check=True, capture_output=True, text=True).stdout
    # The compiler's name and the file's say nothing.
    text = re.sub(r" path='[^']*'", " path='morton.h'", text)
    record.write_text(text, encoding="utf-8")
    return record


def check_types(compiler, write):
    """Returns what differs from the record; None where that cannot be told, after saying why."""
    try:
        subprocess.run(["abidw", "--version"], check=True, capture_output=True)
    except FileNotFoundError:
        print("abidw is not installed (Debian: abigail-tools): types are not compared")
        return None
    machine = subprocess.run([compiler, "-dumpmachine"], check=True, capture_output=True,
                             text=True).stdout.strip()
    if not machine.startswith("x86_64"):
        print(f"the record is of x86_64, the compiler is for {machine}: types are not compared")
        return None
    with tempfile.TemporaryDirectory() as name:
        now = describe(compiler, Path(name))
        if write:
            RECORD.write_bytes(now.read_bytes())
            return []
        found = subprocess.run(["abidiff", str(RECORD), str(now)], capture_output=True, text=True,
                               check=False)
    if found.returncode == 0:
        return []
    if found.returncode & ABIDIFF_BREAKS:
        what = "programs that were compiled before break"
    elif found.returncode & ABIDIFF_CHANGE:
        what = "see whether programs that were compiled before work; if so, run this with --write"
    else:
        what = "abidiff failed"
    return [found.stdout + found.stderr, f"{RECORD.name} differs: {what}"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    problems = check_names(arguments.library)
    types = check_types(arguments.cc, arguments.write)
    for problem in problems + (types or []):
        print(problem)
    if problems or types:
        sys.exit(1)
    print(f"{len(listed())} functions are as the headers and {MAP.name} say")
    sys.exit(SKIPPED if types is None else 0)


main()
