#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Single operators at sizes of real networks (bench/operators_table.py) beside ONNX Runtime, in turns as
`./dev bench networks` takes them: checks each against ONNX Runtime first, prints the table with the command for each
number, and appends a record to bench/history/operators.

The status is 1 when an operator gives wrong numbers or a run fails; a missed target is no failure."""

import argparse
import pathlib
import subprocess
import sys

import common
import operators_table
from common import ROOT, say
from contenders import Answering, Morton, measure
from gemm_table import geometric_mean
from networks import PEER_PROGRAM, device_words

sys.path.insert(0, str(ROOT / "tools"))
import real_models  # noqa: E402

MEAN = 1.0
FILES_PROGRAM = ROOT / "bench" / "operators_files.py"
# Prints what is wrong: an element that is off by a thousandth of its own magnitude and 5e-5 of the greatest. ONNX
# Runtime resizes by places in f32, and is up to 2e-5 off the result in double, where Morton is 3e-7 off.
COMPARE = """
import sys
import numpy as np
want, have = np.load(sys.argv[1])["output_0"], np.load(sys.argv[2])["y"]
if want.shape != have.shape:
    sys.exit(print(f"shape {have.shape}, expected {want.shape}"))
wrong = ~(np.abs(have - want) <= 1e-3 * np.abs(want) + 5e-5 * np.abs(want).max())
if wrong.any():
    print(f"{wrong.sum()} of {want.size} elements differ")
"""


def checked(model, case, options):
    """What is wrong with our numbers, or nothing."""
    expected, got = (str(model.with_suffix(suffix)) for suffix in (".expected.npz", ".got.npz"))
    words = [options.program, "run", str(model), "-o", got, *device_words(options)]
    for name, file in real_models.given_files(model, case.inputs).items():
        words += ["-i", f"{name}:{file}"]
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    if ran.returncode:
        return (ran.stderr.strip().splitlines() or [f"status {ran.returncode}"])[-1]
    compared = subprocess.run([options.peer_python, "-c", COMPARE, expected, got], capture_output=True, text=True,
                              check=False)
    if compared.returncode:
        return compared.stderr.strip().splitlines()[-1]
    return compared.stdout.strip()


def openers_of(model, case, options):
    given = [word for name, file in real_models.given_files(model, case.inputs).items()
             for word in ("--input", f"{name}:{file}")]
    ours = [options.program, "bench", str(model), *device_words(options)]
    theirs = [options.peer_python, PEER_PROGRAM, "onnxruntime", model, *given, "--threads", options.threads]
    return {"ours": ("morton", lambda: Morton(ours, "morton")),
            "theirs": ("onnxruntime", lambda: Answering(theirs))}


def row_of(number, case, options):
    model = options.folder / f"{number}.onnx"
    row = {"target": f"{case.op}, {case.title}", "group": case.group, "wanted": MEAN, "number": None,
           "verdict": "not measured", "why": "", "times": {}}
    say(row["target"])
    row["why"] = checked(model, case, options)
    if row["why"]:
        row["verdict"] = "wrong"
        return row
    row["times"], absent = measure(openers_of(model, case, options), options.rounds)
    for one in row["times"].values():
        del one["result"]
    row["why"] = "; ".join(absent.values())
    if not absent:
        row["number"] = row["times"]["theirs"]["ms"] / row["times"]["ours"]["ms"]
        row["verdict"] = "hit" if row["number"] >= MEAN else "miss"
    return row


def mean_row(title, rows):
    numbers = [row["number"] for row in rows if row["number"] is not None]
    row = {"target": f"{title}, against ONNX Runtime, geometric mean of {len(numbers)}", "wanted": MEAN, "number": None,
           "verdict": "not measured", "why": "" if len(numbers) == len(rows) else "not all of its rows", "times": {}}
    if numbers and len(numbers) == len(rows):
        row["number"] = geometric_mean(numbers)
        row["verdict"] = "hit" if row["number"] >= MEAN else "miss"
    return row


def with_means(rows):
    """The rows, then a mean for each group, and one of all."""
    groups = dict.fromkeys(row["group"] for row in rows)
    means = [mean_row(group, [row for row in rows if row["group"] == group]) for group in groups]
    return [*rows, *means, mean_row("operators", rows)]


def line_of(row):
    measured = "n/a" if row["number"] is None else f"{row['number']:.3g}"
    return common.Line(row["target"], f">= {row['wanted']}", measured, row["verdict"])


def print_tables(rows):
    common.print_lines(line_of(row) for row in rows)
    print("\n| who | median ms | quickest ms | command |\n|---|---|---|---|")
    for row in rows:
        for one in row["times"].values():
            print(f"| {one['version']} | {one['ms']:.3f} | {one['best_ms']:.3f} | `{one['command']}` |")
    for row in rows:
        if row["why"]:
            print(f"\n{row['verdict']}: \"{row['target']}\": {row['why']}")


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(prog="./dev bench operators", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-d", "--device", default="", help="as of morton; else a GPU, if there is one")
    parser.add_argument("--quick", action="store_true", help="two rounds")
    parser.add_argument("--rounds", type=int, default=0, help="turns of each (5)")
    parser.add_argument("--only", default="", metavar="TEXT", help="operators whose group, name or title holds this")
    parser.add_argument("--threads", type=int, default=2, help="of ONNX Runtime (2)")
    parser.add_argument("--peer-python", default=sys.executable, metavar="PROGRAM",
                        help="interpreter with numpy, onnx and onnxruntime")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("build/operators"),
                        help="where models and their inputs go (%(default)s)")
    parser.add_argument("--history", default=str(ROOT / "bench" / "history" / "operators"), metavar="FOLDER",
                        help="where the record goes (bench/history/operators)")
    parser.add_argument("--program", default="build/morton", help="build/morton")
    options = parser.parse_args(arguments)
    options.rounds = options.rounds or (2 if options.quick else 5)
    return options


def run(arguments):
    """(status, lines for ./dev bench all)"""
    options = parse_arguments(arguments)
    chosen = {number: case for number, case in enumerate(operators_table.CASES)
              if options.only in f"{case.group} {case.op} {case.title}"}
    if not chosen:
        common.fail("operators", f"--only {options.only}: no operator's group, name or title holds this")
    load = common.checked_load()
    device = common.device_facts(options, "operators")
    made = subprocess.run([options.peer_python, FILES_PROGRAM, options.folder, *map(str, chosen)], capture_output=True,
                          text=True, check=False)
    if made.returncode:
        common.fail("operators", f"--peer-python {options.peer_python}: {made.stderr.strip().splitlines()[-1]}")
    rows = with_means([row_of(number, case, options) for number, case in chosen.items()])
    print(f"{common.title_of(device)}\n")
    print_tables(rows)
    common.append_record({**common.record_head(device, 1, load), "rounds": options.rounds, "targets": rows},
                         options.history)
    return (1 if any(row["verdict"] in ("not measured", "wrong") for row in rows) else 0), [line_of(row) for row in rows]


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:])[0])
