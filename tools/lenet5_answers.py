#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the first test digits, and ONNX Runtime's answers to them, beside the model.

Needs two packages: `pip install numpy onnxruntime` in a virtual environment.

    python3 tools/lenet5_answers.py --data data/mnist --model models/lenet5.onnx
"""

import argparse
import pathlib

import numpy as np
import onnxruntime

from idx_digits import read_digits

PAD = 2  # pixels of zeros on each side: 28x28 digits in a 32x32 input
EXPECTED = 20  # test digits whose answers are stored
INPUT_NAME = "input"
OUTPUT_NAME = "probabilities"


def load(folder, part):
    """Returns (float32 [count, 1, 32, 32] in 0..1, uint8 [count]) of "train" or "t10k"."""
    (extents, pixels), (_, labels) = read_digits(folder, part)
    images = np.frombuffer(pixels, np.uint8).reshape(extents).astype(np.float32) / 255
    images = np.pad(images, ((0, 0), (PAD, PAD), (PAD, PAD)))[:, None]
    return images, np.frombuffer(labels, np.uint8)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="data/mnist", help="folder of the IDX files")
    parser.add_argument("--model", default="models/lenet5.onnx", help="the model that answers")
    arguments = parser.parse_args()
    model = pathlib.Path(arguments.model)
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    images, labels = load(arguments.data, "t10k")
    (answers,) = session.run([OUTPUT_NAME], {INPUT_NAME: images})
    right = int((answers.argmax(1) == labels).sum())
    print(f"ONNX Runtime: {right} of {len(labels)} right")
    expected = model.with_suffix(".expected.npz")
    np.savez(expected, **{INPUT_NAME: images[:EXPECTED], OUTPUT_NAME: answers[:EXPECTED]})
    print(f"wrote {expected}")


if __name__ == "__main__":
    main()
