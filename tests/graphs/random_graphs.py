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
import subprocess
import sys
import time

from folders import BUILD, ROOT

PACKAGES = ["onnx==1.23.2", "onnxruntime==1.32.0", "numpy"]
OPSETS = (13, 17, 18, 20, 21, 23)
MOST_NODES = 12
FAST_EVERY = 10                # of so many graphs one is also computed by the kernels that a user gets
HOSTILE, SPECIAL = 0.15, 0.05  # shares of graphs
KEPT_EVERY = 25                # graphs, after which totals are kept
MOST_FINDINGS = 20             # of one call: more of them are mostly the same


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
    # In one of several nodes ONNX Runtime's errors count as Morton's would.
    doubtful = [which for which, _ in findings if which == "reference" or which.endswith(BY_PEER)]
    if doubtful and len(doubtful) == len(findings) and not findings[0][1].startswith(("died", "late", "internal", "foreign")):
        kernels = [which.removesuffix(BY_PEER) for which in doubtful if which.endswith(BY_PEER)]
        if not judge.differs_by_itself(graph, graph.nodes, ["reference", *sorted(set(kernels))]):
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
    sys.path.insert(0, str(ROOT / "tools"))
    from interpreter import interpreter_with

    python = interpreter_with(PACKAGES, folder)
    at = sys.argv.index("--install")
    os.execv(python, [python, "-B", *sys.argv[:at], *sys.argv[at + 2:]])


if __name__ == "__main__":
    if "--install" in sys.argv:
        install(pathlib.Path(sys.argv[sys.argv.index("--install") + 1]))
    if "--check" not in sys.argv:
        import numpy as np

        import graph_builder as builder
        import operator_table as table
        from graph_judge import BY_PEER, Judge
    sys.exit(main())
