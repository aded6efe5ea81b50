#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds every kernel for every board with the board's own compiler, and prints what became of it.

Usage: tools/boards_report.py ROOT [BOARD ...]

ROOT is the root of tools/board_compilers.sh, which is made where it is absent. The program is build/morton. The
boards are all of data/boards, or those that are named. Each kernel is built in a process of its own, on its family's
example with its standard values, as `morton kernel NAME --stats` does. A compiler that crashes or takes longer
than a minute fails the kernel. Results go to build/boards-report/BOARD.json; a report that is whole is not made
again. The status is 1 where a kernel failed to build.
"""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import time

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
REPORTS = REPOSITORY / "build" / "boards-report"
# What the columns of efficiency show, a share of multiply-adds in the bound of the hot loop.
SHOWN = ["gemm.patch_panels", "gemm.patch_dots", "gemm.patch_image", "conv2d.depthwise_patch"]


def last_line(text):
    """What a program said last: its error."""
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else ""


def error_of(text):
    """The program's own message, else the last line."""
    said = [line for line in text.splitlines() if line.startswith("morton: ")]
    return said[-1].removeprefix("morton: ") if said else last_line(text)


def result_of(root, board, name):
    """What became of one kernel."""
    show = ["build/morton", "kernel", name, "--device-info", f"data/boards/{board}.json"]
    text = subprocess.run(show, cwd=REPOSITORY, capture_output=True, text=True)
    if text.returncode != 0:
        return {"kernel": name, "refused": error_of(text.stderr)}
    build = ["timeout", "60", "tools/board_compilers.sh", root, board, *show, "--stats", "--format", "json"]
    made = subprocess.run(build, cwd=REPOSITORY, capture_output=True, text=True)
    if made.returncode == 0:
        return {"kernel": name, "built": True, "statistics": json.loads(made.stdout)}
    # 128 and more: the shell's word for a signal, SIGABRT as a rule.
    why = error_of(made.stderr)
    if made.returncode == 124:
        why = "the compiler takes longer than a minute"
    elif made.returncode >= 128:
        why = f"the compiler dies of signal {made.returncode - 128}"
    return {"kernel": name, "built": False, "error": why}


def report_of(root, board):
    """The entries of the board's report; made where it is absent."""
    path = REPORTS / f"{board}.json"
    if path.exists():
        print(f"{board}: kept the report of {time.ctime(path.stat().st_mtime)}", file=sys.stderr)
        return json.loads(path.read_text())
    print(f"building for {board}", file=sys.stderr)
    listed = subprocess.run(["build/morton", "kernel", "--format", "json"], cwd=REPOSITORY, capture_output=True,
                            text=True, check=True)
    names = [name for family in json.loads(listed.stdout).values() for name in family]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        entries = list(pool.map(lambda name: result_of(root, board, name), names))
    path.write_text(json.dumps(entries, indent=1))
    return entries


def efficiency(kernel):
    """Of a kernel's hot loop, or of all of it where it has none."""
    statistics = kernel["statistics"]
    return (statistics["hot_loop"] or statistics["all"])["efficiency"]


def is_of_processors(entry):
    """Whether the refusal says that the kernel is not for GPUs of boards."""
    return "device.is_cpu" in entry["refused"] or "cuda" in entry["refused"]


def row_of(board, entries):
    """The board's line of the table."""
    refused = [entry for entry in entries if "refused" in entry]
    built = [entry for entry in entries if entry.get("built")]
    failed = [entry for entry in entries if entry.get("built") is False]
    spilling = [entry["kernel"] for entry in built if entry["statistics"]["spills"] > 0]
    by_name = {entry["kernel"]: entry for entry in built}
    shown = [f"{efficiency(by_name[name]):.2f}" if name in by_name else "-" for name in SHOWN]
    others = [entry for entry in refused if not is_of_processors(entry)]
    cells = [board, len(built), len(refused), len(others), len(failed), len(spilling), *shown]
    for entry in failed:
        print(f"{board}: {entry['kernel']}: {entry['error']}", file=sys.stderr)
    for name in spilling:
        print(f"{board}: {name} spills", file=sys.stderr)
    return "| " + " | ".join(str(cell) for cell in cells) + " |", len(failed)


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__.strip())
    root, boards = str(pathlib.Path(sys.argv[1]).resolve()), sys.argv[2:]
    known = sorted(path.stem for path in (REPOSITORY / "data" / "boards").glob("*.json"))
    for board in boards:
        if board not in known:
            sys.exit(f"boards_report: no board {board}; boards are {' '.join(known)}")
    REPORTS.mkdir(parents=True, exist_ok=True)
    # The root is made before kernels are built side by side.
    subprocess.run(["tools/board_compilers.sh", root], cwd=REPOSITORY, check=True)
    rows, failures = [], 0
    for board in boards or known:
        row, failed = row_of(board, report_of(root, board))
        rows.append(row)
        failures += failed
    head = ["board", "built", "refused", "of them not for processors or NVIDIA", "failed", "with spills", *SHOWN]
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    print("\n".join(rows))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
