#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds every kernel for every board with the board's own compiler, and compares with what the library ships.

Usage: tools/boards_report.py ROOT [--write] [--kernel NAME,NAME...] [BOARD ...]

ROOT is the root of tools/board_compilers.sh, which is made where it is absent. The program is build/morton. The
boards are all of data/boards, or those that are named. For each, `morton tune --static` builds all kernels with the
values of their tunables, and executes candidates on PoCL. Results go to build/boards-report; a report that is whole is
not made again. Then the table of docs/boards.md is printed.

src/kernels/boards has the statistics that plans use. The status is 1 where a kernel fails to build, a candidate is
wrong, or a kernel has become worse than it is there: more spills, fewer threads, or 5 % less static efficiency.
--write takes the new statistics over instead, and writes docs/boards_kernels.md where all boards were looked at.
--kernel looks at those kernels only, which takes minutes: for a kernel whose text has changed. A report of some kernels
is not kept.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
REPORTS = REPOSITORY / "build" / "boards-report"
SHIPPED = REPOSITORY / "src" / "kernels" / "boards"
KERNELS = REPOSITORY / "docs" / "boards_kernels.md"
# What the columns of efficiency show, a share of multiply-adds in the bound of the hot loop, at its best values.
SHOWN = ["gemm.patch_panels", "gemm.patch_dots", "gemm.patch_image", "conv2d.depthwise_patch"]
# With these vectors of more than four, Mesa's compiler for Midgard writes beyond its memory.
DIE_ON_MIDGARD = {"gemm.c18_v3_8", "gemm.c18_v3_8_f16", "gemm.c18_v3_16", "gemm.c18_v3_16_f16"}
LEAST_EFFICIENCY = 0.95


def known_to_die(board):
    """Kernels that end the board's compiler, by no fault of theirs."""
    return DIE_ON_MIDGARD if board.startswith("t") else set()


def report_of(root, board, kernels):
    """What `tune --static` says of the board and these kernels, or all; that is made where it is absent."""
    path = REPORTS / f"{board}.report.json"
    if path.exists() and not kernels:
        print(f"{board}: kept the report of {time.ctime(path.stat().st_mtime)}", file=sys.stderr)
        return json.loads(path.read_text())
    result = REPORTS / f"{board}.json"
    result.unlink(missing_ok=True)
    path.unlink(missing_ok=True)
    if kernels and (SHIPPED / result.name).exists():
        shutil.copy(SHIPPED / result.name, result)
    print(f"building for {board}", file=sys.stderr)
    command = ["tools/board_compilers.sh", root, board, "build/morton", "tune", "--static", "--device", "0:0",
               "--device-info", f"data/boards/{board}.json", "--output", str(result.relative_to(REPOSITORY)),
               "--format", "json", *(["--kernel", kernels] if kernels else [])]
    made = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    if made.returncode not in (0, 1) or not made.stdout.startswith("{"):
        sys.exit(f"boards_report: {board}: {made.stderr.strip()[-2000:]}")
    report = json.loads(made.stdout)
    if not kernels:
        path.write_text(json.dumps(report, indent=1))
    return report


def costs_of(path):
    """The statistics in a file, by kernel and values."""
    if not path.exists():
        return {}
    costs = json.loads(path.read_text())["static"]
    return {(cost["kernel"], json.dumps(cost["tunables"], sort_keys=True)): cost for cost in costs}


def what_is_worse(board):
    """A line for each kernel that has become worse than what the library ships."""
    before, now = costs_of(SHIPPED / f"{board}.json"), costs_of(REPORTS / f"{board}.json")
    lines = []
    for key, old in before.items():
        new = now.get(key)
        name = " ".join([old["kernel"], *(f"{k}={v}" for k, v in old["tunables"].items())])
        if new is None:
            lines.append(f"{board}: {name}: is left out now: it fails, spills, or others are better")
            continue
        if new["hash"] != old["hash"]:
            lines.append(f"{board}: {name}: is of another version of the kernel; --write renews it")
        if new["spills"] > old["spills"]:
            lines.append(f"{board}: {name}: {new['spills']} spills, {old['spills']} before")
        if new.get("threads", 0) < old.get("threads", 0):
            lines.append(f"{board}: {name}: threads {new['threads']}, {old['threads']} before")
        if new["efficiency"] < LEAST_EFFICIENCY * old["efficiency"]:
            lines.append(f"{board}: {name}: static efficiency {new['efficiency']}, {old['efficiency']} before")
    return lines


def faults_of(board, report):
    """A line for each candidate that is not built, or wrong."""
    lines = []
    for what in ("failed", "wrong"):
        for one in report[what]:
            if what == "failed" and one["kernel"] in known_to_die(board):
                continue
            lines.append(f"{board}: {one['kernel']} {one['tunables']}: {what}: {one['why']}")
    return lines


def efficiency(result):
    """Of a kernel's hot loop, or of all of it where it has none."""
    statistics = result["statistics"]
    return (statistics["hot_loop"] or statistics["all"])["efficiency"]


def is_of_processors(refusal):
    """Whether the refusal says that the kernel is not for GPUs of boards."""
    return "device.is_cpu" in refusal["why"] or "cuda" in refusal["why"]


def row_of(board, report):
    """The board's line of the table."""
    standard = [result for result in report["results"] if result["standard"]]
    spilling = [result["kernel"] for result in standard if result["statistics"]["spills"] > 0]
    others = [one for one in report["refused"] if not is_of_processors(one)]
    best = {}
    for result in report["results"]:
        best[result["kernel"]] = max(efficiency(result), best.get(result["kernel"], 0.0))
    shown = [f"{best[name]:.2f}" if name in best else "-" for name in SHOWN]
    failed = sorted({one["kernel"] for one in report["failed"]})
    for name in spilling:
        print(f"{board}: {name} spills", file=sys.stderr)
    cells = [board, len(standard), len(report["refused"]), len(others), len(failed), len(spilling), *shown]
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def cost_cell(kernel, report):
    """Of a kernel on a board: its least cost, or why there is none."""
    own = [result for result in report["results"] if result["kernel"] == kernel]
    if not own:
        return "x" if any(one["kernel"] == kernel for one in report["failed"]) else "-"
    best = min(own, key=lambda result: result["per_operation"])
    spills = "s" if best["statistics"]["spills"] else ""
    efficiency_text = f" ({efficiency(best):.2f})" if efficiency(best) >= 0.005 else ""
    return f"{best['per_operation']:.3g}{spills}{efficiency_text}"


def kernels_page(reports, kept_rows):
    """docs/boards_kernels.md, with the rows that are kept of other kernels."""
    kernels = sorted({result["kernel"] for report in reports.values() for result in report["results"]})
    head = ["kernel", *reports]
    lines = ["# Kernels by the compilers of boards", "",
             "`tools/boards_report.py ROOT --write` writes this page ([boards.md](boards.md) says how).", "",
             "A cell is the cost of one operation: how many multiply-adds the GPU could do meanwhile. A product costs 0.5 at",
             "best. It is of the family's example, with the values of least cost. The number behind it is their static",
             "efficiency. `s` stands for spills, `-` for a kernel that the board refuses, `x` for one that its compiler does not",
             "build.", "", "| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    rows = dict(kept_rows)
    for kernel in kernels:
        cells = [cost_cell(kernel, report) for report in reports.values()]
        rows[kernel] = f"| `{kernel}` | " + " | ".join(cells) + " |"
    return "\n".join([*lines, *(rows[kernel] for kernel in sorted(rows))]) + "\n"


def rows_of_page():
    """The rows of docs/boards_kernels.md, by kernel."""
    rows = {}
    for line in KERNELS.read_text().splitlines():
        if line.startswith("| `"):
            rows[line.split("`")[1]] = line
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", metavar="ROOT")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--kernel", metavar="NAME,NAME...", default="")
    parser.add_argument("boards", metavar="BOARD", nargs="*")
    options = parser.parse_args()
    root, boards = str(pathlib.Path(options.root).resolve()), options.boards
    known = sorted(path.stem for path in (REPOSITORY / "data" / "boards").glob("*.json"))
    for board in boards:
        if board not in known:
            sys.exit(f"boards_report: no board {board}; boards are {' '.join(known)}")
    boards = boards or known
    REPORTS.mkdir(parents=True, exist_ok=True)
    # The root is made before kernels are built side by side.
    subprocess.run(["tools/board_compilers.sh", root], cwd=REPOSITORY, check=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        reports = dict(zip(boards, pool.map(lambda board: report_of(root, board, options.kernel), boards)))
    faults = []
    for board, report in reports.items():
        own = faults_of(board, report)
        faults += own
        if options.write:
            if own:
                print(f"{board}: is not written, for its faults", file=sys.stderr)
                continue
            SHIPPED.mkdir(exist_ok=True)
            shutil.copy(REPORTS / f"{board}.json", SHIPPED / f"{board}.json")
        else:
            faults += what_is_worse(board)
    if options.write and boards == known:
        KERNELS.write_text(kernels_page(reports, rows_of_page() if options.kernel else {}))
    head = ["board", "kernels built", "refused", "refused for what the GPU lacks", "failed", "with spills", *SHOWN]
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for board, report in reports.items():
        print(row_of(board, report))
    print("\n".join(faults), file=sys.stderr)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
