#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds every kernel for every board with the board's own compiler, and prints what became of it.

Usage: tools/boards_report.py ROOT [BOARD ...]

ROOT is the root of tools/board_compilers.sh, which is made where it is absent. The program is build/morton. The
boards are all of data/boards, or those that are named. Each board's report goes to build/boards-report/BOARD.json,
as `morton compile --all --build-only --format json` writes it; one that is there is not made again, so that a
stopped run goes on. The status is 1 where a kernel failed to build.
"""
import json
import pathlib
import subprocess
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
REPORTS = REPOSITORY / "build" / "boards-report"
# What the columns of efficiency show, a share of multiply-adds in the bound of the hot loop.
SHOWN = ["gemm.patch_panels", "gemm.patch_dots", "gemm.patch_image", "conv2d.depthwise_patch"]


def report_of(root, board):
    """The entries of the board's report; made where it is absent."""
    path = REPORTS / f"{board}.json"
    if not path.exists():
        print(f"building for {board}", file=sys.stderr)
        made = path.with_suffix(".part")
        command = ["tools/board_compilers.sh", root, board, "build/morton", "compile", "--all", "--build-only",
                   "--device-info", f"data/boards/{board}.json", "--format", "json", "--output", str(made)]
        # Status 1: a kernel failed, which the report says.
        status = subprocess.run(command, cwd=REPOSITORY, stdout=subprocess.DEVNULL).returncode
        if status not in (0, 1) or not made.exists():
            sys.exit(f"boards_report: {board}: {' '.join(command)} ended with status {status}")
        made.rename(path)
    return json.loads(path.read_text())


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
        print(f"{board}: {entry['kernel']}: {entry['error'].splitlines()[0]}", file=sys.stderr)
    for name in spilling:
        print(f"{board}: {name} spills", file=sys.stderr)
    return "| " + " | ".join(str(cell) for cell in cells) + " |", len(failed)


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__.strip())
    root, boards = sys.argv[1], sys.argv[2:]
    known = sorted(path.stem for path in (REPOSITORY / "data" / "boards").glob("*.json"))
    for board in boards:
        if board not in known:
            sys.exit(f"boards_report: no board {board}; boards are {' '.join(known)}")
    REPORTS.mkdir(parents=True, exist_ok=True)
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
