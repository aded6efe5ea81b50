#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks on this device beside their targets: measures every network with its peers in turns, prints the table with
the command for each number, and appends a record to bench/history/networks.

Peers: CLBlast composed to networks (--conv clblast, in the program itself), ONNX Runtime, PyTorch and tinygrad on the
same OpenCL device, which run in the interpreter that --peer-python names, NumPy (of R17's networks) too. A peer that is
missing is named, its row says so, and the status is 1; so it is when a run fails. A missed target is none of these."""

import argparse
import json
import pathlib
import shlex
import statistics
import subprocess
import sys

import common
import networks_table as table
import training
from common import ROOT, Missing, say
from contenders import Answering, Morton, make_files, measure

PEER_PROGRAM = pathlib.Path("bench") / "network_peer.py"


def shape_words(contender):
    return [word for shape in table.shapes_of(contender) for word in ("--shape", shape)]


def device_words(options):
    return ["--device", options.device] if options.device else []


def open_morton(contender, options, files):
    if contender.tuned and not options.clblast_parameters:
        raise Missing("CLBlast's tuned parameters: --clblast-parameters FILE (bench/clblast_tune.py makes it)")
    words = [options.program, "bench", str(files[contender.network]), *shape_words(contender)]
    if contender.network in table.COLUMNS:
        words += ["--batch", str(contender.batch)]
    if contender.path:
        words += ["--conv", contender.path]
    if contender.halves:
        words += ["--precision", "f16"]
    shown = [f"MORTON_CLBLAST_PARAMETERS={options.clblast_parameters}"] if contender.tuned else []
    return Morton(words + device_words(options), contender.title(), shown, contender.cold, contender.clock)


def open_peer(contender, options, files):
    words = [options.peer_python, PEER_PROGRAM, contender.kind, files[contender.network], "--batch", contender.batch,
             "--threads", options.threads]
    if contender.words or contender.network == "lenet5":
        words += ["--extent", contender.words or 32]
    if options.cuda and contender.kind == "pytorch":
        words.append("--cuda")
    if contender.clock == "device":
        words += ["--clock", "device"]
    if contender.halves:
        words.append("--halves")
    return Answering(words)


def open_step(contender, options, files):
    """A step of training by Adam."""
    batches = training.make_batches(options.peer_python, pathlib.Path(options.work))["images"]
    files = (files[contender.network], batches)
    if contender.kind == "morton":
        return training.ours(*files, options.device or "auto", "adam", 1e-4)
    return training.theirs(contender.kind, options, *files, "adam", 1e-4)


def open_contender(contender, options, files):
    if contender.kind in options.without:
        raise Missing(f"left out by --without {contender.kind}")
    if contender.step:
        return open_step(contender, options, files)
    return (open_morton if contender.kind == "morton" else open_peer)(contender, options, files)


def profile_of(contender, options, files):
    """Device microseconds by kernel, of `morton profile`."""
    words = [options.program, "profile", str(files[contender.network]), *shape_words(contender), "--format", "json",
             "-n", "5", *device_words(options)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    try:
        return json.loads(done.stdout)["steps"], shlex.join(words)
    except json.JSONDecodeError:
        raise Missing(f"{shlex.join(words)}: {done.stderr.strip()[-500:]}") from None


def number_of(target, measured, options, files):
    """(number, number of the quickest samples, the contender that it is against, command) of a row."""
    if target.measure == "rest":
        steps, command = profile_of(target.ours, options, files)
        times = [step["device_us"] or step["host_us"] for step in steps]
        products = sum(us for step, us in zip(steps, times) if step["kernel"].startswith(table.PRODUCTS))
        return 1.0 - products / sum(times), None, "", command
    own = measured[target.ours]
    if target.measure == "launches":
        return len(own["result"]["steps"]) / table.LENET_LAYERS, None, "", own["command"]
    others = {other: measured[other] for other in target.others if other in measured}
    quickest = min(others, key=lambda other: others[other]["ms"])
    best = min(others, key=lambda other: others[other]["best_ms"])
    return (others[quickest]["ms"] / own["ms"], others[best]["best_ms"] / own["best_ms"],
            others[quickest]["version"], own["command"])


def mean_row(target, row, rows):
    """The geometric mean of rows that stand above."""
    parts = [one for one in rows if one["target"] in target.rows]
    missing = [one for one in target.rows if one not in {part["target"] for part in parts if part["number"]}]
    row["why"] = f"not all of its rows: {', '.join(missing)}" if missing else ""
    if not missing:
        row["number"] = statistics.geometric_mean(one["number"] for one in parts)
        row["of_quickest"] = statistics.geometric_mean(one["of_quickest"] for one in parts)
        row["verdict"] = "hit" if row["number"] >= target.wanted else "miss"
    return row


def evaluate(target, measured, absent, options, files, rows):
    row = {"target": target.title, "wanted": None if target.shown_only else target.wanted,
           "measure": target.measure, "number": None, "of_quickest": None, "against": "", "verdict": "not measured",
           "why": "; ".join(f"{one.title()}: {absent[one]}" for one in (target.ours, *target.others) if one in absent),
           "command": ""}
    if target.measure == "mean":
        return mean_row(target, row, rows)
    missing_others = target.measure == "ratio" and not any(one in measured for one in target.others)
    if target.ours in absent or missing_others:
        return row
    try:
        row["number"], row["of_quickest"], row["against"], row["command"] = number_of(target, measured, options, files)
    except Missing as why:
        row["why"] = str(why)
        return row
    if target.shown_only:
        row["verdict"] = "shown"
    elif target.measure == "ratio":
        row["verdict"] = "hit" if row["number"] >= target.wanted else "miss"
        # Against the faster of two, one alone says only that a target is missed.
        if row["why"] and row["verdict"] == "hit" and len(target.others) > 1:
            row["verdict"] = "hit, as far as measured"
    else:
        row["verdict"] = "hit" if row["number"] <= target.wanted else "miss"
    return row


def text_of(number, measure):
    if number is None:
        return "n/a"
    return f"{100 * number:.1f} %" if measure == "rest" else f"{number:.3g}"


def line_of(row):
    sign = ">=" if row["measure"] in ("ratio", "mean") else "<="
    wanted = "" if row["wanted"] is None else f"{sign} {text_of(row['wanted'], row['measure'])}"
    return common.Line(row["target"], wanted, text_of(row["number"], row["measure"]), row["verdict"])


def print_table(rows, measured):
    print("| target | wanted | measured | of quickest | against | verdict |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        line = line_of(row)
        print(f"| {line.target} | {line.wanted} | {line.measured} | {text_of(row['of_quickest'], row['measure'])} | "
              f"{row['against']} | {line.verdict} |")
    print("\n| network | batch | who | clock | median ms | quickest ms | command |\n|---|---|---|---|---|---|---|")
    for contender, one in measured.items():
        print(f"| {contender.network} | {contender.batch} | {one['version']} | {contender.clock} | {one['ms']:.3f} | "
              f"{one['best_ms']:.3f} | `{one['command']}` |")
    for row in rows:
        if row["why"]:
            print(f"\nnot measured for \"{row['target']}\": {row['why']}")


def append_record(rows, measured, device, options):
    common.append_record({
        **common.record_head(device, 1, options.load), "rounds": options.rounds, "targets": rows,
        "times": [{"network": contender.network, "batch": contender.batch, "words": contender.words,
                   "step": contender.step, "clock": contender.clock, "who": one["version"], "ms": one["ms"],
                   "best_ms": one["best_ms"], "samples_ms": one["samples_ms"], "command": one["command"],
                   "by_layer": (one["result"] or {}).get("by_layer")} for contender, one in measured.items()],
    }, options.history)


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(prog="./dev bench networks", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="two rounds")
    parser.add_argument("--rounds", type=int, default=0, help="turns of each contender (5)")
    parser.add_argument("-d", "--device", default="", help="as of morton; else a GPU, if there is one")
    parser.add_argument("--only", default="", metavar="TEXT", help="targets whose title holds this")
    parser.add_argument("--without", default="", metavar="PEER,...", help="onnxruntime, pytorch, tinygrad")
    parser.add_argument("--threads", type=int, default=2, help="of the peers on the host (2)")
    parser.add_argument("--peer-python", default="build/peers/bin/python", metavar="PROGRAM",
                        help="interpreter with numpy, onnx, onnxruntime, torch and tinygrad "
                        "(build/peers/bin/python); --make-peers makes it")
    parser.add_argument("--make-peers", action="store_true",
                        help="first install them from PyPI into build/peers (gigabytes)")
    parser.add_argument("--clblast-parameters", default="", metavar="FILE",
                        help="CLBlast's tuned parameters, by bench/clblast_tune.py")
    parser.add_argument("--work", default="build/networks", metavar="FOLDER", help="for the networks' files")
    parser.add_argument("--history", default=str(ROOT / "bench" / "history" / "networks"), metavar="FOLDER",
                        help="where the record goes (bench/history/networks)")
    parser.add_argument("--program", default="build/morton", help="build/morton")
    options = parser.parse_args(arguments)
    options.rounds = options.rounds or (2 if options.quick else 5)
    options.without = [name for name in options.without.split(",") if name]
    return options


def make_peers(packages=("numpy", "onnx", "onnxruntime", "torch", "tinygrad")):
    folder = ROOT / "build" / "peers"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    subprocess.run([str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", *packages], check=True)


def grouped(targets):
    """All who run one network take turns: the contenders of each group, none twice."""
    groups = {}
    for target in targets:
        one = target.ours
        group = groups.setdefault((one.network, one.batch, one.words, one.halves, one.step), {})
        group.update(dict.fromkeys((one, *target.others)))
    return groups


def run(arguments):
    """(status, lines for ./dev bench all)"""
    options = parse_arguments(arguments)
    if options.make_peers:
        make_peers()
    if not pathlib.Path(options.peer_python).exists():
        options.without += ["onnxruntime", "pytorch", "tinygrad"]
        say(f"warning: {options.peer_python} is not there, so ONNX Runtime, PyTorch and tinygrad are missing: "
            "--make-peers installs them")
    options.load = common.checked_load()
    device = common.device_facts(options, "networks")
    options.cuda = device["kind"] == "gpu"
    targets = table.cpu_targets() if device["kind"] == "cpu" else table.gpu_targets()
    targets = [target for target in targets if options.only in target.title]
    if not targets:
        common.fail("networks", f"--only {options.only}: no target's title holds this")
    groups = grouped(targets)
    files = make_files(sorted({key[0] for key in groups}), options)
    measured, absent = {}, {}
    for (network, batch, words, halves, step), contenders in groups.items():
        say(f"{network}, batch {batch}" + (f", {words} words" if words else "") + (", f16" if halves else "") +
            (", training" if step else ""))
        found, missing = measure({one: (one.title(), lambda one=one: open_contender(one, options, files))
                                  for one in contenders}, options.rounds)
        measured.update(found)
        absent.update(missing)
    rows = []
    for target in targets:
        rows.append(evaluate(target, measured, absent, options, files, rows))
    print(f"{common.title_of(device)}\n")
    print_table(rows, measured)
    append_record(rows, measured, device, options)
    return (1 if any(row["why"] for row in rows) else 0), [line_of(row) for row in rows]


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:])[0])
