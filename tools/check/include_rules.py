#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Who may include whom: the table of ARCHITECTURE.md, section "Folders", for every C++ file."""

import re

from project import ROOT, Problems, files, read

# src/ in the order that data flows; a folder includes only folders before it.
ORDER = ["base", "problems", "graph", "ops", "formats", "passes", "autodiff", "layout", "kernels",
         "catalogue", "source", "plan", "device", "launch", "tuning", "run", "training", "api"]
WHAT = ORDER[ORDER.index("graph"):ORDER.index("layout")]
HOW = ORDER[ORDER.index("layout"):ORDER.index("device")]
DO = ORDER[ORDER.index("device"):ORDER.index("training")]
# Only these see OpenCL.
OPENCL_FOLDERS = ("src/device/", "tests/device/")
# Users of the library: they know its public headers only.
PUBLIC_ONLY = ("include/", "cli/", "examples/", "bench/", "tests/consumer/")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def folder_of(path):
    """The folder of src/ that a file is in, or None."""
    return path.parts[1] if path.parts[0] == "src" and len(path.parts) > 2 else None


def check_folder(path, problems):
    folder = folder_of(path)
    if path.parts[0] != "src":
        return
    if folder not in ORDER:
        problems.add(path, 0, f"is in no folder of src/ that the order names: {' '.join(ORDER)}")
    elif folder == "kernels":
        problems.add(path, 0, "src/kernels holds data only (.cl and .json)")


def check_between_folders(path, line, target, problems):
    """One include of src/`target`/ by a file in src/."""
    folder = folder_of(path)
    if folder not in ORDER or target == folder:
        return
    if ORDER.index(target) >= ORDER.index(folder):
        problems.add(path, line, f"{folder}/ may not include {target}/: it comes later")
    elif folder in WHAT and target in HOW:
        problems.add(path, line, f"{folder}/ (WHAT) may not include {target}/ (HOW)")
    elif folder == "training" and target in DO:
        problems.add(path, line, f"training/ is of the host half and may not include {target}/")


def check_file(path, problems):
    check_folder(path, problems)
    public_only = str(path).startswith(PUBLIC_ONLY)
    for line, text in enumerate(read(path).splitlines(), 1):
        match = INCLUDE.match(text)
        if not match:
            continue
        quote, name = match.groups()
        first = name.split("/")[0]
        if first in ("CL", "OpenCL") and not str(path).startswith(OPENCL_FOLDERS):
            problems.add(path, line, f"only {' and '.join(OPENCL_FOLDERS)} include OpenCL headers")
        if name == "onnx.pb.h" and not str(path).startswith(("src/formats/", "tests/")):
            problems.add(path, line, "only src/formats reads ONNX files")
        inside = first in ORDER and (ROOT / "src" / name).is_file()
        if inside and public_only:
            problems.add(path, line, f"may include public headers only, not {name}")
        elif inside and path.parts[0] == "src":
            check_between_folders(path, line, first, problems)
        if quote == '"' and not resolves(path, name):
            problems.add(path, line, f'"{name}" is not a file of the repository; '
                         "headers from outside stand in <>")


def resolves(path, name):
    """Whether a quoted include names a file of the repository, or one that the build writes."""
    if name in ("onnx.pb.h", "morton/version.hpp"):
        return True
    bases = [path.parent, "src", "include", "tests", "cli"]
    return any((ROOT / base / name).is_file() for base in bases)


def check_table(problems):
    """The folder table of ARCHITECTURE.md names the same folders in the same order."""
    page = ROOT / "ARCHITECTURE.md"
    if not page.is_file():
        return
    table = re.findall(r"^\|\s*\d+\s*\|\s*`([a-z]+)/`", page.read_text(encoding="utf-8"), re.M)
    if table != ORDER:
        problems.add("ARCHITECTURE.md", 0,
                     f"folder table says {' '.join(table)}; this check says {' '.join(ORDER)}")


def main():
    problems = Problems()
    check_table(problems)
    for path in files(".cpp", ".hpp", ".h"):
        check_file(path, problems)
    problems.finish()


main()
