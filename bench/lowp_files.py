#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks of images in 8 bits, and whether two results agree. Of ./dev bench lowp; needs numpy, onnx and onnxruntime.

    lowp_files.py quantize F32.onnx INT8.onnx
    lowp_files.py compare EXPECTED.npz GOT.npz NAMES

`quantize` has ONNX Runtime's own tools write QuantizeLinear and DequantizeLinear. Weights become i8 with a scale for
each channel, activations u8. Three random images of fixed seeds give the ranges. `compare` prints what is wrong: an
output with an element that is off by more than 2 % of the output's standard deviation."""

import json
import os
import pathlib
import sys

import numpy as np
import onnx
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

IMAGES = 3
SHAPE = (1, 3, 224, 224)
MOST_OFF = 0.02


class Images(CalibrationDataReader):
    """Normal numbers, a seed for each image."""

    def __init__(self, name):
        self.feeds = iter([{name: np.random.default_rng(seed).normal(size=SHAPE).astype(np.float32)}
                           for seed in range(IMAGES)])

    def get_next(self):
        return next(self.feeds, None)


def quantize(source, target):
    source, target = pathlib.Path(source), pathlib.Path(target)
    prepared, unfinished = target.with_suffix(".prepared.onnx"), target.with_suffix(".unfinished.onnx")
    name = onnx.load(source).graph.input[0].name
    quant_pre_process(source, prepared, skip_symbolic_shape=True)
    quantize_static(prepared, unfinished, Images(name), quant_format=QuantFormat.QDQ, per_channel=True,
                    activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)
    prepared.unlink()
    os.replace(unfinished, target)


def compare(expected, got, names):
    """The first has output_0 and so on, the second the names, a list in JSON."""
    expected, got = np.load(expected), np.load(got)
    for number, name in enumerate(json.loads(names)):
        want, have = expected[f"output_{number}"].astype(np.float64), got[name].astype(np.float64)
        if want.shape != have.shape:
            print(f"{name}: shape {have.shape}, expected {want.shape}")
            continue
        off, deviation = np.abs(have - want).max(), want.std()
        if not off <= MOST_OFF * deviation:
            print(f"{name}: off by {off:.3g}, its standard deviation is {deviation:.3g}")


if __name__ == "__main__":
    {"quantize": quantize, "compare": compare}[sys.argv[1]](*sys.argv[2:])
