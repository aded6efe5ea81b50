#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random ONNX graphs beside ONNX Runtime: ./dev check --graphs N [--seed S], which builds build/tests/graph_runner before.

Each graph is computed by ONNX Runtime, by the operators' references in double, and on the device by generic kernels;
every tenth also by the kernels that a user gets. docs/fuzzing.md says how they are compared. A call goes on where the
last one of its seed ended, and the table is of all calls. Graphs that differ are made smaller and kept in
build/graphs/findings; the status is 1 where there are any.

--install FOLDER makes an interpreter with onnx and onnxruntime there; this script goes on in it."""

import argparse
import json
import os
import pathlib
import re
import select
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "graphs"
RUNNER = ROOT / "build" / "tests" / "graph_runner"
PACKAGES = ["onnx==1.23.2", "onnxruntime==1.32.0", "numpy"]
OPSETS = (13, 17, 18, 20, 21, 23)
MOST_NODES = 12
FAST_EVERY = 10                # of so many graphs one is also computed by the kernels that a user gets
HOSTILE, SPECIAL = 0.15, 0.05  # shares of graphs
SECONDS = 600                  # of one graph in Morton, at most: PoCL compiles some kernels for a minute
GRAPHS_OF_A_RUNNER = 2000      # then another process takes over, with the kernels on disk
KEPT_EVERY = 25                # graphs, after which totals are kept
MOST_FINDINGS = 20             # of one call: more of them are mostly the same
# ONNX Runtime is allowed this many times the bound of the reference, and this much: its tanh, erf and sigmoid are
# polynomials in f32. A graph in which it is further off is judged node by node.
PEER_SLACK, PEER_ABSOLUTE = 8.0, 4e-7


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
        bounded = np.isfinite(error) | ~np.isfinite(value)
        allowed = slack * error + (absolute * np.maximum(1, np.abs(value)) * (error > 0) if real else 0)
        right = np.where(np.isnan(value), np.isnan(have),
                         np.where(np.isinf(value), have == value, np.abs(have - value) <= allowed))
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
        """Findings, each a pair of what differs and how."""
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
            value, error = peer.astype(np.float64), np.zeros(peer.shape)
            if reference is not None and i not in late:
                value, error = reference[f"value_{i}"], reference[f"error_{i}"]
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
                    findings.append((one, f"{name}: {text}"))
        return findings

    def refused(self, wish, said, nodes):
        reason = re.sub(r"-?\d+(\.\d+)?", "N", re.sub(r"'[^']*'|\"[^\"]*\"", "'...'", said["why"].splitlines()[0]))
        blamed = re.search(r"'(\w+?)_\d+'", said["why"])
        name = blamed.group(1) if blamed and any(node.op_type == blamed.group(1) for node in nodes) else "graph"
        self.count("refused", f"{wish}: {name}: {said['ended']}: {reason[:160]}")

    def differs_by_itself(self, graph, nodes):
        """Whether ONNX Runtime leaves the bound in one node, from its own inputs. Otherwise its errors have added up."""
        for node in nodes:
            outputs = [name for name in node.output if name]
            findings = self.judge(graph, [node], outputs, ["reference"], counted=False)
            if any(which == "reference" for which, _ in findings):
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


def build(seed, index):
    """The graph of this number: the builder's graph, its outputs."""
    rng = np.random.default_rng([seed, index])
    b = builder.Builder(rng, int(rng.choice(OPSETS)), hostile=rng.random() < HOSTILE, special=rng.random() < SPECIAL)
    names = list(table.OPERATORS)
    shares = np.array([table.OPERATORS[name][0] for name in names])
    most = int(rng.integers(1, MOST_NODES + 1))
    for _ in range(3 * most):
        if len(b.graph.nodes) >= most or b.graph.expects == "refusal":
            break
        name = names[int(rng.choice(len(names), p=shares / shares.sum()))]
        try:
            table.OPERATORS[name][1](b)
        except builder.Refused:
            continue
    graph = b.graph
    outputs = graph.sinks()
    if graph.expects == "result":
        inner = [name for node in graph.nodes for name in node.output if name and name not in outputs]
        outputs += [name for name in inner if rng.random() < 0.15]
    else:
        outputs = list(graph.nodes[-1].output)
    return graph, outputs


def keep_finding(judge, graph, nodes, outputs, wish, seed, index, which, text):
    """Makes it smaller, keeps it and prints it."""
    before = len(nodes)
    if graph.expects == "result":
        nodes, outputs = judge.smaller(graph, nodes, outputs, wish, which)
    folder = BUILD / "findings" / f"{seed}-{index}"
    folder.mkdir(parents=True, exist_ok=True)
    judge.write(graph, graph.model(nodes, outputs), folder)
    final = [said for one, said in judge.judge(graph, nodes, outputs, wish, counted=False) if one == which] or [text]
    operators = [node.op_type for node in nodes]
    (folder / "finding.json").write_text(json.dumps(
        {"seed": seed, "graph": index, "which": which, "text": final[0], "operators": operators}, indent=1) + "\n")
    print(f"\n{which}: {' '.join(operators)} (of {before} nodes): {final[0]}\n  {folder.relative_to(ROOT)}; again: "
          f"./dev check --graphs 1 --seed {seed} --from {index}", flush=True)


def examine(judge, seed, index, wish):
    """Compares one graph; 1 where it differs."""
    graph, outputs = build(seed, index)
    judge.count("graphs", "made" if graph.nodes else "empty")
    if not graph.nodes:
        return 0
    if graph.expects == "refusal":
        judge.count("graphs", "refused by ONNX Runtime")
    judge.count("graphs", "nodes", len(graph.nodes))
    for node in graph.nodes:
        judge.count("operators", (node.domain + "." if node.domain else "") + node.op_type)
    if graph.expects == "refusal":
        wish = [one for one in wish if one != "reference"]
    try:
        findings = judge.judge(graph, graph.nodes, outputs, wish)
    except builder.Refused:
        judge.count("graphs", "refused by ONNX Runtime as a whole")
        return 0
    peers = [which for which, _ in findings if which == "reference"]
    if peers and len(peers) == len(findings) and not findings[0][1].startswith(("died", "late", "internal", "foreign")):
        if not judge.differs_by_itself(graph, graph.nodes):
            judge.count("graphs", "in which ONNX Runtime's errors add up")
            return 0
    if findings:
        which, text = next((pair for pair in findings if pair[0] != "reference"), findings[0])
        judge.count("findings", which)
        keep_finding(judge, graph, graph.nodes, outputs, wish, seed, index, which, text)
    return 1 if findings else 0


def table_of(totals):
    lines = []
    for what in ("graphs", "ended", "elements", "findings"):
        for name, count in sorted(totals.get(what, {}).items()):
            lines.append(f"{what:<10}{name:<42}{count:>12,}")
    refused = sorted(totals.get("refused", {}).items(), key=lambda pair: -pair[1])
    lines += [f"refused   {count:>6}  {reason}" for reason, count in refused[:40]]
    if len(refused) > 40:
        lines.append(f"refused   {sum(count for _, count in refused[40:]):>6}  for {len(refused) - 40} other reasons")
    operators = sorted(totals.get("operators", {}).items())
    lines.append(f"operators {len(operators)}: " + ", ".join(f"{name} {count}" for name, count in operators))
    return "\n".join(lines)


def key_of(options):
    """Of the graphs that calls go on with."""
    return str(options.seed) + (" references" if options.references else "")


def work(options):
    """Examines graphs until there are enough. Totals are kept on disk as it goes on."""
    state = BUILD / "totals.json"
    totals = json.loads(state.read_text()) if state.exists() else {}
    key = key_of(options)
    single = options.first is not None
    at = options.first if single else totals.setdefault("next", {}).get(key, 0)
    end = at + options.graphs if single else options.end
    found = 0
    with Judge(totals) as judge:
        while at < end and found < MOST_FINDINGS:
            if [options.seed, at] not in totals.get("skipped", []):
                (BUILD / "now").write_text(str(at))
                kernels = [] if options.references else ["generic"] + ["fast"] * (at % FAST_EVERY == 0)
                found += examine(judge, options.seed, at, ["reference", *kernels])
            at += 1
            if not single and (at % KEPT_EVERY == 0 or at == end or found >= MOST_FINDINGS):
                totals["next"][key] = at
                state.with_suffix(".new").write_text(json.dumps(totals, indent=1, sort_keys=True) + "\n")
                state.with_suffix(".new").replace(state)
    if single:
        print(table_of(totals))
    return 1 if found else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", type=int, help="how many more")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--from", dest="first", type=int, help="graphs from this number on, which are not counted")
    parser.add_argument("--references", action="store_true", help="leave out the device: references beside ONNX Runtime alone")
    parser.add_argument("--end", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--check", action="store_true", help="look at the arguments alone")
    options = parser.parse_args()
    if options.graphs <= 0 or options.seed < 0:
        parser.error("expected a number of graphs above 0, and a seed of 0 or more")
    if options.check:
        return 0
    BUILD.mkdir(parents=True, exist_ok=True)
    if options.end is not None or options.first is not None:
        return work(options)
    state = BUILD / "totals.json"

    def totals():
        return json.loads(state.read_text()) if state.exists() else {}

    key = key_of(options)
    begun, first = time.monotonic(), totals().get("next", {}).get(key, 0)
    end = first + options.graphs
    found, calls = 0, 0
    while totals().get("next", {}).get(key, 0) < end:
        calls += 1
        status = subprocess.run([sys.executable, "-B", __file__, str(options.graphs), "--seed", str(options.seed), "--end", str(end),
                                 *["--references"] * options.references], check=False).returncode
        if status in (0, 1):
            found += status
            if status:
                break
            continue
        # ONNX Runtime has ended the process: its graph is left out from now on.
        so_far = totals()
        so_far.setdefault("skipped", []).append([options.seed, int((BUILD / "now").read_text())])
        state.write_text(json.dumps(so_far, indent=1, sort_keys=True) + "\n")
        print(f"graph {so_far['skipped'][-1][1]} ended the process of ONNX Runtime ({status}); it is left out", flush=True)
    done = totals()
    print(table_of(done))
    graphs = done.get("next", {}).get(key, 0) - first
    print(f"\nseed {options.seed}: graphs {first} to {first + graphs - 1} in {time.monotonic() - begun:.0f} s; "
          f"{len(done.get('skipped', []))} left out")
    return 1 if found else 0


def install(folder):
    """An interpreter with the packages in `folder`; this script goes on in it."""
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "--quiet", "install", *PACKAGES], check=True)
        (folder / "ready").touch()
    at = sys.argv.index("--install")
    os.execv(str(python), [str(python), "-B", *sys.argv[:at], *sys.argv[at + 2:]])


if __name__ == "__main__":
    if "--install" in sys.argv:
        install(pathlib.Path(sys.argv[sys.argv.index("--install") + 1]))
    if "--check" not in sys.argv:
        import numpy as np

        import graph_builder as builder
        import operator_table as table
    sys.exit(main())
