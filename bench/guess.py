#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""First guesses beside tuned kernels: for each product and convolution the time with the values that `morton tune`
found within a budget, over the time with no measured value and an empty cache folder. Both take turns. Prints the table
with the commands for each number, and appends a record to bench/history/guess.

Products are timed as `./dev bench gemm` times them, convolutions by the device's clock, all their kernels included. The
status is 1 when a problem was not measured; a missed target is no failure."""

import argparse
import shlex
import subprocess
import sys
import tempfile

import common
import guess_table as table
from common import ROOT, Missing, say
from contenders import Morton, json_of, measure

MODEL = "bench/convolution_model.py"
GUESSED, TUNED = "guessed", "tuned"


class OneProduct:
    """A product; each turn is a process of its own."""

    def __init__(self, words, title):
        self.words, self.title, self.results = words, title, []

    def command(self):
        return shlex.join(self.words)

    def turn(self):
        result = json_of(self.words, {}, accepted=(0, 1))
        ours = next((one for one in result["contenders"] if one["name"] == result["ours"]), None)
        if ours is None:
            raise Missing(f"{self.command()}: no kernel of ours")
        self.results.append(ours)
        return ours["median_ms"]

    def version(self):
        return self.title

    def close(self):
        pass


def kernels_of(result):
    return [result["name"]] if "name" in result else [step["kernel"] for step in result["steps"]]


class Problem:
    """One problem in a folder of its own."""

    def __init__(self, problem, options, folder):
        self.problem, self.options, self.folder = problem, options, folder
        self.is_product = isinstance(problem, table.Product)
        self.subject = ["gemm", *problem.words()] if self.is_product else [f"{folder}/convolution.onnx"]
        self.device = ["--device", options.device] if options.device else []

    def prepare(self):
        """The commands that make the model and that tune."""
        commands = [[self.options.program, "tune", *self.subject, "--time-budget", self.options.budget, "--effort",
                     self.options.effort, "--cache-dir", f"{self.folder}/{TUNED}", *self.device]]
        if not self.is_product:
            commands.insert(0, [self.options.python, MODEL, *self.subject, *self.problem.words()])
        for words in commands:
            done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise Missing(f"{shlex.join(words)}: status {done.returncode}: {done.stderr.strip()[-500:]}")
        return commands

    def contender(self, who):
        words = [self.options.program, "bench", *self.subject, "--cache-dir", f"{self.folder}/{who}", *self.device]
        words += ["--tuning", "none"] if who == GUESSED else []
        if self.is_product:
            return OneProduct(words + ["-n", str(self.options.samples)], who)
        return Morton(words, who, clock="device")

    def measured(self):
        """{"ratio", "guessed", "tuned", "commands"}"""
        commands = self.prepare()
        found, absent = measure({who: (who, lambda who=who: self.contender(who)) for who in (GUESSED, TUNED)},
                                self.options.rounds)
        if absent:
            raise Missing("; ".join(absent.values()))
        shown = [shlex.join(words) for words in commands] + [found[who]["command"] for who in (GUESSED, TUNED)]
        return {"problem": self.problem.title(), "ratio": found[TUNED]["ms"] / found[GUESSED]["ms"],
                **{who: {"ms": found[who]["ms"], "best_ms": found[who]["best_ms"],
                         "samples_ms": found[who]["samples_ms"], "kernels": kernels_of(found[who]["result"])}
                   for who in (GUESSED, TUNED)},
                "commands": [text.replace(self.folder, "F") for text in shown]}


def text_of(number):
    return "n/a" if number is None else f"{number:.3f}"


def line_of(row):
    return common.Line(row["target"], f">= {row['wanted']}", text_of(row["number"]), row["verdict"])


def print_tables(rows, results):
    common.print_lines(line_of(row) for row in rows)
    print("\nF is an empty folder for each problem.\n")
    print("| problem | tuned over guessed | guessed ms | tuned ms | guessed | tuned | commands |\n|---|---|---|---|---|---|---|")
    for one in results:
        print(f"| {one['problem']} | {one['ratio']:.3f} | {one[GUESSED]['ms']:.4f} | {one[TUNED]['ms']:.4f} | "
              f"{', '.join(one[GUESSED]['kernels'])} | {', '.join(one[TUNED]['kernels'])} | "
              f"{'; '.join(f'`{text}`' for text in one['commands'])} |")
    for row in rows:
        if row["why"]:
            print(f"\nnot measured for \"{row['target']}\": {row['why']}")


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(prog="./dev bench guess", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-d", "--device", default="", help="as of morton; else a GPU, if there is one")
    parser.add_argument("--budget", default="60s", metavar="TIME", help="of morton tune, for each problem (60s)")
    parser.add_argument("--effort", choices=["fast", "normal", "full"], default="normal", help="of morton tune (normal)")
    parser.add_argument("--only", default="", metavar="TEXT", help="problems whose title holds this")
    parser.add_argument("--quick", action="store_true", help="every fourth problem, two rounds")
    parser.add_argument("--rounds", type=int, default=0, help="turns of each (5)")
    parser.add_argument("-n", "--samples", type=int, default=15, help="of a product in each turn (15)")
    parser.add_argument("--python", default="/usr/bin/python3", metavar="PROGRAM",
                        help="interpreter with onnx and numpy (/usr/bin/python3, with Debian's python3-onnx)")
    parser.add_argument("--history", default=str(ROOT / "bench" / "history" / "guess"), metavar="FOLDER",
                        help="where the record goes (bench/history/guess)")
    parser.add_argument("--program", default="build/morton", help="build/morton")
    options = parser.parse_args(arguments)
    options.rounds = options.rounds or (2 if options.quick else 5)
    return options


def run(arguments):
    """(status, lines for ./dev bench all)"""
    options = parse_arguments(arguments)
    load = common.checked_load()
    device = common.device_facts(options, "guess")
    problems = [one for one in table.PRODUCTS + table.CONVOLUTIONS if options.only in one.title()]
    problems = problems[::4] if options.quick else problems
    if not problems:
        common.fail("guess", f"--only {options.only}: no problem's title holds this")
    results, ratios = [], dict.fromkeys(problems)
    for problem in problems:
        say(problem.title())
        with tempfile.TemporaryDirectory() as folder:
            try:
                results.append(Problem(problem, options, folder).measured())
                ratios[problem] = results[-1]["ratio"]
            except Missing as why:
                say(f"  not measured: {why}")
    rows = [table.evaluate(title, of, ratios, options.budget) for title, of in table.TARGETS]
    print(f"{common.title_of(device)}\n")
    print_tables(rows, results)
    common.append_record({**common.record_head(device, 1, load), "budget": options.budget, "effort": options.effort,
                          "rounds": options.rounds, "targets": rows, "results": results}, options.history)
    return (1 if None in ratios.values() else 0), [line_of(row) for row in rows]


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:])[0])
