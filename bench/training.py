#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training on this device beside its targets: the time of a step beside PyTorch's, in turns on the same batches; losses
beside PyTorch's from the same weights; the gradients of a convolution beside the convolution; how a network learns the
digits. Prints the table, with the command for each number, and appends a record to bench/history/training.jsonl: of a
whole run, in which nothing failed.

Commands show FOLDER for the files that they run on: --keep FOLDER leaves them there.

PyTorch runs in the interpreter that --peer-python names (packages torch, onnx, numpy). Without one its rows say so, and
the status is 1; so it is when a run fails. A missed target is none of these. The batches are made with numpy, of that
interpreter or of the one that runs the benchmark."""

import argparse
import contextlib
import json
import math
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile

import common
from common import ROOT, Missing
from contenders import Answering, environment_with

# Commands run in the project's root.
PROGRAM = pathlib.Path("build") / "bench" / "training"
MORTON = "build/morton"
PEER = pathlib.Path("bench") / "training_peer.py"
BATCH = 100
BATCHES = 20
# Of a network of images, which are random numbers.
RESNET = "resnet50"
BATCH_OF = {RESNET: 32}
TURN_MS = 1500.0
MOST_STEPS = 400
AGREEMENT_STEPS = 100
MOST_APART = 1e-4
PROFILED_STEPS = 9


# At larger rates a ReLU of the CNN whose argument is 0 but for rounding goes the other way sooner or later, and the losses
# part: 3e-4 at 0.001.
RATES = {"mlp_he": 0.05, "cnn": 0.0002}
CNN_600_STEPS = "C18's CNN, 600 steps of 100 digits"
MLP_599_STEPS = "C18's MLP after 599 steps of 100 digits"


def speed_row(model):
    return f"{model}, batch {BATCH_OF.get(model, BATCH)}, Adam: a step"


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


def make_batches(python, folder):
    """Batches of the digits, as {"rows": npz, "images": npz}; those that are there already are kept."""
    files = {name: folder / f"{name}.npz" for name in ("rows", "images")}
    if all((ROOT / file).exists() for file in files.values()):
        return files
    script = ("import gzip, sys, numpy as np\n"
              "def idx(path, skip):\n"
              "    return np.frombuffer(gzip.open(path).read(), np.uint8, offset=skip)\n"
              f"n = {BATCH * BATCHES}\n"
              "x = idx('data/mnist/train-images-idx3-ubyte.gz', 16).reshape(-1, 784)[:n] / np.float32(255)\n"
              "y = idx('data/mnist/train-labels-idx1-ubyte.gz', 8)[:n].astype(np.int32)\n"
              f"x = x.reshape({BATCHES}, {BATCH}, 784)\n"
              f"y = y.reshape({BATCHES}, {BATCH})\n"
              "np.savez(sys.argv[1], x=x, y=y)\n"
              f"np.savez(sys.argv[2], x=x.reshape({BATCHES}, {BATCH}, 1, 28, 28), y=y)\n")
    words = [python, "-c", script, *map(str, files.values())]
    try:
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError as why:
        raise Missing(str(why)) from None
    if done.returncode != 0:
        raise Missing(f"{python}: {done.stderr.strip().splitlines()[-1]}")
    return files


def make_random_batches(python, file, batch):
    """Four batches of random images of 224 x 224."""
    script = ("import sys, numpy as np\n"
              "random = np.random.default_rng(1)\n"
              "batch = int(sys.argv[2])\n"
              "np.savez(sys.argv[1], x=random.standard_normal((4, batch, 3, 224, 224), np.float32),\n"
              "         y=random.integers(0, 1000, (4, batch), np.int32))\n")
    done = subprocess.run([python, "-c", script, str(file), str(batch)], cwd=ROOT, capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise Missing(f"{python}: {done.stderr.strip().splitlines()[-1]}")


def answering(words):
    return Answering(words, "speed {}", 5, MOST_STEPS, TURN_MS)


def ours(model, batches, device, optimizer, rate, *more):
    if not (ROOT / PROGRAM).exists():
        raise Missing(f"{PROGRAM}: ./dev build makes it")
    return answering([PROGRAM, model, batches, device, optimizer, rate, *more])


def theirs(peer, options, model, batches, optimizer, rate):
    if not options.peer_python:
        raise Missing(f"{peer}: give --peer-python")
    words = [options.peer_python, PEER, model, batches, "--peer", peer, "--optimizer", optimizer, "--rate", rate,
             "--threads", options.threads]
    return answering(words + (["--cuda"] if options.cuda else []))


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder = options, pathlib.Path(folder)
        self.rows, self.failed = [], False

    def row(self, what, wanted, measured, command, hit):
        """`hit` is None where there is no target."""
        verdict = "shown" if hit is None else "hit" if hit else "miss"
        measured += ", missed" if verdict == "miss" else ""
        self.rows.append({"what": what, "wanted": wanted, "measured": measured, "command": command,
                          "verdict": verdict})
        common.say(f"  {what}: {measured}")

    def absent(self, what, wanted, why):
        self.failed = True
        self.rows.append({"what": what, "wanted": wanted, "measured": f"not measured: {why}", "command": "",
                          "verdict": "not measured"})
        common.say(f"  {what}: not measured: {why}")

    def make_files(self):
        """The models as ONNX files, and batches of the digits."""
        for name in ("c18-mlp", "c18-cnn"):
            self.make_model(name)
        self.batches = make_batches(self.options.peer_python or sys.executable, self.folder)
        if self.options.peer_python:
            subprocess.run([self.options.peer_python, PEER, str(self.folder / "c18-cnn.onnx"), "--make",
                            str(self.folder)], cwd=ROOT, check=True)

    def files(self, model):
        file = self.folder / f"{model}.onnx"
        if model not in BATCH_OF:
            return file, self.batches["images" if "cnn" in model else "rows"]
        batches = self.folder / f"{model}.npz"
        self.make_model(model)
        if not (ROOT / batches).exists():
            make_random_batches(self.options.peer_python or sys.executable, batches, BATCH_OF[model])
        return file, batches

    def make_model(self, model):
        subprocess.run([MORTON, "new", model, "-o", str(self.folder / f"{model}.onnx")], cwd=ROOT, check=True,
                       capture_output=True)

    def ours(self, model, optimizer, rate, *more):
        return ours(*self.files(model), self.options.device, optimizer, rate, *more)

    def theirs(self, model, optimizer, rate):
        return theirs("pytorch", self.options, *self.files(model), optimizer, rate)

    def shown(self, words):
        """The command as a reader can repeat it: files of this run by their names."""
        return shlex.join(str(word).replace(str(self.folder), "FOLDER") for word in words)

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
        self.row(what, f">= {wanted}",
                 f"{theirs / ours:.2f} times {both[1].version()} ({ours:.3f} ms and {theirs:.3f} ms)",
                 f"{self.shown(both[0].words)} <<< 'speed {both[0].runs}'", theirs / ours >= wanted)
        for one in both:
            one.close()
        return None

    def agreement(self, model):
        what, rate, wanted = agreement_row(model), RATES[model], "within 1e-4"
        try:
            both = [self.ours(model, "sgd", rate), self.theirs(model, "sgd", rate)]
        except Missing as why:
            return self.absent(what, wanted, why)
        ours, theirs = (one.ask(f"losses {AGREEMENT_STEPS}") for one in both)
        most = apart(ours, theirs)
        again = both[0].ask(f"losses {AGREEMENT_STEPS}")
        command = f"{self.shown(both[0].words)} <<< 'losses {AGREEMENT_STEPS}'"
        self.row(what, wanted, f"{most:.1e} apart at most, from {theirs[0]:.4f} to {theirs[-1]:.4f}", command,
                 most <= MOST_APART)
        self.row(again_row(model), "bit for bit", "the same" if again == ours else "others", command, again == ours)
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
        steps = ours.ask(f"profile {PROFILED_STEPS}")
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

        self.row(what, ">= 0.7", f"{share:.2f}; with what is moved and summed for them {moved:.2f} "
                 f"({speed(own, own) / 1e3:.0f} GFLOP/s forward)",
                 f"{self.shown(ours.words)} <<< 'profile {PROFILED_STEPS}'", min(share, moved) >= 0.7)
        return None

    def learning(self, name, words, wanted, share):
        out = self.folder / name
        command = [MORTON, "train", *words, "--device", self.options.device, "--format", "json", "-o", out]
        command = [str(word) for word in command]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False,
                              env=environment_with({}))
        if done.returncode != 0:
            return self.absent(name, wanted, f"{shlex.join(command)}: {done.stderr.strip()[-300:]}")
        report = json.loads(done.stdout)
        measured = report["validation_accuracy"]
        self.row(name, wanted, f"{100 * measured:.2f} %", self.shown(command[:-2]),
                 measured >= share if share else None)
        return None


def measurements(cuda):
    """The rows that each measurement gives, and how it is made."""
    wanted = {"c18-mlp": 3.0, "c18-cnn": 1.4, RESNET: 0.8} if cuda else {"c18-mlp": 2.2, "c18-cnn": 1.5}
    made = [([speed_row(model)], lambda bench, model=model: bench.speed(model, wanted[model])) for model in wanted]
    made += [([agreement_row(model), again_row(model)], lambda bench, model=model: bench.agreement(model))
             for model in RATES]
    made += [([convolution_row("c18-cnn", "conv2")], lambda bench: bench.convolution("c18-cnn", "conv2")),
             ([CNN_600_STEPS], lambda bench: bench.learning(
                 CNN_600_STEPS, ["c18-cnn", "--data", "data/mnist", "--steps", "600"], ">= 97 %", 0.97)),
             ([MLP_599_STEPS], lambda bench: bench.learning(
                 MLP_599_STEPS, ["c18-mlp", "--data", "data/mnist", "--steps", "599"], "78.3 to 80.0 % there", 0.0))]
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


def append_record(rows, options):
    record = {**common.record_head(common.device_facts(options, "training"), 2, options.load), "rows": rows}
    path = ROOT / "bench" / "history" / "training.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")
    common.say(f"recorded in {path}")


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-d", "--device", default="auto", help="of Morton")
    parser.add_argument("--peer-python", help="interpreter with torch, onnx and numpy")
    parser.add_argument("--cuda", action="store_true", help="PyTorch on CUDA (TF32 off)")
    parser.add_argument("--threads", type=int, default=2, help="of PyTorch on the CPU")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each")
    parser.add_argument("--keep", metavar="FOLDER", help="leave the models and batches there")
    parser.add_argument("--only", default="", metavar="TEXT",
                        help="what gives rows whose name holds this; such a run is not recorded")
    options = parser.parse_args(arguments)
    options.program = MORTON
    return options


def run(arguments):
    """(status, lines for ./dev bench all)"""
    options = parse_arguments(arguments)
    made = measurements(options.cuda)
    try:
        kept = chosen(made, options.only)
    except Missing as why:
        common.fail("training", why)
    options.load = common.checked_load()
    with contextlib.ExitStack() as stack:
        folder = options.keep or stack.enter_context(tempfile.TemporaryDirectory())
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        bench = Bench(options, folder)
        try:
            bench.make_files()
        except Missing as why:
            common.say(f"bench training: {why}")
            return 1, []
        for _, measure in kept:
            measure(bench)
        print_table(bench.rows)
        if bench.failed or len(kept) < len(made):
            common.say("not recorded: only whole runs are, in which nothing failed")
        else:
            append_record(bench.rows, options)
        lines = [common.Line(row["what"], row["wanted"], row["measured"], row["verdict"]) for row in bench.rows]
        return (1 if bench.failed else 0), lines


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:])[0])
