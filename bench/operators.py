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
import peer_rows
from common import ROOT, say
from contenders import Answering, Morton
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
    row = peer_rows.empty_row(f"{case.op}, {case.title}", MEAN, group=case.group)
    say(row["target"])
    row["why"] = checked(model, case, options)
    if row["why"]:
        row["verdict"] = "wrong"
        return row
    peer_rows.fill(row, openers_of(model, case, options), options.rounds)
    return row


def mean_row(title, rows):
    count = len(peer_rows.numbers_of(rows))
    return peer_rows.mean_row(f"{title}, against ONNX Runtime, geometric mean of {count}", MEAN, rows,
                              "" if count == len(rows) else "not all of its rows")


def with_means(rows):
    """The rows, then a mean for each group, and one of all."""
    groups = dict.fromkeys(row["group"] for row in rows)
    means = [mean_row(group, [row for row in rows if row["group"] == group]) for group in groups]
    return [*rows, *means, mean_row("operators", rows)]


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(prog="./dev bench operators", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    peer_rows.add_arguments(parser, "operators")
    parser.add_argument("--only", default="", metavar="TEXT", help="operators whose group, name or title holds this")
    parser.add_argument("--peer-python", default=sys.executable, metavar="PROGRAM",
                        help="interpreter with numpy, onnx and onnxruntime")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("build/operators"),
                        help="where models and their inputs go (%(default)s)")
    return peer_rows.parse(parser, arguments)


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
    return peer_rows.report(rows, device, load, options)


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:])[0])
