#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""First and later starts of networks beside their targets: prints the table with the command for each number, and
appends a record to bench/history/start. Each number is the median of whole processes up to their first answer.

cold: no cache holds anything. warm: all is kept. ahead: a file of `morton compile`, the driver's cache emptied."""

import argparse
import datetime
import json
import os
import shlex
import subprocess
import sys
import tempfile

import gemm
import networks
import start_table as table

ROOT = gemm.ROOT
STATES = {"cold": "cold", "warm": "warm", "compiled ahead": "ahead"}


class Failed(Exception):
    """A command that ended with a status, and what it said."""


def json_of(words, environment=None):
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        raise Failed(f"{shlex.join(words)}: status {done.returncode}: {done.stderr.strip()[-500:]}")
    return json.loads(done.stdout)


def device_words(options):
    return ["--device", options.device] if options.device else []


def starts_of(network, file, options):
    """The row of a network: seconds by state, and the kernels that a cold start builds."""
    words = [options.program, "bench", str(file), "--shape", network.shape, "--cold", *device_words(options)]
    gemm.say(shlex.join(words))
    row = {"network": network.name, "command": shlex.join(words), "why": ""}
    try:
        for start in json_of(words + ["--format", "json"])["starts"]:
            column = STATES.get(start["state"])
            if column == "warm" and start["driver_caches"] != "kept":
                column = None
            if column is None:
                continue
            row[column] = start["median_ms"] / 1000.0
            if column == "cold":
                row["kernels"] = start["last_start"]["kernels_built"]
    except Failed as why:
        row["why"] = str(why)
    row["verdicts"] = {column: "not measured" if column not in row else "hit" if row[column] <= most else "miss"
                       for column, most in network.targets()}
    return row


def share_built_anew(files, options):
    """The row of a network whose relative is cached already."""
    first, second, most = table.SHARED
    shapes = {network.name: network.shape for network in table.NETWORKS}
    row = {"network": f"{second} where {first} is cached", "wanted": most, "why": "", "command": ""}
    with tempfile.TemporaryDirectory() as empty:
        os.mkdir(f"{empty}/pocl")
        environment = dict(os.environ, POCL_CACHE_DIR=f"{empty}/pocl", CUDA_CACHE_PATH=f"{empty}/cuda")
        try:
            for name in (first, second):
                words = [options.program, "bench", str(files[name]), "--shape", shapes[name], "-n", "1", "--warmup",
                         "0ms", *device_words(options)]
                row["command"] = shlex.join(words)
                cache = json_of(words + ["--cache-dir", f"{empty}/morton", "--format", "json"], environment)["cache"]
        except Failed as why:
            return dict(row, why=str(why), verdict="not measured")
    row["built"] = cache["kernels_built"]
    row["share"] = cache["kernels_built"] / max(cache["kernels_built"] + cache["kernels_from_cache"], 1)
    return dict(row, verdict="hit" if row["share"] <= most else "miss")


def cell(row, column, wanted):
    if column not in row:
        return "n/a"
    text = str(row[column]) if column == "kernels" else f"{row[column]:.3g}"
    return text if column not in wanted else f"{text} (<= {wanted[column]:g}: {row['verdicts'][column]})"


def print_table(rows, shared):
    columns = ("kernels", "cold", "warm", "ahead")
    print("| network | kernels | cold, s | warm, s | compiled ahead, s | command |\n|---|---|---|---|---|---|")
    wanted = {network.name: dict(network.targets()) for network in table.NETWORKS}
    for row in rows:
        cells = " | ".join(cell(row, column, wanted[row["network"]]) for column in columns)
        print(f"| {row['network']} | {cells} | `{row['command']}` |")
    if shared and not shared["why"]:
        print(f"\n{shared['network']}: {shared['built']} kernels, {100 * shared['share']:.0f} %, are built anew "
              f"(<= {100 * shared['wanted']:.0f} %: {shared['verdict']})")
    for row in [*rows, *([shared] if shared else [])]:
        if row["why"]:
            print(f"\nnot measured: {row['network']}: {row['why']}")


def parse_arguments():
    parser = argparse.ArgumentParser(prog="./dev bench start", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-d", "--device", default="", help="as of morton; else a GPU, if there is one")
    parser.add_argument("--only", default="", metavar="TEXT", help="networks whose name holds this")
    parser.add_argument("--work", default="build/networks", metavar="FOLDER", help="for the networks' files")
    parser.add_argument("--history", default=str(ROOT / "bench" / "history" / "start"), metavar="FOLDER",
                        help="where the record goes (bench/history/start)")
    parser.add_argument("--program", default="build/morton", help="build/morton")
    return parser.parse_args()


def main():
    options = parse_arguments()
    chosen = [network for network in table.NETWORKS if options.only in network.name]
    if not chosen:
        networks.fail(f"--only {options.only}: no network's name holds this", "start")
    load = gemm.load_average()
    if load is not None and load > gemm.BUSY_LOAD:
        gemm.say(f"warning: other programs are running here (load {load:.1f}); no figure is worth much")
    device = networks.device_facts(options)
    made = networks.make_files([network.name for network in chosen], options)
    files = {name: os.path.relpath(file, ROOT) for name, file in made.items()}
    rows = [starts_of(network, files[network.name], options) for network in chosen]
    shared = share_built_anew(files, options) if set(table.SHARED[:2]) <= set(files) else None
    print(f"{device['name']} ({device['platform']}, driver {device['driver_version']}), {gemm.processor()}\n")
    print_table(rows, shared)
    gemm.append_record({
        "schema": 1, "time": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "commit": gemm.git("rev-parse", "HEAD"),
        "changed_files": len(gemm.git("status", "--porcelain").splitlines()),
        "device": {key: device[key] for key in ("name", "platform", "driver_version", "compute_units", "clock_mhz")},
        "processor": gemm.processor(), "load_before": load, "starts": rows, "shared": shared,
    }, device, options)
    return 1 if any(row["why"] for row in rows) or (shared and shared["why"]) else 0


if __name__ == "__main__":
    sys.exit(main())
