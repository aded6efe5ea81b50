#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Matrix products on this machine beside their targets: measures every shape together with the peers, prints the
table, with the command for each number, and appends a record to bench/history.

The status is 0 when everything was measured, hit or missed, and 1 when something was not or cannot be."""

import argparse
import ctypes
import json
import os
import shlex
import subprocess
import sys

import common
import gemm_table as table
from common import ROOT, say

# What a peer needs: one of these libraries, and where it comes from.
PEERS = {
    "clblast": (["libclblast.so.1"], "libclblast1"),
    "openblas": (["libopenblas.so.0"], "libopenblas0-pthread"),
    "onednn": (["libdnnl.so.2", "libdnnl.so.3"], "libdnnl2"),
    "cublas": (["libcublas.so.13", "libcublas.so.12"], None),
    "gemmlowp": (["libmorton_gemmlowp.so"], "libgemmlowp-dev"),
}
# gemmlowp is headers alone: the build makes a library of it here.
BUILT_PEERS = ROOT / "build" / "bench"
QUICK_SHAPES = 3
QUICK_SAMPLES = 5


def fail(text):
    common.fail("gemm", text)


def loads(peer, folder):
    folder = BUILT_PEERS if peer == "gemmlowp" else folder
    for name in PEERS[peer][0]:
        try:
            ctypes.CDLL(f"{folder}/{name}" if folder else name)
            return True
        except OSError:
            continue
    return False


def require_peers(peers, options):
    """Ends with what to install where a peer is missing."""
    absent = [peer for peer in peers if not loads(peer, options.peer_folder)]
    if not absent:
        return
    packages = [PEERS[peer][1] for peer in absent if PEERS[peer][1]]
    advice = [f"apt-get install {' '.join(packages)}"] if packages else []
    if "gemmlowp" in absent:
        advice.append("for gemmlowp, then cmake --build build --target morton_gemmlowp")
    if "cublas" in absent:
        advice.append("for cublas, name the folder of CUDA's libraries by --peer-folder or "
                      "LD_LIBRARY_PATH")
    fail(f"these peers are not installed: {', '.join(absent)}.\n  " + "\n  ".join(advice) +
         f"\n  Or leave them out: --without {','.join(absent)}")


def older_kernels(kernels):
    return table.openblas_core_type(kernels, common.processor_fact("flags").split())


def openblas_variables(options):
    """What the environment needs for OpenBLAS to use kernels for this processor."""
    library = ctypes.CDLL(f"{options.peer_folder}/{PEERS['openblas'][0][0]}" if options.peer_folder
                          else PEERS["openblas"][0][0])
    library.openblas_get_corename.restype = ctypes.c_char_p
    kernels = library.openblas_get_corename().decode()
    core_type = older_kernels(kernels)
    if core_type:
        say(f"OpenBLAS takes its kernels for {kernels} here, older than this processor: OPENBLAS_CORETYPE={core_type}")
    return {"OPENBLAS_CORETYPE": core_type} if core_type else {}


class Bench:
    """Calls the program; a run that was made already is not made again."""

    def __init__(self, options):
        self.program = options.program
        self.common = ["-n", str(options.samples)]
        self.buffers = options.buffers
        if options.device:
            self.common += ["--device", options.device]
        self.peer_folder = options.peer_folder
        self.variables = {}
        self.results = {}
        self.problems = []
        self.load = common.checked_load()

    def command(self, run):
        words = [self.program] + run.arguments() + self.common
        folder = str(BUILT_PEERS.relative_to(ROOT)) if "gemmlowp" in run.peers else self.peer_folder
        words += ["--peer-folder", folder] if folder and run.peers else []
        return words if "--buffers" in words else words + ["--buffers", self.buffers]

    def shown(self, run):
        """The command as a reader can repeat it."""
        return shlex.join([f"{key}={value}" for key, value in self.variables.items()] + self.command(run))

    def call(self, words):
        """(parsed output or None, status, what it said)."""
        done = subprocess.run(words + ["--format", "json"], cwd=ROOT, capture_output=True,
                              text=True, check=False, env=dict(os.environ, **self.variables))
        try:
            return json.loads(done.stdout), done.returncode, done.stderr.strip()
        except json.JSONDecodeError:
            return None, done.returncode, done.stderr.strip()

    def measure(self, run):
        if run in self.results:
            return self.results[run]
        say(self.shown(run))
        result, status, errors = self.call(self.command(run))
        if status != 0:
            self.problems.append({"command": self.shown(run), "status": status, "said": errors})
            say(errors)
        self.results[run] = result
        return result


def measured_reads(options, device):
    """What `morton probe` reads here by footprint; empty where it is not measured."""
    if options.read_bandwidth:
        return [{"footprint_bytes": 1, table.MEDIAN: options.read_bandwidth,
                 table.QUICKEST: options.read_bandwidth}]
    # Not --quick: its footprints are 16 times apart, and caches end in between.
    words = [options.program, "probe", "--device", device["id"], "--format", "json"]
    say(shlex.join(words))
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        say(done.stderr.strip())
        return []
    return table.reads_of(json.loads(done.stdout))


def ours_in(result):
    return table.contender(result, result["ours"]) if result and result["ours"] else None


def evaluate(target, bench, peers, reads, options):
    """The row of a target: its numbers by shape, their mean, hit or miss."""
    row = {"target": target.title, "least": target.least, "unit": target.unit, "numbers": [],
           "mean": None, "mean_of_quickest": None, "verdict": "not measured", "why": ""}
    left_out = [peer for peer in target.peers if peer not in peers]
    if left_out:
        row["why"] = f"without {', '.join(left_out)}"
        return row
    if target.needs and (target.needs != "bandwidth" or not reads):
        row["why"] = ("`morton probe` gives no read bandwidth; --read-bandwidth GB/S takes one"
                      if target.needs == "bandwidth" else f"needs {target.needs}")
        return row
    runs = target.runs(peers)[:: options.step]
    for run in runs:
        result = bench.measure(run)
        ours = ours_in(result)
        number, quickest = [None if ours is None else target.measure(result, ours, reads, which)
                            for which in (table.MEDIAN, table.QUICKEST)]
        row["numbers"].append({"shape": "x".join(map(str, run.shape)), "number": number,
                               "of_quickest": quickest,
                               "kernel": ours["name"] if ours else None,
                               "command": bench.shown(run)})
    numbers = [one["number"] for one in row["numbers"]]
    if None in numbers:
        row["why"] = "a run gave no number"
        return row
    row["mean"] = table.geometric_mean(numbers)
    row["mean_of_quickest"] = table.geometric_mean([one["of_quickest"] for one in row["numbers"]])
    above = sum(bool(bench.results[run]["above_peak"]) for run in runs)
    if above:
        row["why"] = f"{above} of {len(runs)} runs have figures above the peak: a disturbed machine"
    row["verdict"] = "hit" if row["mean"] >= target.least else "miss"
    if target.unit == "" and max(numbers) > table.MOST_SHARE:
        row["verdict"] = "wrong"
        row["why"] = "a share above 1.02 cannot be: this or the peak was measured on a disturbed machine"
    if "openblas" in target.peers and older_kernels(versions_of(bench)["openblas"]):
        row["verdict"] = "wrong"
        row["why"] = f"kernels older than this processor: {versions_of(bench)['openblas']}"
    return row


def number_text(number, unit):
    return "n/a" if number is None else f"{number:.3g}{unit}"


def line_of(row):
    return common.Line(row["target"], ">= " + number_text(row["least"], row["unit"]),
                       number_text(row["mean"], row["unit"]), row["verdict"])


def print_rows(rows):
    width = max(len(row["target"]) for row in rows)
    print(f"{'target':{width}}  {'wanted':>8}  {'measured':>8}  {'quickest':>8}  verdict")
    for row in rows:
        line = line_of(row)
        why = f" ({row['why']})" if row["why"] else ""
        print(f"{line.target:{width}}  {line.wanted:>8}  {line.measured:>8}  "
              f"{number_text(row['mean_of_quickest'], row['unit']):>8}  {line.verdict}{why}")
    for row in rows:
        if not row["numbers"]:
            continue
        print(f"\n{row['target']}:")
        for one in row["numbers"]:
            print(f"  {one['shape']:>14}  {number_text(one['number'], row['unit']):>8}  "
                  f"{number_text(one['of_quickest'], row['unit']):>8}  "
                  f"{one['kernel'] or 'n/a':<20}  {one['command']}")


def versions_of(bench):
    """Each peer's version, OpenBLAS's with the processor that its kernels are for."""
    return {one["name"]: one["version"] for result in bench.results.values() if result
            for one in result["contenders"] if "version" in one}


def record_of(rows, bench, device, reads, options):
    return {
        **common.record_head(device, 1, bench.load),
        "morton": subprocess.run([options.program, "--version"], cwd=ROOT, capture_output=True,
                                 text=True, check=False).stdout.strip(),
        "peers": versions_of(bench),
        "samples": options.samples,
        "buffers": options.buffers,
        "reads": [{"footprint_bytes": one["footprint_bytes"],
                   "gigabytes_per_second": one[table.MEDIAN],
                   "best_gigabytes_per_second": one[table.QUICKEST]} for one in reads],
        "targets": rows,
        "results": [{"command": bench.shown(run), "peak": result["peak"],
                     "contenders": result["contenders"], "above_peak": result["above_peak"]}
                    for run, result in bench.results.items() if result],
        "problems": bench.problems,
    }


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(prog="./dev bench gemm", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true",
                        help=f"every {QUICK_SHAPES}rd shape, {QUICK_SAMPLES} samples")
    parser.add_argument("-d", "--device", default="", help="as of morton; else its own choice")
    parser.add_argument("-n", "--samples", type=int, default=0, help="of each contender (15)")
    parser.add_argument("--buffers", choices=["warm", "rotate"], default="warm")
    parser.add_argument("--without", default="", metavar="PEER,...", help="peers to leave out")
    parser.add_argument("--peer-folder", default="", metavar="FOLDER",
                        help="of the peers' libraries")
    parser.add_argument("--clblast-parameters", default="", metavar="FILE",
                        help="CLBlast's tuned parameters, by bench/clblast_tune.py")
    parser.add_argument("--read-bandwidth", type=float, default=0.0, metavar="GB/S",
                        help="instead of what morton probe measures")
    parser.add_argument("--history", default=str(ROOT / "bench" / "history"), metavar="FOLDER",
                        help="where the record goes (bench/history)")
    parser.add_argument("--program", default="build/morton", help="build/morton")
    options = parser.parse_args(arguments)
    options.samples = options.samples or (QUICK_SAMPLES if options.quick else 15)
    options.step = QUICK_SHAPES if options.quick else 1
    return options


def run(arguments):
    """(status, lines for ./dev bench all)"""
    options = parse_arguments(arguments)
    bench = Bench(options)
    device = common.device_facts(options, "gemm")
    make_targets = table.cpu_targets if device["kind"] == "cpu" else table.gpu_targets
    targets = make_targets(options.clblast_parameters)
    without = [name for name in options.without.split(",") if name]
    for name in without:
        if name not in PEERS:
            fail(f"--without {name}: there is no such peer; there are {', '.join(PEERS)}")
    peers = tuple(peer for peer in table.peers_of(targets) if peer not in without)
    require_peers(peers, options)
    if "openblas" in peers:
        bench.variables = openblas_variables(options)
    reads = measured_reads(options, device)
    rows = [evaluate(target, bench, peers, reads, options) for target in targets]
    print(f"{common.title_of(device)}; {'; '.join(versions_of(bench).values())}\n")
    print_rows(rows)
    common.append_record(record_of(rows, bench, device, reads, options), options.history)
    wrong = any(row["mean"] is None or row["verdict"] == "wrong" for row in rows)
    return (1 if bench.problems or wrong else 0), [line_of(row) for row in rows]


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:])[0])
