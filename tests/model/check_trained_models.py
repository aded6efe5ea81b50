#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime runs the models that a training writes, and answers as Morton does: networks with BatchNormalization and
with Dropout, whose form of use differs from that of training.

    python3 tests/model/check_trained_models.py build/morton

Needs `pip install onnxruntime numpy` in the environment of this Python, else it is skipped.
"""

import pathlib
import subprocess
import sys
import tempfile

from needs import needs

needs(__file__, "numpy", "onnxruntime")

import numpy as np
import onnxruntime

EXAMPLES = 16
# Rounding in networks of this depth, of probabilities' logarithms and the like.
MOST_APART = 1e-4


def check(program, name, folder):
    """Trains the network for some steps, then compares answers. Returns how far they are apart."""
    random = np.random.default_rng(7)
    x = random.integers(0, 256, (EXAMPLES, 28, 28), dtype=np.uint8)
    np.savez(folder / "data.npz", x=x, y=np.arange(EXAMPLES) % 10)
    subprocess.run([program, "train", name, "--data", folder / "data.npz", "--batch", "8", "--steps", "4", "--device",
                    "cpu", "-o", folder / name, "-q"], check=True, stdout=subprocess.DEVNULL)
    path = folder / name / "model.onnx"
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    [port] = session.get_inputs()
    pictures = (x.reshape(EXAMPLES, 1, 28, 28) / np.float32(255)).astype(np.float32)
    np.save(folder / "pictures.npy", pictures)
    subprocess.run([program, "run", path, "-i", folder / "pictures.npy", "--device", "cpu", "-q", "-o",
                    folder / "answers.npz"], check=True, stdout=subprocess.DEVNULL)
    [ours] = np.load(folder / "answers.npz").values()
    [theirs] = session.run(None, {port.name: pictures})
    apart = np.max(np.abs(ours - theirs) / (1 + np.abs(theirs)))
    if ours.shape != theirs.shape or not apart <= MOST_APART:
        sys.exit(f"{name}: {ours.shape} and {theirs.shape}, {apart} apart; expected at most {MOST_APART}")
    return apart


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for name in ("fashion-cnn", "c18-cnn"):
        with tempfile.TemporaryDirectory() as folder:
            print(f"{name}: {check(sys.argv[1], name, pathlib.Path(folder)):.1e} apart", flush=True)


main()
