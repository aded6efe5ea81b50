#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs CLBlast's own tuners for single-precision products and writes the parameters that they find, for
`morton bench gemm --peer clblast --clblast-parameters FILE`.

The tuners try their candidates one after the other and print a line for each; this reads the lines, stops when the time
is over, and keeps the quickest candidate whose results matched. Then it measures from which size on CLBlast should copy
its operands for the quick kernel, which its own tuner can only find for the parameters that it ships."""

import argparse
import json
import os
import re
import selectors
import shutil
import subprocess
import sys
import time

# Program, CLBlast's name of the kernel, share of the time: most for the two that multiply.
TUNERS = [
    ("clblast_tuner_copy_fast", "Copy", 0.05),
    ("clblast_tuner_copy_pad", "Pad", 0.05),
    ("clblast_tuner_transpose_fast", "Transpose", 0.05),
    ("clblast_tuner_transpose_pad", "Padtranspose", 0.05),
    ("clblast_tuner_xgemm_direct", "XgemmDirect", 0.25),
    ("clblast_tuner_xgemm", "Xgemm", 0.55),
]
TAKE_MNK = {"Xgemm", "XgemmDirect"}
# The largest tile that the tuner of Xgemm tries.
TILE = 64

# Products of fewer than this cubed multiply-adds are left to XgemmDirect.
SWITCH = "XGEMM_MIN_INDIRECT_SIZE"
CROSSOVER_SIZES = [64, 128, 192, 256, 384, 512, 768, 1024]

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


def seconds(text):
    """The seconds of "90s", "10m" or "1h"."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smh])", text)
    if not match:
        raise argparse.ArgumentTypeError(f"'{text}' is no time: expected such as 90s, 10m or 1h")
    return float(match[1]) * UNITS[match[2]]


def parameters_of(line):
    """The names after "Parameters explored:", or None."""
    match = re.search(r"Parameters explored:\s*(.*\S)", line)
    return match[1].split() if match else None


def candidate_of(line, names):
    """(milliseconds, {name: value}) of a candidate's line whose results matched, or None."""
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    if len(cells) < 9 or not cells[0].isdigit() or cells[-1] != "results match":
        return None
    values = cells[2].split()
    time_cell = re.fullmatch(r"([\d.]+) ms", cells[6])
    if time_cell is None or len(values) != len(names):
        return None
    return float(time_cell[1]), dict(zip(names, map(int, values)))


def lines_of(process, is_over):
    """The process's lines until it ends or `is_over` says so, which is asked every second."""
    selector = selectors.DefaultSelector()
    selector.register(process.stdout, selectors.EVENT_READ)
    rest = b""
    while not is_over():
        if not selector.select(timeout=1.0):
            continue
        chunk = os.read(process.stdout.fileno(), 65536)
        if not chunk:
            return
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield COLOUR.sub("", line.decode(errors="replace"))


def tune(program, kernel, budget_s, options):
    """(best parameters, candidates that matched) of one tuner."""
    # Lines must come as they are printed, or those of a tuner that is stopped are lost.
    command = ["stdbuf", "-oL", program, "-platform", str(options.platform), "-device", str(options.device),
               "-precision", "32"]
    if kernel in TAKE_MNK:
        command += ["-m", str(options.m), "-n", str(options.n), "-k", str(options.k)]
    best, count, names = None, 0, []
    start = time.monotonic()

    def is_over():
        # A slow machine gets more time for its first candidate.
        return time.monotonic() - start > budget_s * (1 if count > 0 else 4)

    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          cwd=options.work) as process:
        for line in lines_of(process, is_over):
            names = parameters_of(line) or names
            candidate = candidate_of(line, names)
            if candidate is None:
                continue
            count += 1
            if best is None or candidate[0] < best[0]:
                best = candidate
        process.kill()
    if best is None:
        return None, 0
    return {"milliseconds": best[0], "parameters": best[1]}, count


def clblast_ms(program, size, parameters, options):
    """Milliseconds of CLBlast's product of this size with these parameters, by morton bench."""
    path = os.path.join(options.work, "parameters.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"kernels": parameters}, file)
    words = [program, "bench", "gemm", "-n", "3", "--peer", "clblast", "--clblast-parameters", path,
             "--device", f"{options.platform}:{options.device}", "--format", "json"]
    for extent in ("--m", "--n", "--k"):
        words += [extent, str(size)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    try:
        contenders = json.loads(done.stdout)["contenders"]
        return next(one["min_ms"] for one in contenders if one["name"] == "clblast")
    except (json.JSONDecodeError, StopIteration):
        sys.exit(f"clblast_tune: {' '.join(words)}: status {done.returncode}\n{done.stderr}")


def crossover(kernels, options):
    """From which size on CLBlast should copy its operands and use Xgemm: with the tuned parameters, both ways are
    measured at growing sizes."""
    for size in CROSSOVER_SIZES:
        ways = [clblast_ms(options.program, size, {**kernels, "GemmRoutine": {SWITCH: least}},
                           options) for least in (1, 1 << 20)]
        print(f"  {size}: {ways[0]:.4g} ms with copies, {ways[1]:.4g} ms without", file=sys.stderr)
        if ways[0] < ways[1]:
            return size
    return CROSSOVER_SIZES[-1] * 2


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", required=True, help="file to write")
    parser.add_argument("--budget", type=seconds, default=600.0, metavar="TIME",
                        help="time for all tuners together (10m)")
    parser.add_argument("--program", default="build/morton", help="build/morton")
    parser.add_argument("--platform", type=int, default=0, help="OpenCL platform (0)")
    parser.add_argument("--device", type=int, default=0, help="device of the platform (0)")
    for name in ("m", "n", "k"):
        parser.add_argument(f"--{name}", type=int, default=512, help="extent of the product (512)")
    options = parser.parse_args()
    if any(extent % TILE != 0 for extent in (options.m, options.n, options.k)):
        parser.error(f"--m {options.m} --n {options.n} --k {options.k}: the tuner of Xgemm takes multiples of {TILE}")
    return options


def main():
    options = parse_arguments()
    absent = [program for program, _, _ in TUNERS if shutil.which(program) is None]
    if absent:
        sys.exit(f"clblast_tune: {', '.join(absent)}: not found; install Debian's package "
                 "clblast-utils")
    # The tuners leave files of their own behind.
    options.program = os.path.abspath(options.program)
    options.work = os.path.abspath(options.output) + ".work"
    os.makedirs(options.work, exist_ok=True)
    os.environ.setdefault("POCL_AFFINITY", "1")
    result = {"schema": 1, "budget_s": options.budget,
              "product": {"m": options.m, "n": options.n, "k": options.k},
              "candidates": {}, "milliseconds": {}, "kernels": {}}
    for program, kernel, share in TUNERS:
        print(f"{program}: {share * options.budget:.0f} s at most", file=sys.stderr)
        best, count = tune(program, kernel, share * options.budget, options)
        if best is None:
            sys.exit(f"clblast_tune: {program} finished no candidate in its time; give more with "
                     f"--budget (now {options.budget:.0f}s)")
        result["candidates"][kernel] = count
        result["milliseconds"][kernel] = best["milliseconds"]
        result["kernels"][kernel] = best["parameters"]
        print(f"  {count} candidates, the best {best['milliseconds']} ms: {best['parameters']}",
              file=sys.stderr)
    print("direct or with copies:", file=sys.stderr)
    result["kernels"]["GemmRoutine"] = {SWITCH: crossover(result["kernels"], options)}
    shutil.rmtree(options.work)
    with open(options.output, "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
