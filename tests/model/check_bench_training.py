#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What bench/training.py makes of its options and figures, without a run.

    python3 -B tests/model/check_bench_training.py
"""

import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import training


def names_of(measurements):
    return [name for names, _ in measurements for name in names]


def check_only():
    made = training.measurements(cuda=False)
    everything = names_of(made)
    assert training.chosen(made, "") == made and len(everything) == len(set(everything)) == 9, everything
    for name in everything:
        assert name in names_of(training.chosen(made, name)), name
    assert names_of(training.chosen(made, "600 steps")) == [training.CNN_600_STEPS]
    for text in ("no such row", "speed", "learning"):
        try:
            training.chosen(made, text)
        except training.Missing as why:
            assert all(name in str(why) for name in everything), why
        else:
            raise AssertionError(f"--only {text} chose something")


def check_agreement():
    assert math.isclose(training.apart([1.0, 2.0], [1.0, 2.5]), 0.2)
    assert training.apart([3.0], [3.0]) == 0.0
    for ours, theirs in (([1.0, math.nan], [1.0, 1.0]), ([1.0, 1.0], [math.nan, 1.0]), ([math.inf], [math.inf]),
                         ([math.inf, 1.0], [1.0, 1.0])):
        assert not training.apart(ours, theirs) <= training.MOST_APART, (ours, theirs)
    try:
        training.apart([1.0], [1.0, 2.0])
    except ValueError:
        return
    raise AssertionError("lists of different lengths agree")


check_only()
check_agreement()
print("the rows and the agreement are as they should be")
