#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training on this device beside its targets: the time of a step beside PyTorch's, in turns on the same batches; losses
beside PyTorch's from the same weights; the gradients of a convolution beside the convolution; how a network learns the
digits. Prints the table, with the command for each number, and appends a record to bench/history/training.jsonl: of a
whole run, in which nothing failed.

Commands show FOLDER for the files that they run on: --keep FOLDER leaves them there.

PyTorch runs in the interpreter that --peer-python names (packages torch, onnx, numpy). Without one its rows say so, and
the status is 1; so it is when a run fails. A missed target is none of these."""

import argparse
import contextlib
import datetime
import json
import math
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

import gemm

ROOT = gemm.ROOT
PROGRAM = ROOT / "build" / "bench" / "training"
MORTON = ROOT / "build" / "morton"
PEER = ROOT / "bench" / "training_peer.py"
BATCH = 100
BATCHES = 20
TURN_MS = 1500.0
MOST_STEPS = 400
AGREEMENT_STEPS = 100
MOST_APART = 1e-4
PROFILED_STEPS = 9
# What threads of a library may spin after a call.
REST_S = 0.3


# At larger rates a ReLU of the CNN whose argument is 0 but for rounding goes the other way sooner or later, and the losses
# part: 3e-4 at 0.001.
RATES = {"mlp_he": 0.05, "cnn": 0.0002}
CNN_600_STEPS = "C18's CNN, 600 steps of 100 digits"
MLP_ONE_PASS = "C18's MLP (79 % there), one pass"


def speed_row(model):
    return f"{model}, batch {BATCH}, Adam: a step"


def agreement_row(model):
    return f"{model}, descent from the same weights: losses of {AGREEMENT_STEPS} steps, rate {RATES[model]}"


def again_row(model):
    return f"{model}, the same once more"


def convolution_row(model, node):
    return f"{model}, the gradients of {node}: GFLOP/s as a share of the forward pass's"


def apart(ours, theirs):
    """The largest relative distance of two lists of losses; NaN where one of them is none."""
    distances = [abs(a - b) / abs(b) if b else math.nan for a, b in zip(ours, theirs, strict=True)]
    return math.nan if any(math.isnan(one) for one in distances) else max(distances)


class Missing(Exception):
    """What cannot be measured here, and why."""


class Answering:
    """A program that answers lines of its standard input."""

    def __init__(self, words, environment=None):
        self.words = [str(word) for word in words]
        self.process = subprocess.Popen(self.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, cwd=ROOT, env=environment)
        self.steps = 5
        self.facts = self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            said = self.process.stderr.read().strip().splitlines()
            raise Missing(f"{shlex.join(self.words)}: {said[-1] if said else 'ended'}")
        return json.loads(line)

    def ask(self, what, count):
        self.process.stdin.write(f"{what} {count}\n")
        self.process.stdin.flush()
        return self.answer()

    def turn(self):
        times = self.ask("speed", self.steps)
        median = statistics.median(times)
        self.steps = max(5, min(MOST_STEPS, int(TURN_MS / max(median, 1e-3))))
        time.sleep(REST_S)
        return median

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder = options, pathlib.Path(folder)
        self.rows, self.failed = [], False
        self.environment = dict(os.environ, POCL_AFFINITY="1")

    def row(self, what, wanted, measured, command):
        self.rows.append({"what": what, "wanted": wanted, "measured": measured, "command": command})
        gemm.say(f"  {what}: {measured}")

    def absent(self, what, wanted, why):
        self.failed = True
        self.row(what, wanted, f"not measured: {why}", "")

    def make_files(self):
        """The models as ONNX files, and batches of the digits."""
        for name in ("c18-mlp", "c18-cnn"):
            subprocess.run([MORTON, "new", name, "-o", str(self.folder / f"{name}.onnx")], check=True,
                           capture_output=True)
        script = ("import gzip, sys, numpy as np\n"
                  "def idx(path, skip):\n"
                  "    return np.frombuffer(gzip.open(path).read(), np.uint8, offset=skip)\n"
                  f"n = {BATCH * BATCHES}\n"
                  "x = idx('data/mnist/train-images-idx3-ubyte.gz', 16).reshape(-1, 784)[:n] / np.float32(255)\n"
                  "y = idx('data/mnist/train-labels-idx1-ubyte.gz', 8)[:n].astype(np.int32)\n"
                  f"x = x.reshape({BATCHES}, {BATCH}, 784)\n"
                  f"y = y.reshape({BATCHES}, {BATCH})\n"
                  "np.savez(sys.argv[1] + '/rows.npz', x=x, y=y)\n"
                  f"np.savez(sys.argv[1] + '/images.npz', x=x.reshape({BATCHES}, {BATCH}, 1, 28, 28), y=y)\n")
        python = self.options.peer_python or sys.executable
        done = subprocess.run([python, "-c", script, str(self.folder)], cwd=ROOT, capture_output=True, text=True,
                              check=False)
        if done.returncode != 0:
            raise Missing(f"{python}: {done.stderr.strip().splitlines()[-1]}")
        if self.options.peer_python:
            subprocess.run([self.options.peer_python, PEER, str(self.folder / "c18-cnn.onnx"), "--make",
                            str(self.folder)], check=True)

    def batches_of(self, model):
        return self.folder / ("images.npz" if "cnn" in model else "rows.npz")

    def ours(self, model, optimizer, rate, *more):
        return Answering([PROGRAM, self.folder / f"{model}.onnx", self.batches_of(model), self.options.device,
                          optimizer, rate, *more], self.environment)

    def theirs(self, model, optimizer, rate):
        if not self.options.peer_python:
            raise Missing("PyTorch: give --peer-python")
        words = [self.options.peer_python, PEER, self.folder / f"{model}.onnx", self.batches_of(model), "--optimizer",
                 optimizer, "--rate", rate, "--threads", self.options.threads]
        return Answering(words + (["--cuda"] if self.options.cuda else []))

    def shown(self, one):
        """The command as a reader can repeat it: files of this run by their names."""
        words = [word.replace(str(self.folder), "FOLDER").replace(str(ROOT) + "/", "") for word in one.words]
        return shlex.join(words)

    def speed(self, model, wanted):
        what = speed_row(model)
        try:
            both = [self.ours(model, "adam", 1e-4), self.theirs(model, "adam", 1e-4)]
        except Missing as why:
            return self.absent(what, f">= {wanted}", why)
        for one in both:
            one.turn()
        times = [[one.turn() for one in both] for _ in range(self.options.rounds)]
        ours, theirs = (statistics.median(column) for column in zip(*times))
        verdict = "" if theirs / ours >= wanted else ", missed"
        self.row(what, f">= {wanted}",
                 f"{theirs / ours:.2f} times {both[1].facts['version']} ({ours:.3f} ms and {theirs:.3f} ms){verdict}",
                 f"{self.shown(both[0])} <<< 'speed {both[0].steps}'")
        for one in both:
            one.close()
        return None

    def agreement(self, model):
        what, rate, wanted = agreement_row(model), RATES[model], "within 1e-4"
        try:
            both = [self.ours(model, "sgd", rate), self.theirs(model, "sgd", rate)]
        except Missing as why:
            return self.absent(what, wanted, why)
        ours, theirs = (one.ask("losses", AGREEMENT_STEPS) for one in both)
        most = apart(ours, theirs)
        again = both[0].ask("losses", AGREEMENT_STEPS)
        command = f"{self.shown(both[0])} <<< 'losses {AGREEMENT_STEPS}'"
        verdict = "" if most <= MOST_APART else ", missed"
        self.row(what, wanted, f"{most:.1e} apart at most, from {theirs[0]:.4f} to {theirs[-1]:.4f}{verdict}", command)
        self.row(again_row(model), "bit for bit", "yes" if again == ours else "no", command)
        for one in both:
            one.close()
        return None

    def convolution(self, model, node):
        """The two gradients of a convolution beside the convolution, as shares of its GFLOP/s."""
        what = convolution_row(model, node)
        try:
            # A launch of several kernels has one time for all of them.
            ours = self.ours(model, "adam", 1e-4, "apart")
        except Missing as why:
            return self.absent(what, ">= 0.7", why)
        steps = ours.ask("profile", PROFILED_STEPS)
        ours.close()

        def bare(step):
            return step["name"].removeprefix("pack ").split("+")[0]

        def computing(of_steps):
            return [step for step in of_steps if not step["name"].startswith("pack ")]

        def speed(of_steps, all_steps):
            return sum(step["flop"] for step in of_steps) / sum(step["us"] for step in all_steps)

        own = [step for step in steps if bare(step) in (node, f"{node}.weight") or bare(step).startswith(f"{node}:")]
        of = [step for step in steps if bare(step).startswith(f"{node}/gradient/")]
        products = [step for step in computing(of) if "/gradient/Conv" in step["name"]]
        share = speed(products, products) / speed(computing(own), computing(own))
        moved = speed(products, of) / speed(computing(own), own)

        def shown(number):
            return f"{number:.2f}{'' if number >= 0.7 else ', missed'}"

        self.row(what, ">= 0.7", f"{shown(share)}; with what is moved and summed for them {shown(moved)} "
                 f"({speed(own, own) / 1e3:.0f} GFLOP/s forward)",
                 f"{self.shown(ours)} <<< 'profile {PROFILED_STEPS}'")
        return None

    def learning(self, name, words, wanted, share):
        out = self.folder / name
        command = [MORTON, "train", *words, "--device", self.options.device, "--format", "json", "-o", out]
        command = [str(word) for word in command]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=self.environment)
        if done.returncode != 0:
            return self.absent(name, wanted, f"{shlex.join(command)}: {done.stderr.strip()[-300:]}")
        report = json.loads(done.stdout)
        measured = report["validation_accuracy"]
        verdict = "" if measured >= share else ", missed"
        shown = shlex.join(command[:-2]).replace(str(ROOT) + "/", "")
        self.row(name, wanted, f"{100 * measured:.2f} %{verdict}", shown)
        return None


def measurements(cuda):
    """The rows that each measurement gives, and how it is made."""
    wanted = {"c18-mlp": 0.7, "c18-cnn": 0.7} if cuda else {"c18-mlp": 2.0, "c18-cnn": 1.0}
    made = [([speed_row(model)], lambda bench, model=model: bench.speed(model, wanted[model])) for model in wanted]
    made += [([agreement_row(model), again_row(model)], lambda bench, model=model: bench.agreement(model))
             for model in RATES]
    made += [([convolution_row("c18-cnn", "conv2")], lambda bench: bench.convolution("c18-cnn", "conv2")),
             ([CNN_600_STEPS], lambda bench: bench.learning(
                 CNN_600_STEPS, ["c18-cnn", "--data", "data/mnist", "--steps", "600"], ">= 97 %", 0.97)),
             ([MLP_ONE_PASS], lambda bench: bench.learning(
                 MLP_ONE_PASS, ["c18-mlp", "--data", "data/mnist", "--epochs", "1"], "shown", 0.0))]
    return made


def chosen(made, only):
    """Those of the measurements that give a row whose name holds `only`."""
    kept = [one for one in made if any(only in name for name in one[0])]
    if not kept:
        rows = "\n  ".join(name for names, _ in made for name in names)
        raise Missing(f"--only {only}: no row's name holds this; the rows:\n  {rows}")
    return kept


def print_table(rows):
    columns = ("what", "wanted", "measured")
    widths = [max(len(row[key]) for row in rows) for key in columns]
    for row in rows:
        print(" | ".join(row[key].ljust(width) for key, width in zip(columns, widths)) + " | " + row["command"])


def device_facts(device):
    """The device that this selector takes, as `morton devices` describes it."""
    def answer(*words):
        done = subprocess.run([MORTON, *words, "--format", "json"], cwd=ROOT, capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    tiny = answer("bench", "gemm", "--m", "1", "--n", "1", "--k", "1", "-n", "1", "--warmup", "0ms", "--device", device)
    return next(one for one in answer("devices") if one["id"] == tiny["device"]["id"])


def append_record(rows, options):
    device = device_facts(options.device)
    record = {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
              "commit": gemm.git("rev-parse", "HEAD"),
              "changed_files": len(gemm.git("status", "--porcelain").splitlines()),
              "device": {key: device[key] for key in ("name", "platform", "driver_version", "compute_units", "clock_mhz")},
              "processor": gemm.processor(), "rows": rows}
    path = ROOT / "bench" / "history" / "training.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")
    gemm.say(f"recorded in {path}")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-d", "--device", default="auto", help="of Morton")
    parser.add_argument("--peer-python", help="interpreter with torch, onnx and numpy")
    parser.add_argument("--cuda", action="store_true", help="PyTorch on CUDA (TF32 off)")
    parser.add_argument("--threads", type=int, default=2, help="of PyTorch on the CPU")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each")
    parser.add_argument("--keep", metavar="FOLDER", help="leave the models and batches there")
    parser.add_argument("--only", default="", metavar="TEXT",
                        help="what gives rows whose name holds this; such a run is not recorded")
    return parser.parse_args()


def main():
    options = parse_arguments()
    made = measurements(options.cuda)
    try:
        kept = chosen(made, options.only)
    except Missing as why:
        gemm.say(f"bench training: {why}")
        return 2
    subprocess.run(["cmake", "--build", str(ROOT / "build"), "--target", "bench_training", "morton"], check=True,
                   stdout=subprocess.DEVNULL)
    with contextlib.ExitStack() as stack:
        folder = options.keep or stack.enter_context(tempfile.TemporaryDirectory())
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        bench = Bench(options, folder)
        try:
            bench.make_files()
        except Missing as why:
            gemm.say(f"bench training: {why}")
            return 1
        for _, measure in kept:
            measure(bench)
        print_table(bench.rows)
        if bench.failed or len(kept) < len(made):
            gemm.say("not recorded: only whole runs are, in which nothing failed")
        else:
            append_record(bench.rows, options)
        return 1 if bench.failed else 0


if __name__ == "__main__":
    sys.exit(main())
