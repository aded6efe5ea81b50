#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trials of a cache folder that many starts share, and of starts that are killed. `./dev check --long` runs them.

crowd: many processes start one network at the same moment on an empty cache folder. All must answer as a lone process
does, and no kernel may be built more than twice. Then the same with `--start at-once`.
kills: a start on an empty cache folder is killed (SIGKILL) at a random moment, in turns alone and with all its
worker processes, and started again, until one start ends. It must answer as a lone process does.

Builds are counted where they happen: the program that compiles writes down each of its jobs."""

import argparse
import array
import collections
import json
import math
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
NETWORK, SHAPE = "mobilenet_v2", (1, 3, 224, 224)
# A crowd's answers come from kernels of two plans, whose sums differ in their order.
TOLERANCE = 1e-3
LEAST_KILLS_LEFT = 1

COUNTING = """#!/bin/sh
tee "{log}/$$" | "{program}"
"""


class Wrong(Exception):
    """A trial that failed, and how."""


def write_input(path):
    generator = random.Random(1)
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {SHAPE}, }}"
    head += " " * (-(10 + len(head) + 1) % 64) + "\n"
    values = array.array("f", (generator.random() for _ in range(math.prod(SHAPE))))
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + values.tobytes())


def numbers(path):
    """The f32 elements of an .npy file."""
    content = path.read_bytes()
    start = 10 + int.from_bytes(content[8:10], "little")
    return array.array("f", content[start:])


def say(text):
    print(text, file=sys.stderr, flush=True)


class Trials:
    def __init__(self, folder, options):
        self.folder, self.options, self.count = folder, options, 0
        self.prefix = folder / "installed"
        subprocess.run(["cmake", "--install", options.build, "--prefix", self.prefix], cwd=ROOT, check=True,
                       stdout=subprocess.DEVNULL)
        self.model, self.input = folder / "model.onnx", folder / "x.npy"
        write_input(self.input)
        subprocess.run([self.prefix / "bin" / "morton", "new", NETWORK, "-o", self.model], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def launch(self, cache, when):
        """A start with a driver's cache of its own: the process and the file of its answer."""
        self.count += 1
        answer = self.folder / f"answer{self.count}.npy"
        environment = dict(os.environ, POCL_CACHE_DIR=str(self.folder / f"driver{self.count}"),
                           MORTON_BACKGROUND="off")
        os.makedirs(environment["POCL_CACHE_DIR"])
        words = [self.prefix / "bin" / "morton", "run", self.model, "-i", self.input, "-o", answer, "--cache-dir", cache,
                 "--start", when, "--format", "json", "-d", self.options.device]
        # A session of its own: the workers die with it where all are killed.
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True,
                                   start_new_session=True)
        return process, answer

    def end(self, process, answer):
        """The report and the numbers of a start that must succeed."""
        out, said = process.communicate()
        if process.returncode != 0:
            raise Wrong(f"a start ended with status {process.returncode}: {said[-500:]}")
        return json.loads(out), numbers(answer)

    def lone(self):
        begin = time.monotonic()
        report, self.expected = self.end(*self.launch(self.folder / "lone", "ready"))
        self.cold_s = time.monotonic() - begin
        kernels = report["kernels"]
        self.kernels = kernels["built"] + kernels["from_cache"]
        say(f"alone: {self.kernels} kernels in {self.cold_s:.1f} s")

    def compare(self, answer, tolerance, what):
        most = max(map(abs, self.expected))
        difference = max(abs(a - b) for a, b in zip(answer, self.expected, strict=True))
        if not difference <= tolerance * most:
            raise Wrong(f"{what}: an answer differs by {difference:g}, where the largest number is {most:g}")

    def crowd(self, when, tolerance):
        helper = self.prefix / "libexec" / "morton" / "morton-compile"
        real, log = helper.with_name("morton-compile.real"), self.folder / f"jobs-{when}"
        shutil.copy2(helper, real)
        helper.write_text(COUNTING.format(log=log, program=real))
        log.mkdir()
        begin = time.monotonic()
        starts = [self.launch(self.folder / f"crowd-{when}", when) for _ in range(self.options.processes)]
        ends = [self.end(*one) for one in starts]
        seconds = time.monotonic() - begin
        os.replace(real, helper)
        for _, answer in ends:
            self.compare(answer, tolerance, f"{self.options.processes} processes, {when}")
        builds = collections.Counter(json.loads(line)["path"] for file in log.iterdir()
                                     for line in file.read_text().splitlines())
        reported = sum(report["kernels"]["built"] for report, _ in ends)
        if reported > sum(builds.values()):
            raise Wrong(f"{reported} kernels were built, but workers had {sum(builds.values())} jobs")
        most = max(builds.values(), default=0)
        interim = sum(report["interim_plan"] for report, _ in ends)
        say(f"crowd of {len(ends)}, {when}: all right in {seconds:.1f} s; {interim} by an interim plan; {len(builds)} "
            f"kernels, {sum(builds.values())} builds, at most {most} of one")
        if not builds:
            raise Wrong("no kernel was built by a worker: there is nothing to count")
        if most > 2:
            raise Wrong(f"a kernel was built {most} times")

    def kills(self):
        generator, killed, alone = random.Random(self.options.seed), 0, 0
        for number in range(self.options.kills):
            cache, left = self.folder / f"kills{number}", LEAST_KILLS_LEFT + generator.randrange(4)
            while left > 0:
                process, _ = self.launch(cache, "ready")
                try:
                    process.communicate(timeout=generator.uniform(0.0, 1.1 * self.cold_s))
                    if process.returncode != 0:
                        raise Wrong(f"a start after a kill ended with status {process.returncode}")
                    break
                except subprocess.TimeoutExpired:
                    only = generator.random() < 0.5
                    (os.kill if only else os.killpg)(process.pid, signal.SIGKILL)
                    process.communicate()
                    killed, alone, left = killed + 1, alone + only, left - 1
            report, answer = self.end(*self.launch(cache, "ready"))
            self.compare(answer, 0.0, f"after kills of cache {number}")
            _, answer = self.end(*self.launch(cache, "ready"))
            self.compare(answer, 0.0, f"a second start after kills of cache {number}")
            odd = [file.name for file in cache.rglob("*") if file.is_file() and file.suffix in (".tmp", ".part")]
            say(f"kills {number + 1} of {self.options.kills}: {killed} so far ({alone} of the parent alone); "
                f"{report['kernels']['built']} of {self.kernels} kernels were left to build"
                + (f"; left behind: {', '.join(odd)}" if odd else ""))
            shutil.rmtree(cache)
        if killed < self.options.kills * LEAST_KILLS_LEFT:
            raise Wrong(f"only {killed} starts could be killed")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="a folder of CMake (build)")
    parser.add_argument("--device", default="cpu", help="as of morton (cpu)")
    parser.add_argument("--processes", type=int, default=24, help="of a crowd (24)")
    parser.add_argument("--kills", type=int, default=20, metavar="N", help="cache folders that starts are killed on (20)")
    parser.add_argument("--seed", type=int, default=1, help="of the moments of kills (1)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        trials = Trials(pathlib.Path(folder), options)
        try:
            trials.lone()
            trials.crowd("ready", 0.0)
            trials.crowd("at-once", TOLERANCE)
            trials.kills()
        except Wrong as why:
            say(f"start_trials: {why}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
