#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Who may include whom, between folders and between rooms: ARCHITECTURE.md, section "Folders"."""

import collections
import re
from pathlib import Path

from project import ROOT, Problems, files, read

# src/ in the order that data flows; a folder includes only folders before it.
ORDER = ["base", "problems", "graph", "ops", "formats", "passes", "autodiff", "training", "layout",
         "kernels", "catalogue", "source", "plan", "device", "launch", "run", "api", "tools"]
WHAT = ORDER[ORDER.index("graph"):ORDER.index("layout")]
HOW = ORDER[ORDER.index("layout"):ORDER.index("device")]
# Inside these folders a room (sub-folder) includes only rooms before it; "." is the folder itself.
ROOMS = {
    "src/base": ["numbers", ".", "text", "algebra", "files", "processes", "device"],
    "src/problems": [".", "movement", "products", "sequences"],
    "src/graph": [".", "architectures"],
    "src/ops": [".", "core", "math", "signals", "elementwise", "movement", "reduce", "nn", "composed", "quantised", "recurrent", "control", "ml"],
    "src/formats": [".", "onnx", "arrays", "datasets"],
    "src/passes": [".", "shapes", "conversion"],
    "src/training": ["ranks", "data", "files", "loop"],
    "src/plan": ["measured", "ir", "tasks", "policy", "cost", "kernel", "search", "lower", "single", ".", "split"],
    "src/device": ["open", "use", "workers", "probe"],
    "src/api": [".", "cache", "model", "compile", "inspect", "session", "segments", "training", "quantization", "c"],
    "src/tools": ["problems", "boards", "inspect", "tuning", "probing"],
    "cli": ["words", "common", "pages", "run", "bench", "check", "train", "model", "device", "reproduce", "shell", "."],
    "serve": ["limits", "protocol", "models", "common", "service", "http", "grpc", "."],
}
MOST_FILES = 40  # of a folder, directly
# Only these see OpenCL.
OPENCL_FOLDERS = ("src/device/", "tests/device/", "tests/faults/opencl_layer")
# Is for programs that call OpenCL themselves; no source of Morton includes it.
OF_OPENCL_USERS = "include/morton/mirror.hpp"
# A library of its own: libmorton must do without it.
TOOLS = ("morton/tools/", "device/probe/")
TOOLS_USERS = ("src/tools/", "src/device/probe/", "include/morton/tools/", "cli/", "tests/")
# Users of the library: they know its public headers only.
PUBLIC_ONLY = ("include/", "cli/", "serve/", "examples/", "bench/", "tests/consumer/")
# Measures what the public headers hide.
MEASURES_INSIDE = ("bench/planning.cpp", "bench/exchange.cpp")

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
        problems.add(path, 0, "src/kernels holds data only (.cl, .clh and .json)")


def check_between_folders(path, line, target, problems):
    """One include of src/`target`/ by a file in src/."""
    folder = folder_of(path)
    if folder not in ORDER or target == folder:
        return
    if ORDER.index(target) >= ORDER.index(folder):
        problems.add(path, line, f"{folder}/ may not include {target}/: it comes later")
    elif folder in WHAT and target in HOW:
        problems.add(path, line, f"{folder}/ (WHAT) may not include {target}/ (HOW)")


def room_of(path, folder):
    """The room of `folder` that a file is in; "." for the folder itself."""
    inside = path.relative_to(folder).parts
    return inside[0] if len(inside) > 1 else "."


def check_between_rooms(path, line, name, problems):
    """One quoted include by a file of a folder that has rooms."""
    for folder, rooms in ROOMS.items():
        if not path.is_relative_to(folder):
            continue
        if room_of(path, folder) not in rooms:
            problems.add(path, 0, f"is in no room of {folder} that this check names: {' '.join(rooms)}")
        target = Path(folder if folder in ("cli", "serve") else "src") / name
        if not target.is_relative_to(folder) or not (ROOT / target).is_file():
            return
        own, other = room_of(path, folder), room_of(target, folder)
        if own in rooms and other in rooms and rooms.index(other) > rooms.index(own):
            problems.add(path, line, f"{folder}/{own} may not include {folder}/{other}: it comes later")


def check_crowds(problems):
    """No folder holds more files than a reader sees at once; src/kernels and data are lists."""
    count = collections.Counter(path.parent for path in files(".cpp", ".hpp", ".c", ".h", ".def"))
    for folder, number in count.items():
        if number > MOST_FILES:
            problems.add(folder, 0, f"holds {number} files, at most {MOST_FILES}: give it rooms")


def check_file(path, problems):
    check_folder(path, problems)
    public_only = str(path).startswith(PUBLIC_ONLY) and str(path) not in MEASURES_INSIDE
    for line, text in enumerate(read(path).splitlines(), 1):
        match = INCLUDE.match(text)
        if not match:
            continue
        quote, name = match.groups()
        first = name.split("/")[0]
        opencl = first in ("CL", "OpenCL") or name == OF_OPENCL_USERS.removeprefix("include/")
        may_see_opencl = (*OPENCL_FOLDERS, OF_OPENCL_USERS, "examples/")
        if opencl and not str(path).startswith(may_see_opencl):
            problems.add(path, line, f"only {' and '.join(OPENCL_FOLDERS)} include OpenCL headers")
        if name == "onnx.pb.h" and not str(path).startswith(("src/formats/", "tests/")):
            problems.add(path, line, "only src/formats reads ONNX files")
        if name.startswith(TOOLS) and not str(path).startswith(TOOLS_USERS):
            problems.add(path, line, f"{name} is for tools: {' '.join(TOOLS_USERS)}")
        inside = first in ORDER and (ROOT / "src" / name).is_file()
        if inside and public_only:
            problems.add(path, line, f"may include public headers only, not {name}")
        elif inside and path.parts[0] == "src":
            check_between_folders(path, line, first, problems)
        if quote == '"':
            check_between_rooms(path, line, name, problems)
        if quote == '"' and not resolves(path, name):
            problems.add(path, line, f'"{name}" is not a file of the repository; '
                         "headers from outside stand in <>")


def resolves(path, name):
    """Whether a quoted include names a file of the repository, or one that the build writes."""
    if name in ("onnx.pb.h", "morton/version.hpp"):
        return True
    bases = [path.parent, "src", "include", "tests", "serve" if "serve" in path.parts[:3] else "cli"]
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
    check_crowds(problems)
    for path in files(".cpp", ".hpp", ".c", ".h"):
        check_file(path, problems)
    problems.finish()


main()
