#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime for bench/generation.py: says what it is in a line of JSON, then for each number that it reads from
standard input gives so many words from an empty past, and writes the milliseconds of each."""

import argparse
import json
import sys
import time

import numpy as np
import onnxruntime as ort

FIRST_WORD = 464


def times_of(session, count):
    outputs = [output.name for output in session.get_outputs()]
    given = {}
    for entry in session.get_inputs():
        if entry.name.startswith("past_"):
            given[entry.name] = np.zeros([1, entry.shape[1], 0, entry.shape[3]], np.float32)
    given["input_ids"] = np.full([1, 1], FIRST_WORD, np.int64)
    times = []
    for _ in range(count):
        start = time.perf_counter()
        results = dict(zip(outputs, session.run(None, given)))
        times.append(1e3 * (time.perf_counter() - start))
        given = {name: results[name.replace("past_", "present_")] for name in given if name.startswith("past_")}
        given["input_ids"] = results["next"]
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    settings = ort.SessionOptions()
    settings.intra_op_num_threads = options.threads
    settings.inter_op_num_threads = 1
    session = ort.InferenceSession(options.model, settings, providers=["CPUExecutionProvider"])
    print(json.dumps({"version": f"ONNX Runtime {ort.__version__}, {options.threads} threads"}), flush=True)
    for line in sys.stdin:
        print(json.dumps(times_of(session, int(line))), flush=True)


if __name__ == "__main__":
    main()
