#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_denoiser.py FILE.onnx: trains the network that takes the noise out of digits; examples/two_models/denoiser.onnx is
its result.

It needs the packages `morton` (PYTHONPATH=build/python) and `onnx`, and stands in the repository's root."""

import sys

import morton
import numpy as np

CHANNELS = 12


def network(seed):
    """Three convolutions of 3x3, from a grey picture to a grey picture."""
    try:
        from onnx import TensorProto, helper, numpy_helper
    except ImportError:
        sys.exit("error: this program needs the package onnx: pip install onnx")
    random = np.random.default_rng(seed)

    def layer(name, inputs, outputs):
        weights = random.normal(0.0, np.sqrt(2.0 / (9 * inputs)), (outputs, inputs, 3, 3)).astype(np.float32)
        return [numpy_helper.from_array(weights, f"{name}.weight"),
                numpy_helper.from_array(np.zeros(outputs, np.float32), f"{name}.bias")]

    def convolution(name, source, target):
        return helper.make_node("Conv", [source, f"{name}.weight", f"{name}.bias"], [target], pads=[1, 1, 1, 1])

    nodes = [convolution("first", "noisy", "a"), helper.make_node("Relu", ["a"], ["b"]),
             convolution("second", "b", "c"), helper.make_node("Relu", ["c"], ["d"]),
             convolution("third", "d", "clean")]
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", 1, 32, 32]) for name in ("noisy", "clean")]
    weights = layer("first", 1, CHANNELS) + layer("second", CHANNELS, CHANNELS) + layer("third", CHANNELS, 1)
    model = helper.make_model(helper.make_graph(nodes, "denoiser", ports[:1], ports[1:], weights),
                              opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    return morton.Model.from_bytes(model.SerializeToString(), "denoiser")


def noisy(pictures, seed):
    """A third of the pixels have any level, as in main.cpp."""
    random = np.random.default_rng(seed)
    return np.where(random.random(pictures.shape) < 1 / 3, random.random(pictures.shape), pictures).astype(np.float32)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    digits = morton.Dataset.read("data/mnist", "train").inputs / np.float32(255)
    clean = np.pad(digits, ((0, 0), (0, 0), (2, 2), (2, 2)))
    trainer = morton.Trainer(network(seed=1), morton.Device(), batch=50, optimizer="adam", loss="mean_squared_error")
    for epoch in range(8):  # each with noise of its own
        data = morton.Dataset.of_arrays(noisy(clean, seed=epoch), clean)
        report = trainer.train(data, epochs=1, learning_rate=0.003 * 0.7 ** epoch, seed=epoch)
        print(f"epoch {epoch + 1}: loss {report['loss']:.4f}", flush=True)
    trainer.model().save(sys.argv[1])


if __name__ == "__main__":
    try:
        main()
    except (OSError, morton.Error) as error:
        sys.exit(f"error: {error}")
