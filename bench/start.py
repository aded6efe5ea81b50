#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""First and later starts of networks beside their targets: prints the tables with the command for each number, and
appends a record to bench/history/start. Each number is the median of whole processes up to their first answer.

cold: no cache holds anything. at once: the device has met another model, whose start built the generic kernels; the
driver keeps nothing. The starts are `--start ready` but for this. warm: all is kept. driver kept nothing: Morton's cache holds all, the driver's nothing.
compiled ahead: a file of `morton compile`, no cache holds anything.

Peers run in the interpreter that --peer-python names: ONNX Runtime, and tinygrad on its OpenCL device. A peer that is
missing is named. A missed target or peer is no failure; a start of Morton's that fails is, and the status is 1."""

import argparse
import array
import json
import math
import os
import pathlib
import random
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import common
import contenders
import start_table as table

ROOT = common.ROOT
IMAGES = (1, 3, 224, 224)
SHAPES = {"lenet5": (1, 1, 32, 32), "encoder": (1, 128, 384)}
ENCODER = ROOT / "tools" / "dequantised_encoder.py"
PEER = ROOT / "bench" / "start_peer.py"
# Starts of each kind: those that compile take seconds.
COLD_ROUNDS, ROUNDS = 1, 5


class Failed(Exception):
    """A command that ended with a status, and what it said."""


def write_input(path, shape):
    """An .npy file of numbers between 0 and 1."""
    generator = random.Random(1)
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (-(10 + len(head) + 1) % 64) + "\n"
    values = array.array("f", (generator.random() for _ in range(math.prod(shape))))
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + values.tobytes())


def start(words, caches):
    """Runs a process with the variables `caches`: seconds, peak resident bytes, and what it printed."""
    environment = dict(os.environ, **caches)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as said:
        begin = time.monotonic()
        process = subprocess.Popen(words, cwd=ROOT, stdout=out, stderr=said, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        said.seek(0)
        if process.returncode != 0:
            raise Failed(f"{shlex.join(words)}: status {process.returncode}: {said.read().decode()[-500:].strip()}")
        return seconds, usage.ru_maxrss * 1024, out.read().decode()


class Starts:
    """The starts of one network, in a folder of its own."""

    def __init__(self, network, model, options, folder):
        self.network, self.options, self.folder = network, options, folder
        self.model, self.input = str(model), f"{folder}/x.npy"
        shape = SHAPES.get(network, IMAGES)
        write_input(self.input, shape)
        self.shape = [] if network == "encoder" else ["--shape", "input:" + "x".join(map(str, shape))]
        self.found = {"starts": {}, "absent": {}, "objects": None}

    def words(self, model, cache, when="ready"):
        device = ["--device", self.options.device] if self.options.device else []
        ahead = str(model).endswith(".morton")
        return [self.options.program, "run", model, *self.shape, "-i", self.input, "--cache-dir", cache,
                "--format", "json", *device, *([] if ahead else ["--start", when])]

    def at_once(self):
        """Starts on a device that has met another model: each has a copy of what that left."""
        met = f"{self.folder}/met"
        write_input(f"{self.folder}/met.npy", table.MET_SHAPE)
        device = ["--device", self.options.device] if self.options.device else []
        start([self.options.program, "run", table.MET, "-i", f"{self.folder}/met.npy", "--prepare", "--cache-dir", met,
               *device], self.caches("met-driver"))

        def prepared(number):
            cache = shutil.copytree(met, tempfile.mkdtemp(prefix=f"once{number}-", dir=self.folder), dirs_exist_ok=True)
            return (self.words(self.model, cache, "at-once"),
                    dict(self.caches(f"once-driver{number}"), MORTON_BACKGROUND="off"))
        self.measure(table.ONCE, self.options.rounds, prepared)

    def caches(self, name):
        """Where drivers that keep something are told to keep it: the folder `name`."""
        folders = {key: f"{self.folder}/{name}/{key}" for key in ("POCL_CACHE_DIR", "CUDA_CACHE_PATH")}
        for folder in folders.values():
            os.makedirs(folder, exist_ok=True)
        return folders

    def command(self, words, caches):
        text = shlex.join([*(f"{key}={value}" for key, value in caches.items()), *words])
        for place, name in ((self.options.peer_python, "$PYTHON"), (self.folder, "$F"), (f"{ROOT}/", "")):
            text = text.replace(str(place), name) if place else text
        return text

    def measure(self, kind, rounds, prepared):
        """Starts of a kind; prepared(round) gives the words and the caches of one."""
        samples, peaks, last = [], [], {}
        try:
            for number in range(rounds):
                words, caches = prepared(number)
                seconds, peak, out = start(words, caches)
                samples.append(seconds)
                peaks.append(peak)
                last = json.loads(out)
        except (Failed, json.JSONDecodeError) as why:
            self.found["absent"][kind] = str(why)
            return None
        kernels = last.get("kernels", {})
        one = {"s": statistics.median(samples), "best_s": min(samples), "samples_s": samples,
               "peak_bytes": max(peaks), "built": kernels.get("built"), "command": self.command(words, caches),
               "kernels": kernels.get("built", 0) + kernels.get("from_cache", 0)}
        if kind == table.COLD and "PoCL" in self.options.platform:
            self.found["objects"] = kernels["compiled_objects"]
        self.found["starts"][kind] = one
        return one

    def ours(self):
        cold = self.measure(table.COLD, COLD_ROUNDS, lambda n: (
            self.words(self.model, f"{self.folder}/morton"), self.caches("driver")))
        if cold is None:
            return
        try:
            self.at_once()
        except Failed as why:
            self.found["absent"][table.ONCE] = str(why)
        warm = (self.words(self.model, f"{self.folder}/morton"), self.caches("driver"))
        self.measure(table.WARM, self.options.rounds, lambda n: warm)
        self.measure(table.DRIVER, self.options.rounds, lambda n: (warm[0], self.caches(f"driver{n}")))
        file = f"{self.folder}/model.morton"
        device = ["--device", self.options.device] if self.options.device else []
        try:
            start([self.options.program, "compile", self.model, *self.shape, "-o", file, "--cache-dir",
                   f"{self.folder}/morton", *device], self.caches("driver"))
        except Failed as why:
            self.found["absent"].update({table.AHEAD: str(why), table.AHEAD_KEPT: str(why)})
            return
        self.measure(table.AHEAD, self.options.rounds, lambda n: (
            self.words(file, f"{self.folder}/ahead{n}"), self.caches(f"ahead{n}")))
        kept = (self.words(file, f"{self.folder}/ahead0"), self.caches("ahead0"))
        self.measure(table.AHEAD_KEPT, self.options.rounds, lambda n: kept)
        os.remove(file)

    def peers(self):
        words = [self.options.peer_python, str(PEER)]
        threads = ["--threads", str(self.options.threads)]
        self.measure(table.ONNXRUNTIME, self.options.rounds, lambda n: (
            [*words, "onnxruntime", self.model, self.input, *threads], {}))
        tinygrad = [*words, "tinygrad", self.model, self.input]
        empty = dict(self.caches("tinygrad"), CACHEDB=f"{self.folder}/tinygrad.db")
        if self.measure(table.TINYGRAD_COLD, COLD_ROUNDS, lambda n: (tinygrad, empty)):
            self.measure(table.TINYGRAD_WARM, min(2, self.options.rounds), lambda n: (tinygrad, empty))

    def after(self, model):
        """The relative's kernels, where this network's are cached already."""
        words = self.words(str(model), f"{self.folder}/morton")
        seconds, _, out = start(words, self.caches("driver"))
        kernels = json.loads(out)["kernels"]
        return {"built": kernels["built"], "kernels": kernels["built"] + kernels["from_cache"], "s": seconds,
                "command": self.command(words, self.caches("driver"))}


def files_of(names, options):
    """The networks' files by name; what cannot be made has a reason in place of a path."""
    files = dict(contenders.make_files([name for name in names if name != "encoder"], options))
    if "encoder" in names:
        file = pathlib.Path(ROOT / options.work / "encoder.onnx")
        done = subprocess.run([options.peer_python or sys.executable, str(ENCODER), str(file)], cwd=ROOT,
                              capture_output=True, text=True, check=False)
        files["encoder"] = file if done.returncode == 0 else Failed(done.stderr.strip().splitlines()[-1])
    return files


def measure_network(network, files, options):
    common.say(network)
    if isinstance(files[network], Failed):
        return {"starts": {}, "absent": {"all": str(files[network])}, "objects": None}, None
    after = None
    with tempfile.TemporaryDirectory() as folder:
        starts = Starts(network, files[network], options, folder)
        starts.ours()
        if network == table.BEFORE and table.AFTER in files and table.COLD in starts.found["starts"]:
            after = starts.after(files[table.AFTER])
        if options.peer_python and network != table.LARGE:
            starts.peers()
    return starts.found, after


def parse_arguments():
    parser = argparse.ArgumentParser(prog="./dev bench start", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-d", "--device", default="", help="as of morton; else a GPU, if there is one")
    parser.add_argument("--only", action="append", choices=[*table.NETWORKS, table.LARGE], metavar="NETWORK",
                        help="one network; repeatable")
    parser.add_argument("--quick", action="store_true", help="two starts of each kind, without the largest network")
    parser.add_argument("--peer-python", default="", metavar="PYTHON",
                        help="interpreter with onnxruntime, tinygrad, onnx and numpy; without it no peer is measured")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="of ONNX Runtime (all processors)")
    parser.add_argument("--work", default="build/networks", metavar="FOLDER", help="for the networks' files")
    parser.add_argument("--history", default=str(ROOT / "bench" / "history" / "start"), metavar="FOLDER",
                        help="where the record goes (bench/history/start)")
    parser.add_argument("--program", default="build/morton", help="build/morton")
    options = parser.parse_args()
    options.rounds = 2 if options.quick else ROUNDS
    return options


def main():
    options = parse_arguments()
    names = options.only or [*table.NETWORKS, *([] if options.quick else [table.LARGE])]
    load = common.checked_load()
    device = common.device_facts(options, "start")
    options.platform = f"{device['platform']} {device['driver_version']}"
    if "Portable Computing Language" in options.platform:
        options.platform += " PoCL"
    files = files_of(names, options)
    results, after = {}, None
    for name in names:
        results[name], found = measure_network(name, files, options)
        after = found or after
    if after and table.AFTER in results:
        results[table.AFTER]["after"] = after
    rows = [table.evaluate(target, results[target.network]) for target in table.targets() if target.network in results]
    print(f"{common.title_of(device)}, {os.cpu_count()} processors\n")
    table.print_targets(rows)
    table.print_networks(results)
    table.print_commands(results)
    table.print_reasons(rows, results)
    common.append_record({**common.record_head(device, 2, load), "targets": rows, "networks": results},
                         options.history)
    return 1 if any(one in found["absent"] for found in results.values() for one in (*table.OURS, "all")) else 0


if __name__ == "__main__":
    sys.exit(main())
