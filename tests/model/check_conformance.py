#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs ONNX's tests of its operators and compares how many come out right with a list.

check_conformance.py MORTON FOLDER LIST

MORTON is the program, FOLDER holds ONNX's node tests, LIST has a line for each operator: its name
and how many of its tests must be right. A failed test, or fewer right ones than listed, is an
error; generic kernels compute, of every tenth test the model's own too; a test whose data contradict ONNX's text (disputed) is none. Operators that have more are named, so that the list can follow.
"""
import json
import os
import subprocess
import sys


def listed_counts(path):
    """The list as a dictionary: operator to least number of right tests."""
    counts = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            words = line.split("#")[0].split()
            if words:
                counts[words[0]] = int(words[1])
    return counts


def complaints(report, least):
    """What is wrong, one line each."""
    for test in report["tests"]:
        if test["outcome"] == "failed":
            yield f"{test['test']} ({test['operator']}): {test['reason']}"
    for operator, wanted in least.items():
        counts = report["operators"].get(operator, {"device": 0, "host": 0})
        right = counts["device"] + counts["host"]
        if right < wanted:
            yield f"{operator}: {right} tests are right, {wanted} were"
        elif right > wanted:
            print(f"note: {operator}: {right} tests are right, the list says {wanted}")


def main():
    program, folder, path = sys.argv[1:]
    if "POCL_CACHE_DIR" in os.environ:  # which has to be there
        os.makedirs(os.environ["POCL_CACHE_DIR"], exist_ok=True)
    run = subprocess.run(
        [program, "-q", "conformance", folder, "--generic", "--strict", "--format", "json"],
        stdout=subprocess.PIPE, check=False, text=True)
    if run.returncode not in (0, 1):
        sys.exit(f"check_conformance: the program ended with status {run.returncode}")
    report = json.loads(run.stdout)
    found = list(complaints(report, listed_counts(path)))
    for line in found:
        print(line)
    print(" ".join(f"{outcome} {count}" for outcome, count in report["totals"].items()))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
