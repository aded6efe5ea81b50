#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a run costs in Python above the same run through the interface for C: prints a table, medians of microseconds.

All of them run in this process on one device, and take turns. The interface for C is called by ctypes with arguments that
are made once: set the input, enqueue, get the output, which waits. What ctypes itself takes for three calls is measured
with a function that does nothing, and taken off. A miss is no failure."""

import argparse
import ctypes
import os
import random
import re
import statistics
import sys
import time

import common

ROOT = common.ROOT
BUILD = ROOT / "build"
MODEL = ROOT / "models" / "lenet5.onnx"
INPUT, OUTPUT = "input", "probabilities"
SHAPE, CLASSES = (1, 1, 32, 32), 10
WARM_RUNS = 200
TARGET_US = 10.0


def interpreter():
    """The Python that the package was built for; nothing where CMake found none."""
    text = (BUILD / "CMakeCache.txt").read_text(encoding="utf-8")
    found = re.search(r"^PYBIND11_PYTHON_EXECUTABLE_LAST:\w+=(.+)$", text, re.M)
    return found[1] if found else ""


class Native:
    """LeNet-5 through the interface for C."""

    def __init__(self, device, image, answers):
        self.library = ctypes.CDLL(str(BUILD / "lib" / "libmorton.so"))
        self.library.morton_last_error.restype = ctypes.c_char_p
        opened, model, compiled, session = (ctypes.c_void_p() for _ in range(4))
        self.call("morton_device_open", device.encode(), None, ctypes.byref(opened))
        self.call("morton_model_load", str(MODEL).encode(), ctypes.byref(model))
        self.call("morton_compile", model, opened, None, ctypes.byref(compiled))
        self.call("morton_session_create", compiled, None, ctypes.byref(session))
        self.steps = [("morton_session_set_input", session, INPUT.encode(), *place_of(image)),
                      ("morton_session_enqueue", session),
                      ("morton_session_get_output", session, OUTPUT.encode(), *place_of(answers))]
        self.bound = [(getattr(self.library, name), arguments) for name, *arguments in self.steps]
        self.idle = [(ctypes.CDLL(None).abs, arguments) for _, arguments in self.bound]

    def call(self, name, *arguments):
        self.check(getattr(self.library, name)(*arguments))

    def check(self, status):
        if status != 0:
            common.fail("python", self.library.morton_last_error().decode())

    def run(self):
        for function, arguments in self.bound:
            if function(*arguments) != 0:
                self.check(1)

    def nothing(self):
        """As `run`, of a function that looks at its first argument alone."""
        for function, arguments in self.idle:
            if function(*arguments) == -1:
                self.check(1)


def place_of(array):
    return ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes)


def microseconds(contenders, runs):
    """Of each run, by contender. They take turns in any order: whoever follows another finds the device awake."""
    times = {name: [] for name in contenders}
    clock, order = time.perf_counter_ns, random.Random(1)
    turns = list(contenders.items())
    for i in range(WARM_RUNS + runs):
        order.shuffle(turns)
        for name, run in turns:
            start = clock()
            run()
            taken = clock() - start
            if i >= WARM_RUNS:
                times[name].append(taken / 1000)
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", "--runs", type=int, default=20000, help="runs of each (20000)")
    parser.add_argument("-d", "--device", default="", help="as morton -d")
    options = parser.parse_args()
    if options.runs < 1:
        common.fail("python", "--runs: expected 1 or more")
    wanted = interpreter()
    if not wanted:
        common.fail("python", "the build has no Python package: install python3-dev, then `./dev build`")
    if os.path.realpath(wanted) != os.path.realpath(sys.executable):
        os.execv(wanted, [wanted, *sys.argv])
    sys.path.insert(0, str(BUILD / "python"))
    import morton
    import numpy as np

    load = common.checked_load() or 0.0
    image = np.random.default_rng(1).random(SHAPE, np.float32)
    answers = np.empty((1, CLASSES), np.float32)
    native = Native(options.device, image, answers)
    device = morton.Device(options.device)
    model = morton.Model.load(str(MODEL))
    session = morton.Session(morton.compile(model, device, batch=1))
    settings = morton.SessionOptions()
    settings.add_free_dimension_override_by_name("batch", 1)
    provider = ("MortonExecutionProvider", {"device": device.id})
    theirs = morton.InferenceSession(str(MODEL), settings, providers=[provider])
    feed = {INPUT: image}
    native.run()
    if not (np.array_equal(session.run(feed)[OUTPUT], answers) and np.array_equal(theirs.run(None, feed)[0], answers)):
        common.fail("python", "the interfaces give different answers")

    times = microseconds({"C": native.run, "Session.run": lambda: session.run(feed),
                          "InferenceSession.run": lambda: theirs.run(None, feed)}, options.runs)
    times |= microseconds({"ctypes alone": native.nothing}, options.runs)
    middle = {name: statistics.median(taken) for name, taken in times.items()}
    below = middle["C"] - middle["ctypes alone"]
    print(f"LeNet-5, batch 1, {device.description}; {options.runs} runs, load {load:.1f}\n")
    print("| run | median us | quickest us | above C, us | wanted | verdict |\n|---|---|---|---|---|---|")
    print(f"| C, less {middle['ctypes alone']:.1f} us of ctypes | {below:.1f} | "
          f"{min(times['C']) - min(times['ctypes alone']):.1f} | | | |")
    for name in ("Session.run", "InferenceSession.run"):
        above = middle[name] - below
        print(f"| {name} | {middle[name]:.1f} | {min(times[name]):.1f} | {above:.1f} | <= {TARGET_US:.0f} | "
              f"{'hit' if above <= TARGET_US else 'miss'} |")


if __name__ == "__main__":
    main()
