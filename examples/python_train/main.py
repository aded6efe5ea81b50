#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A network that learns from NumPy's arrays, and then answers.

    python3 examples/python_train/main.py [EPOCHS [DEVICE]]

The paths that are assumed hold in the repository's root."""

import argparse
import sys

import morton
import numpy as np


def rings(count, seed):
    """Points of a plane, f32 [count, 2], and which of two rings each lies in, i32 [count]."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 2, count).astype(np.int32)
    radius = 1.0 + labels + random.normal(0.0, 0.15, count)
    angle = random.uniform(0.0, 2.0 * np.pi, count)
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1)
    return points.astype(np.float32), labels


def network(seed):
    """Two layers, ONNX made of arrays: the package onnx writes it."""
    try:
        from onnx import TensorProto, helper, numpy_helper
    except ImportError:
        sys.exit("error: this example needs the package onnx: pip install onnx")
    random = np.random.default_rng(seed)

    def layer(name, inputs, outputs):
        weights = random.normal(0.0, np.sqrt(2.0 / inputs), (inputs, outputs)).astype(np.float32)
        return [numpy_helper.from_array(weights, f"{name}.weight"),
                numpy_helper.from_array(np.zeros(outputs, np.float32), f"{name}.bias")]

    nodes = [helper.make_node("Gemm", ["points", "hidden.weight", "hidden.bias"], ["h"]),
             helper.make_node("Tanh", ["h"], ["t"]),
             helper.make_node("Gemm", ["t", "out.weight", "out.bias"], ["logits"])]
    graph = helper.make_graph(
        nodes, "rings", [helper.make_tensor_value_info("points", TensorProto.FLOAT, ["batch", 2])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 2])],
        layer("hidden", 2, 16) + layer("out", 16, 2))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    return morton.Model.from_bytes(model.SerializeToString())


def main():
    parser = argparse.ArgumentParser(description="A network learns from NumPy's arrays, and then answers.")
    parser.add_argument("epochs", nargs="?", type=int, default=20, metavar="EPOCHS")
    parser.add_argument("device", nargs="?", default="", metavar="DEVICE", help="as morton.Device takes it: gpu, cpu, ...")
    given = parser.parse_args()
    epochs, device = given.epochs, morton.Device(given.device)

    # 1. A trainer: forward pass, loss, gradients and update are one plan for the device.
    trainer = morton.Trainer(network(seed=1), device, batch=50, optimizer="adam")
    training = morton.Dataset.of_arrays(*rings(1000, seed=2))
    trainer.train(training, epochs=epochs, learning_rate=0.01)

    # 2. What it knows of points that it has not seen.
    points, labels = rings(500, seed=3)
    found = trainer.evaluate(morton.Dataset.of_arrays(points, labels))
    print(f"{found['right']} of {found['rows']} points are in the right ring")

    # 3. What has learned is a model as any other.
    session = morton.InferenceSession(trainer.model(), providers=[("MortonExecutionProvider", {"device": device.id})])
    logits, = session.run(None, {"points": points})
    print(f"a session says so of {np.mean(logits.argmax(1) == labels):.1%}")
    return 0 if epochs < 20 or found["right"] > 450 else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, morton.Error) as error:
        sys.exit(f"error: {error}")
