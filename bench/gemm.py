#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Matrix products on this machine beside their targets: measures every shape together with the peers, prints the
table, with the command for each number, and appends a record to bench/history.

The status is 0 when everything was measured, hit or missed, and 1 when something was not or cannot be."""

import argparse
import ctypes
import datetime
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

import gemm_table as table

ROOT = pathlib.Path(__file__).resolve().parent.parent
# What a peer needs: one of these libraries, and where it comes from.
PEERS = {
    "clblast": (["libclblast.so.1"], "libclblast1"),
    "openblas": (["libopenblas.so.0"], "libopenblas0-pthread"),
    "onednn": (["libdnnl.so.2", "libdnnl.so.3"], "libdnnl2"),
    "cublas": (["libcublas.so.13", "libcublas.so.12"], None),
}
QUICK_SHAPES = 3
QUICK_SAMPLES = 5
# What the system itself does at rest stays below.
BUSY_LOAD = 0.5


def say(text):
    print(text, file=sys.stderr, flush=True)


def fail(text):
    say(f"bench gemm: {text}")
    sys.exit(2)


def loads(names, folder):
    for name in names:
        try:
            ctypes.CDLL(f"{folder}/{name}" if folder else name)
            return True
        except OSError:
            continue
    return False


def require_peers(peers, options):
    """Ends with what to install where a peer is missing."""
    absent = [peer for peer in peers if not loads(PEERS[peer][0], options.peer_folder)]
    if not absent:
        return
    packages = [PEERS[peer][1] for peer in absent if PEERS[peer][1]]
    advice = [f"apt-get install {' '.join(packages)}"] if packages else []
    if "cublas" in absent:
        advice.append("for cublas, name the folder of CUDA's libraries by --peer-folder or "
                      "LD_LIBRARY_PATH")
    fail(f"these peers are not installed: {', '.join(absent)}.\n  " + "\n  ".join(advice) +
         f"\n  Or leave them out: --without {','.join(absent)}")


class Bench:
    """Calls the program; a run that was made already is not made again."""

    def __init__(self, options):
        self.program = options.program
        self.common = ["-n", str(options.samples)]
        self.buffers = options.buffers
        if options.device:
            self.common += ["--device", options.device]
        if options.peer_folder:
            self.common += ["--peer-folder", options.peer_folder]
        self.results = {}
        self.problems = []
        self.load = load_average()
        if self.load is not None and self.load > BUSY_LOAD:
            say(f"warning: other programs are running here (load {self.load:.1f}): peers that share "
                "the processor suffer most, and no figure is worth much")

    def command(self, run):
        words = [self.program] + run.arguments() + self.common
        return words if "--buffers" in words else words + ["--buffers", self.buffers]

    def call(self, words):
        """(parsed output or None, status, what it said)."""
        done = subprocess.run(words + ["--format", "json"], cwd=ROOT, capture_output=True,
                              text=True, check=False)
        try:
            return json.loads(done.stdout), done.returncode, done.stderr.strip()
        except json.JSONDecodeError:
            return None, done.returncode, done.stderr.strip()

    def measure(self, run):
        if run in self.results:
            return self.results[run]
        words = self.command(run)
        say(shlex.join(words))
        result, status, errors = self.call(words)
        if status != 0:
            self.problems.append({"command": shlex.join(words), "status": status, "said": errors})
            say(errors)
        self.results[run] = result
        return result


def device_facts(bench, options):
    """The device that is measured, as `morton devices` describes it."""
    selector = ["--device", options.device] if options.device else []
    tiny = [options.program, "bench", "gemm", "--m", "1", "--n", "1", "--k", "1", "-n", "1",
            "--warmup", "0ms"] + selector
    result, status, errors = bench.call(tiny)
    if result is None:
        fail(f"no device can be measured: status {status} of {shlex.join(tiny)}:\n{errors}")
    devices, _, _ = bench.call([options.program, "devices"])
    return next(one for one in devices if one["id"] == result["device"]["id"])


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
                               "command": shlex.join(bench.command(run))})
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
    return row


def number_text(number, unit):
    return "n/a" if number is None else f"{number:.3g}{unit}"


def print_rows(rows):
    width = max(len(row["target"]) for row in rows)
    print(f"{'target':{width}}  {'wanted':>8}  {'measured':>8}  {'quickest':>8}  verdict")
    for row in rows:
        why = f" ({row['why']})" if row["why"] else ""
        print(f"{row['target']:{width}}  {'>= ' + number_text(row['least'], row['unit']):>8}  "
              f"{number_text(row['mean'], row['unit']):>8}  "
              f"{number_text(row['mean_of_quickest'], row['unit']):>8}  {row['verdict']}{why}")
    for row in rows:
        if not row["numbers"]:
            continue
        print(f"\n{row['target']}:")
        for one in row["numbers"]:
            print(f"  {one['shape']:>14}  {number_text(one['number'], row['unit']):>8}  "
                  f"{number_text(one['of_quickest'], row['unit']):>8}  "
                  f"{one['kernel'] or 'n/a':<20}  {one['command']}")


def git(*words):
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def processor():
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return ""
    match = re.search(r"model name\s*:\s*(.*)", text)
    return match[1] if match else ""


def load_average():
    """Programs that ran at once in the last minute, on average; None where the system does not say."""
    try:
        return os.getloadavg()[0]
    except OSError:
        return None


def append_record(record, device, options):
    """To the file of this day and device, which holds a list."""
    name = re.sub(r"[^a-z0-9]+", "-", device["name"].lower()).strip("-")
    folder = pathlib.Path(options.history)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{record['time'][:10]}-{name}.json"
    records = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    records.append(record)
    path.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
    say(f"recorded in {path}")


def record_of(rows, bench, device, reads, options):
    results = [result for result in bench.results.values() if result]
    versions = {one["name"]: one["version"] for result in results for one in result["contenders"]
                if "version" in one}
    return {
        "schema": 1,
        "time": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "commit": git("rev-parse", "HEAD"),
        "changed_files": len(git("status", "--porcelain").splitlines()),
        "morton": subprocess.run([options.program, "--version"], cwd=ROOT, capture_output=True,
                                 text=True, check=False).stdout.strip(),
        "device": {key: device[key] for key in ("name", "platform", "driver_version",
                                                "compute_units", "clock_mhz")},
        "processor": processor(),
        "load_before": bench.load,
        "peers": versions,
        "samples": options.samples,
        "buffers": options.buffers,
        "reads": [{"footprint_bytes": one["footprint_bytes"],
                   "gigabytes_per_second": one[table.MEDIAN],
                   "best_gigabytes_per_second": one[table.QUICKEST]} for one in reads],
        "targets": rows,
        "results": [{"command": shlex.join(bench.command(run)), "peak": result["peak"],
                     "contenders": result["contenders"], "above_peak": result["above_peak"]}
                    for run, result in bench.results.items() if result],
        "problems": bench.problems,
    }


def parse_arguments():
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
    options = parser.parse_args()
    options.samples = options.samples or (QUICK_SAMPLES if options.quick else 15)
    options.step = QUICK_SHAPES if options.quick else 1
    return options


def main():
    options = parse_arguments()
    bench = Bench(options)
    device = device_facts(bench, options)
    make_targets = table.cpu_targets if device["kind"] == "cpu" else table.gpu_targets
    targets = make_targets(options.clblast_parameters)
    without = [name for name in options.without.split(",") if name]
    for name in without:
        if name not in PEERS:
            fail(f"--without {name}: there is no such peer; there are {', '.join(PEERS)}")
    peers = tuple(peer for peer in table.peers_of(targets) if peer not in without)
    require_peers(peers, options)
    reads = measured_reads(options, device)
    rows = [evaluate(target, bench, peers, reads, options) for target in targets]
    print(f"{device['name']} ({device['platform']}, driver {device['driver_version']}), "
          f"{processor()}\n")
    print_rows(rows)
    append_record(record_of(rows, bench, device, reads, options), device, options)
    wrong = any(row["mean"] is None or row["verdict"] == "wrong" for row in rows)
    return 1 if bench.problems or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
