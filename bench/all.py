#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every target of the library: runs ./dev bench gemm, guess, networks, models, operators, lowp and training one after
the other, each of which prints its table and appends its record, and prints all targets with their verdicts at the end.

The status is 1 when something was not measured; a missed target is no failure."""

import argparse
import importlib
import shlex
import sys
import traceback

from common import Line, say

# The scripts in their order, and which options each of them takes.
BENCHES = {
    "gemm": ("quick", "device", "clblast_parameters", "peer_folder"),
    "guess": ("quick", "device", "budget"),
    "networks": ("quick", "device", "clblast_parameters", "peer_python"),
    "models": ("quick", "device", "peer_python"),
    "operators": ("quick", "device", "peer_python"),
    "lowp": ("quick", "device", "peer_python"),
    "training": ("device", "peer_python"),
}


def words_for(names, options):
    """The options of these names that are given, as a command line has them."""
    words = []
    for name in names:
        value = getattr(options, name)
        if value:
            words += [f"--{name.replace('_', '-')}"] + ([] if value is True else [value])
    return words


def run_one(name, words):
    """(status, lines) of one script; what ends it is said and ends no other."""
    say(f"\n./dev bench {shlex.join([name, *words])}")
    print(f"\n## {name}\n", flush=True)
    try:
        return importlib.import_module(name).run(words)
    except SystemExit as end:
        status, why = end.code or 1, f"ended with status {end.code}"
    except Exception as error:
        traceback.print_exc()
        status, why = 1, f"ended: {error}"
    return status, [Line(f"./dev bench {name}", "", why, "not measured")]


def counts_of(verdicts):
    """How many there are of each; what is behind a comma says only how far one goes."""
    words = [verdict.split(",")[0] for verdict in verdicts]
    return ", ".join(f"{words.count(one)} {one}" for one in sorted(set(words)))


def print_summary(lines):
    print("\n## all targets\n\n| bench | target | wanted | measured | verdict |\n|---|---|---|---|---|")
    for name, line in lines:
        print(f"| {name} | {line.target} | {line.wanted} | {line.measured} | {line.verdict} |")
    print("\n" + counts_of([line.verdict for _, line in lines]))


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(prog="./dev bench all", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="BENCH,...", help=f"some of {', '.join(BENCHES)}")
    parser.add_argument("--quick", action="store_true", help="fewer shapes and rounds, of those who know it")
    parser.add_argument("-d", "--device", default="", help="as of morton; else a GPU, if there is one")
    parser.add_argument("--budget", default="", metavar="TIME", help="of morton tune, for each problem of guess (60s)")
    parser.add_argument("--peer-python", default="", metavar="PROGRAM",
                        help="interpreter with numpy, onnx, onnxruntime, torch and tinygrad")
    parser.add_argument("--peer-folder", default="", metavar="FOLDER", help="of the libraries beside products")
    parser.add_argument("--clblast-parameters", default="", metavar="FILE",
                        help="CLBlast's tuned parameters, by bench/clblast_tune.py")
    options = parser.parse_args(arguments)
    options.only = [name for name in options.only.split(",") if name]
    for name in options.only:
        if name not in BENCHES:
            parser.error(f"--only {name}: there are {', '.join(BENCHES)}")
    return options


def main():
    options = parse_arguments(sys.argv[1:])
    status, lines = 0, []
    for name, names in BENCHES.items():
        if options.only and name not in options.only:
            continue
        ended, found = run_one(name, words_for(names, options))
        status = max(status, 1 if ended else 0)
        lines += [(name, line) for line in found]
    print_summary(lines)
    return status


if __name__ == "__main__":
    sys.exit(main())
