# SPDX-License-Identifier: Apache-2.0
"""Who is measured in turns, and the turns: programs that start anew for each turn, and processes that stay."""

import contextlib
import json
import os
import pathlib
import shlex
import statistics
import subprocess
import tempfile
import time

from common import ROOT, Missing, say

# A turn of a contender lasts about so long, but for one whose single run takes longer.
TURN_MS = 700.0
MOST_RUNS = 200
# Whoever takes longer for a run has two turns, each of which warms up by itself.
SLOW_MS = 1000.0
# What threads of a library may spin after a call.
REST_S = 0.3


def runs_within(turn_ms, one_ms, least, most):
    return max(least, min(most, int(turn_ms / max(one_ms, 1e-3))))


def environment_with(variables):
    """PoCL's threads stay on their cores, whoever uses them."""
    return dict(os.environ, POCL_AFFINITY="1", **variables)


def json_of(words, variables, accepted=(0,)):
    """What a command of ours prints, as JSON, where its status is one of these."""
    done = subprocess.run([*words, "--format", "json"], cwd=ROOT, capture_output=True, text=True, check=False,
                          env=environment_with(variables))
    if done.returncode not in accepted:
        raise Missing(f"{shlex.join(words)}: status {done.returncode}: {done.stderr.strip()[-500:]}")
    try:
        return json.loads(done.stdout)
    except json.JSONDecodeError:
        raise Missing(f"{shlex.join(words)}: no JSON: {done.stderr.strip()[-500:]}") from None


class Morton:
    """`morton bench MODEL`; each turn is a process of its own. `shown` are the variables that a reader must set. A turn
    that is cold has empty caches, and its value is compiling and the first run. `clock` is "host" or "device"."""

    def __init__(self, words, title, shown=(), cold=False, clock="host"):
        self.words, self.title, self.shown, self.cold, self.clock = words, title, list(shown), cold, clock
        self.runs, self.results = 1, []

    def command(self):
        return shlex.join(self.shown + self.words + ["-n", str(self.runs)])

    def turn(self):
        variables = dict(one.split("=", 1) for one in self.shown)
        words = self.words + ["-n", str(self.runs), "--warmup", "100ms"]
        with tempfile.TemporaryDirectory() as empty:
            if self.cold:
                words += ["--cache-dir", f"{empty}/morton"]
                variables.update(POCL_CACHE_DIR=f"{empty}/pocl", CUDA_CACHE_PATH=f"{empty}/cuda")
                os.mkdir(f"{empty}/pocl")
            result = json_of(words, variables)
        self.results.append(result)
        median = result["clocks"][self.clock]["p50_ms"]
        self.runs = runs_within(TURN_MS, median, 1, MOST_RUNS)
        return result["phases"]["compile_ms"] + result["phases"]["first_inference_ms"] if self.cold else median

    def version(self):
        return self.title

    def close(self):
        pass


class Answering:
    """A process that stays, so that a turn starts warm: it says in a line of JSON what it is, and answers each line of
    its standard input with one of JSON. `question` is what asks it for the milliseconds of so many runs."""

    def __init__(self, words, question="{}", least=1, most=MOST_RUNS, turn_ms=TURN_MS):
        self.words = [str(word) for word in words]
        self.question, self.limits, self.turn_ms = question, (least, most), turn_ms
        try:
            self.process = subprocess.Popen(self.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=subprocess.PIPE, text=True, cwd=ROOT, env=environment_with({}))
        except OSError as why:
            raise Missing(f"{self.words[0]}: {why.strerror}") from why
        self.runs = least
        self.facts = self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            said = self.process.stderr.read().strip().splitlines()
            raise Missing(f"{shlex.join(self.words)}: {said[-1] if said else 'ended'}")
        return json.loads(line)

    def ask(self, line):
        # One that has ended says why in answer().
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(f"{line}\n")
            self.process.stdin.flush()
        return self.answer()

    def turn(self):
        median = statistics.median(self.ask(self.question.format(self.runs)))
        self.runs = runs_within(self.turn_ms, median, *self.limits)
        time.sleep(REST_S)
        return median

    def command(self):
        # No pipe: it would end the cell of the table.
        return f"{shlex.join(self.words)} <<< {shlex.quote(self.question.format(self.runs))}"

    def version(self):
        return self.facts["version"]

    def close(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            self.process.wait(timeout=60)


def measure(openers, rounds):
    """Of contenders that take turns: {key: {"ms", "best_ms", "samples_ms", "command", "version", "result"}} of those
    that ran, and {key: why not}. `openers` gives for each key its title and what opens it."""
    opened, absent, times = {}, {}, {}
    try:
        for key, (title, opener) in openers.items():
            say(f"  {title}")
            try:
                opened[key] = opener()
                # The first turn warms caches up and finds how many runs a turn has, but of one that `is_warm`: each of
                # its turns warms up by itself, and has as many runs as the others.
                first = opened[key].turn()
                counts = first > SLOW_MS or getattr(opened[key], "is_warm", False)
                times[key] = [first] if counts else []
            except Missing as why:
                say(f"  not measured: {title}: {why}")
                absent[key] = str(why)
        for _ in range(rounds):
            for key, samples in list(times.items()):
                if len(samples) >= (2 if samples and samples[0] > SLOW_MS else rounds):
                    continue
                try:
                    samples.append(opened[key].turn())
                except Missing as why:
                    say(f"  not measured: {openers[key][0]}: {why}")
                    absent[key] = str(why)
                    del times[key]
        return {key: {"ms": statistics.median(samples), "best_ms": min(samples), "samples_ms": samples,
                      "command": opened[key].command(), "version": opened[key].version(),
                      "result": getattr(opened[key], "results", [None])[-1]}
                for key, samples in times.items()}, absent
    finally:
        for one in opened.values():
            one.close()


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
        say(f"making {files[network]}")
        subprocess.run([options.program, "new", network, "-o", str(files[network])], cwd=ROOT, check=True)
    return files
