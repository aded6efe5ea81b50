# SPDX-License-Identifier: Apache-2.0
"""Computes a graph in Morton and in ONNX Runtime, and says what differs. docs/fuzzing.md says what is allowed.

random_graphs.py asks for one graph after another."""

import json
import os
import pathlib
import re
import select
import shutil
import subprocess

import numpy as np

import graph_builder as builder
from folders import BUILD, ROOT

RUNNER = ROOT / "build" / "tests" / "graph_runner"
SECONDS = 600                  # of one graph in Morton, at most: PoCL compiles some kernels for a minute
GRAPHS_OF_A_RUNNER = 2000      # then another process takes over, with the kernels on disk
# ONNX Runtime is allowed this many times the bound of the reference, and this much: its tanh, erf and sigmoid are
# polynomials in f32. A graph in which it is further off is judged node by node.
PEER_SLACK, PEER_ABSOLUTE = 8.0, 4e-7
BY_PEER = " beside ONNX Runtime"


class Runner:
    """A graph_runner, started again where it ended."""

    def __init__(self):
        self.process, self.asked = None, 0

    def start(self):
        environment = {**os.environ, "POCL_CACHE_DIR": str(BUILD / "pocl"), "POCL_MAX_PTHREAD_COUNT": "1",
                       "MORTON_BACKGROUND": "off"}
        self.process = subprocess.Popen([str(RUNNER), str(BUILD / "cache")], stdin=subprocess.PIPE, env=environment,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=ROOT)
        self.asked = 0

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
        self.process = None

    def ask(self, folder, wish):
        """What came of each wish: `ended` is "well", a class of errors, "died" or "late"."""
        if self.asked >= GRAPHS_OF_A_RUNNER:
            self.stop()
        if self.process is None:
            self.start()
        self.asked += 1
        try:
            self.process.stdin.write((json.dumps({"folder": str(folder), "wish": wish}) + "\n").encode())
            self.process.stdin.flush()
            ended = "died"
            if select.select([self.process.stdout], [], [], SECONDS)[0]:
                if line := self.process.stdout.readline():
                    return json.loads(line)
            else:
                ended = "late"
        except BrokenPipeError:
            ended = "died"
        self.process.kill()
        why = f"the process ended with status {self.process.wait()}" if ended == "died" else f"no answer in {SECONDS} s"
        self.process = None
        if len(wish) > 1:  # which of them is it?
            return {one: self.ask(folder, [one])[one] for one in wish}
        return {wish[0]: {"ended": ended, "why": why}}


def differences(value, error, got, slack=1.0, absolute=0.0, finite=False, peer=None):
    """What is wrong with `got`, or nothing; and how many elements have no bound. `finite`: where either is no finite
    number nothing is said. `peer`: whole numbers that are right too, since doubles do not hold those beyond 2^53."""
    if got.shape != value.shape:
        return f"the shape is {list(got.shape)}, expected {list(value.shape)}", 0
    real = got.dtype.kind == "f"
    with np.errstate(all="ignore"):
        have = got.astype(np.float64)
        # An infinity of which the reference knows no bound comes of what other orders of adding make a NaN; a NaN without
        # one, of 0 times infinity, where the 0 is rounded.
        bounded = np.isfinite(error) | (np.isnan(value) & ~np.isinf(error))
        allowed = slack * error + (absolute * np.maximum(1, np.abs(value)) * (error > 0) if real else 0)
        right = np.where(np.isnan(value), np.isnan(have),
                         np.where(np.isinf(value), have == value, np.abs(have - value) <= allowed))
        if real:  # beyond the type's range
            most = np.finfo(got.dtype).max if got.dtype.itemsize < 8 else np.inf
            right |= np.isinf(have) & (np.sign(have) == np.sign(value)) & (np.abs(value) + allowed > most)
        if peer is not None and not real and got.shape == peer.shape:
            right |= got == peer
        if finite:
            bounded &= np.isfinite(value) & np.isfinite(have)
    wrong = ~right & bounded
    if not wrong.any():
        return None, int((~bounded).sum())
    at = int(np.flatnonzero(wrong)[0])
    return (f"{int(wrong.sum())} of {wrong.size} elements differ, the first at {at}: {have.flat[at]:.9g}, expected "
            f"{value.flat[at]:.9g} +- {np.asarray(allowed).flat[at]:.3g}"), 0


class Judge:
    """Computes graphs in Morton and says what is wrong. Keeps count of what was compared and refused."""

    def __init__(self, totals):
        self.runner, self.totals = Runner(), totals
        self.folder = pathlib.Path("/dev/shm" if os.path.isdir("/dev/shm") else BUILD) / f"morton-graphs-{os.getpid()}"

    def __enter__(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(self, *_):
        self.runner.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def count(self, what, name, by=1):
        counts = self.totals.setdefault(what, {})
        counts[name] = counts.get(name, 0) + by

    def write(self, graph, model, folder):
        for old in folder.glob("*.npz"):
            old.unlink()
        (folder / "model.onnx").write_bytes(model.SerializeToString())
        inputs = {port.name: graph.values[port.name] for port in model.graph.input}
        if inputs:
            np.savez(folder / "inputs.npz", **inputs)
        return inputs

    def loaded(self, name):
        with np.load(self.folder / f"{name}.npz") as arrays:
            return {key: arrays[key] for key in arrays.files}

    def judge(self, graph, nodes, outputs, wish, counted=True):
        """Findings, each a pair of what differs and how. Kernels that only ONNX Runtime tells from right have BY_PEER behind
        their name where they differ little."""
        model = graph.model(nodes, outputs)
        inputs = self.write(graph, model, self.folder)
        said = self.runner.ask(self.folder, wish) if wish else {}
        if counted:
            for one in wish:
                self.count("ended", f"{one}: {said[one]['ended']}")
        broken = [(one, f"{said[one]['ended']}: {said[one]['why']}") for one in wish
                  if said[one]["ended"] in ("died", "late", "internal", "foreign", "device")]
        if broken:
            return broken
        if counted:
            for one in wish:
                if said[one]["ended"] != "well":
                    self.refused(one, said[one], nodes)
        if graph.expects == "refusal":
            return []
        expected = builder.computed(model, inputs)
        reference = self.loaded("reference") if said.get("reference", {}).get("ended") == "well" else None
        late = said.get("reference", {}).get("late", [])
        findings = []
        for i, (name, peer) in enumerate(zip(outputs, expected)):
            value, error, by = peer.astype(np.float64), np.zeros(peer.shape), BY_PEER
            if reference is not None and i not in late:
                value, error, by = reference[f"value_{i}"], reference[f"error_{i}"], ""
                # What overflows on the way differs, and what is chosen among NaN (docs/numerics.md).
                text, open_ones = differences(value, error, peer, PEER_SLACK, PEER_ABSOLUTE, graph.special)
                if graph.has_nan():
                    text = None
                if counted:
                    self.count("elements", "compared with ONNX Runtime", peer.size)
                    self.count("elements", "without a bound", open_ones)
                if text:
                    findings.append(("reference", f"{name}: ONNX Runtime: {text}"))
            elif peer.dtype.kind == "f":
                error = 1e-4 * np.maximum(1, np.abs(value))
            for one in ("generic", "fast"):
                if said.get(one, {}).get("ended") != "well":
                    continue
                got = self.loaded(one)[name]
                if got.dtype != peer.dtype:
                    findings.append((one, f"{name}: the type is {got.dtype}, expected {peer.dtype}"))
                    continue
                if counted:
                    self.count("elements", f"of {one} kernels", got.size)
                if text := differences(value, error, got, peer=peer)[0]:
                    # Errors of both may have added up, but not to so much.
                    is_sure = differences(value, 100 * error, got, peer=peer)[0]
                    findings.append((one if is_sure else one + by, f"{name}: {text}"))
        return findings

    def refused(self, wish, said, nodes):
        reason = re.sub(r"-?\d+(\.\d+)?", "N", re.sub(r"'[^']*'|\"[^\"]*\"", "'...'", said["why"].splitlines()[0]))
        blamed = re.search(r"'(\w+?)_\d+'", said["why"])
        name = blamed.group(1) if blamed and any(node.op_type == blamed.group(1) for node in nodes) else "graph"
        self.count("refused", f"{wish}: {name}: {said['ended']}: {reason[:160]}")

    def differs_by_itself(self, graph, nodes, wish):
        """Whether ONNX Runtime or kernels leave the bound in one node, from ONNX Runtime's inputs. Otherwise errors have
        added up."""
        for node in nodes:
            outputs = [name for name in node.output if name]
            if self.judge(graph, [node], outputs, wish, counted=False):
                return True
        return False

    def smaller(self, graph, nodes, outputs, wish, which):
        """Fewer nodes and outputs that differ likewise."""
        def still(some, results):
            try:
                found = self.judge(graph, some, results, wish, counted=False)
            except builder.Refused:
                return False
            return any(one == which for one, _ in found)

        for name in outputs:
            if len(outputs) > 1 and still(nodes, [name]):
                outputs = [name]
        going = True
        while going:
            going = False
            for node in list(nodes):
                rest = [other for other in nodes if other is not node]
                made = [name for other in rest for name in other.output if name]
                results = [name for name in outputs if name in made] or \
                    [name for name in node.input if name in made]
                if results and still(rest, results):
                    nodes, outputs, going = rest, results, True
        needed, wanted = [], set(outputs)
        for node in reversed(nodes):
            if wanted & set(node.output):
                needed.insert(0, node)
                wanted |= set(node.input)
        return (needed, outputs) if still(needed, outputs) else (nodes, outputs)
