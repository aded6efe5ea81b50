#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks on this device beside their targets: measures every network with its peers in turns, prints the table with
the command for each number, and appends a record to bench/history/networks.

Peers: CLBlast composed to networks (--conv clblast, in the program itself), ONNX Runtime, PyTorch and tinygrad on the
same OpenCL device, which run in the interpreter that --peer-python names. A peer that is missing is named, its row says so, and the status is 1; so it is
when a run fails. A missed target is none of these."""

import argparse
import datetime
import json
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

import gemm
import networks_table as table

ROOT = gemm.ROOT
PEER_PROGRAM = pathlib.Path("bench") / "network_peer.py"
# A turn of a contender lasts about so long, but for one whose single run takes longer.
TURN_MS = 700.0
MOST_RUNS = 200
# Whoever takes longer for a run has two turns, each of which warms up by itself.
SLOW_MS = 1000.0
# What threads of a library may spin after a call.
REST_S = 0.3


def fail(text, bench="networks"):
    gemm.say(f"bench {bench}: {text}")
    sys.exit(2)


class Missing(Exception):
    """A contender that cannot be measured here, and why."""


def shape_words(contender):
    return [word for shape in table.shapes_of(contender) for word in ("--shape", shape)]


class Morton:
    """A path of the program; each turn is a process of its own."""

    def __init__(self, contender, options, files):
        self.contender, self.options = contender, options
        if contender.tuned and not options.clblast_parameters:
            raise Missing("CLBlast's tuned parameters: --clblast-parameters FILE (bench/clblast_tune.py makes it)")
        self.words = [options.program, "bench", str(files[contender.network]), *shape_words(contender)]
        if contender.path:
            self.words += ["--conv", contender.path]
        if options.device:
            self.words += ["--device", options.device]
        self.runs, self.results = 1, []

    def command(self):
        prefix = [f"MORTON_CLBLAST_PARAMETERS={self.options.clblast_parameters}"] if self.contender.tuned else []
        return shlex.join(prefix + self.words + ["-n", str(self.runs)])

    def turn(self):
        environment = dict(os.environ, POCL_AFFINITY="1")
        if self.contender.tuned:
            environment["MORTON_CLBLAST_PARAMETERS"] = os.path.abspath(self.options.clblast_parameters)
        words = self.words + ["-n", str(self.runs), "--warmup", "100ms", "--format", "json"]
        with tempfile.TemporaryDirectory() as empty:
            if self.contender.cold:
                words += ["--cache-dir", f"{empty}/morton"]
                environment["POCL_CACHE_DIR"] = f"{empty}/pocl"
                environment["CUDA_CACHE_PATH"] = f"{empty}/cuda"
                os.mkdir(f"{empty}/pocl")
            done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False, env=environment)
        if done.returncode != 0:
            raise Missing(f"{shlex.join(words)}: status {done.returncode}: {done.stderr.strip()[-500:]}")
        result = json.loads(done.stdout)
        self.results.append(result)
        host = result["clocks"]["host"]
        self.runs = max(1, min(MOST_RUNS, int(TURN_MS / max(host["p50_ms"], 1e-3))))
        if self.contender.cold:
            return [result["phases"]["compile_ms"] + result["phases"]["first_inference_ms"]]
        return [host["p50_ms"]]

    def version(self):
        return self.contender.title()

    def close(self):
        pass


class Peer:
    """A library in a process that stays, so that a turn starts warm."""

    def __init__(self, contender, options, files):
        words = [options.peer_python, str(PEER_PROGRAM), contender.kind, str(files[contender.network]), "--batch",
                 str(contender.batch), "--threads", str(options.threads)]
        if contender.words or contender.network == "lenet5":
            words += ["--extent", str(contender.words or 32)]
        if options.cuda and contender.kind == "pytorch":
            words.append("--cuda")
        self.words = words
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, cwd=ROOT)
        self.runs = 1
        self.facts = self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            said = self.process.stderr.read().strip().splitlines()
            raise Missing(f"{shlex.join(self.words)}: {said[-1] if said else 'ended'}")
        return json.loads(line)

    def command(self):
        # No pipe: it would end the cell of the table.
        return f"{shlex.join(self.words)} <<< {self.runs}"

    def turn(self):
        self.process.stdin.write(f"{self.runs}\n")
        self.process.stdin.flush()
        times = self.answer()
        median = statistics.median(times)
        self.runs = max(1, min(MOST_RUNS, int(TURN_MS / max(median, 1e-3))))
        time.sleep(REST_S)
        return [median]

    def version(self):
        return self.facts["version"]

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)


def open_contender(contender, options, files):
    if contender.kind in options.without:
        raise Missing(f"left out by --without {contender.kind}")
    return (Morton if contender.kind == "morton" else Peer)(contender, options, files)


def measure(contenders, options, files):
    """{contender: {"ms", "best_ms", "command", "version", "result"}} of those that ran, and {contender: why not}."""
    opened, absent, times = {}, {}, {}
    try:
        for contender in contenders:
            gemm.say(f"  {contender.title()}")
            try:
                opened[contender] = open_contender(contender, options, files)
                # The first turn warms caches up and finds how many runs a turn has.
                first = opened[contender].turn()
                times[contender] = first if first[0] > SLOW_MS else []
            except Missing as why:
                gemm.say(f"  not measured: {contender.title()}: {why}")
                absent[contender] = str(why)
        for round_number in range(options.rounds):
            for contender, samples in times.items():
                if round_number == 0 or not samples or samples[0] <= SLOW_MS:
                    samples += opened[contender].turn()
        return {contender: {"ms": statistics.median(samples), "best_ms": min(samples),
                            "samples_ms": samples, "command": opened[contender].command(),
                            "version": opened[contender].version(),
                            "result": getattr(opened[contender], "results", [None])[-1]}
                for contender, samples in times.items()}, absent
    finally:
        for one in opened.values():
            if hasattr(one, "process") and one.process.poll() is not None:
                continue
            one.close()


def profile_of(contender, options, files):
    """Device microseconds by kernel, of `morton profile`."""
    words = [options.program, "profile", str(files[contender.network]), *shape_words(contender), "--format", "json",
             "-n", "5"]
    if options.device:
        words += ["--device", options.device]
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
    missing = [one["target"] for one in parts if one["number"] is None]
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


def print_table(rows, measured):
    print("| target | wanted | measured | of quickest | against | verdict |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        sign = ">=" if row["measure"] in ("ratio", "mean") else "<="
        wanted = "" if row["wanted"] is None else f"{sign} {text_of(row['wanted'], row['measure'])}"
        print(f"| {row['target']} | {wanted} | {text_of(row['number'], row['measure'])} | "
              f"{text_of(row['of_quickest'], row['measure'])} | {row['against']} | {row['verdict']} |")
    print("\n| network | batch | who | median ms | quickest ms | command |\n|---|---|---|---|---|---|")
    for contender, one in measured.items():
        print(f"| {contender.network} | {contender.batch} | {one['version']} | {one['ms']:.3f} | "
              f"{one['best_ms']:.3f} | `{one['command']}` |")
    for row in rows:
        if row["why"]:
            print(f"\nnot measured for \"{row['target']}\": {row['why']}")


def make_files(networks, options):
    """The networks as ONNX files, the same for all contenders."""
    # All commands run in the project's root, so that a record names no folder of this machine.
    folder = pathlib.Path(os.path.relpath(options.work, ROOT))
    (ROOT / folder).mkdir(parents=True, exist_ok=True)
    files = {}
    for network in networks:
        files[network] = folder / f"{network}.onnx"
        if (ROOT / files[network]).exists():
            continue
        gemm.say(f"making {files[network]}")
        subprocess.run([options.program, "new", network, "-o", str(files[network])], cwd=ROOT, check=True)
    return files


def device_facts(options):
    words = [options.program, "devices", "--format", "json"]
    devices = json.loads(subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
    if not devices:
        fail("no OpenCL device is found; `morton doctor` says why")
    chosen = [one for one in devices if one["id"] == options.device or one["kind"] == options.device or
              (options.device and options.device.lower() in one["name"].lower())]
    if options.device and not chosen:
        fail(f"--device {options.device}: `morton devices` lists none such")
    return (chosen or sorted(devices, key=lambda one: one["kind"] != "gpu"))[0]


def append_record(rows, measured, device, options):
    now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    record = {
        "schema": 1, "time": now, "commit": gemm.git("rev-parse", "HEAD"),
        "changed_files": len(gemm.git("status", "--porcelain").splitlines()),
        "device": {key: device[key] for key in ("name", "platform", "driver_version", "compute_units", "clock_mhz")},
        "processor": gemm.processor(), "load_before": options.load, "rounds": options.rounds, "targets": rows,
        "times": [{"network": contender.network, "batch": contender.batch, "words": contender.words, "who": one["version"], "ms": one["ms"],
                   "best_ms": one["best_ms"], "samples_ms": one["samples_ms"], "command": one["command"],
                   "by_layer": (one["result"] or {}).get("by_layer")} for contender, one in measured.items()],
    }
    gemm.append_record(record, device, options)


def parse_arguments():
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
                        "(build/peers/bin/python); "
                        "--make-peers makes it")
    parser.add_argument("--make-peers", action="store_true",
                        help="first install them from PyPI into build/peers (gigabytes)")
    parser.add_argument("--clblast-parameters", default="", metavar="FILE",
                        help="CLBlast's tuned parameters, by bench/clblast_tune.py")
    parser.add_argument("--work", default="build/networks", metavar="FOLDER", help="for the networks' files")
    parser.add_argument("--history", default=str(ROOT / "bench" / "history" / "networks"), metavar="FOLDER",
                        help="where the record goes (bench/history/networks)")
    parser.add_argument("--program", default="build/morton", help="build/morton")
    options = parser.parse_args()
    options.rounds = options.rounds or (2 if options.quick else 5)
    options.without = [name for name in options.without.split(",") if name]
    return options


def make_peers(packages=("numpy", "onnx", "onnxruntime", "torch", "tinygrad")):
    folder = ROOT / "build" / "peers"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    subprocess.run([str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", *packages], check=True)


def main():
    options = parse_arguments()
    if options.make_peers:
        make_peers()
    if not pathlib.Path(options.peer_python).exists():
        options.without += ["onnxruntime", "pytorch", "tinygrad"]
        gemm.say(f"warning: {options.peer_python} is not there, so ONNX Runtime, PyTorch and tinygrad are missing: "
                 "--make-peers installs them")
    options.load = gemm.load_average()
    if options.load is not None and options.load > gemm.BUSY_LOAD:
        gemm.say(f"warning: other programs are running here (load {options.load:.1f}); no figure is worth much")
    device = device_facts(options)
    options.cuda = device["kind"] == "gpu"
    targets = table.cpu_targets() if device["kind"] == "cpu" else table.gpu_targets()
    targets = [target for target in targets if options.only in target.title]
    if not targets:
        fail(f"--only {options.only}: no target's title holds this")
    # All who run one network take turns.
    groups = {}
    for target in targets:
        group = groups.setdefault((target.ours.network, target.ours.batch, target.ours.words), {})
        group.update(dict.fromkeys((target.ours, *target.others)))
    files = make_files(sorted({network for network, _, _ in groups}), options)
    measured, absent = {}, {}
    for (network, batch, words), contenders in groups.items():
        gemm.say(f"{network}, batch {batch}" + (f", {words} words" if words else ""))
        found, missing = measure(list(contenders), options, files)
        measured.update(found)
        absent.update(missing)
    rows = []
    for target in targets:
        rows.append(evaluate(target, measured, absent, options, files, rows))
    print(f"{device['name']} ({device['platform']}, driver {device['driver_version']}), {gemm.processor()}\n")
    print_table(rows, measured)
    append_record(rows, measured, device, options)
    return 1 if any(row["why"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
