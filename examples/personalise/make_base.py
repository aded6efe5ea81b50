#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_base.py FILE.onnx: trains a network that knows the digits 0 to 4; examples/personalise/zero_to_four.onnx is its
result.

It needs the packages `morton` (PYTHONPATH=build/python) and `onnx`, and stands in the repository's root."""

import sys

import morton
import numpy as np


def network(seed):
    """Two convolutions and two affine layers, for grey pictures of 28x28."""
    try:
        from onnx import TensorProto, helper, numpy_helper
    except ImportError:
        sys.exit("error: this program needs the package onnx: pip install onnx")
    random = np.random.default_rng(seed)

    def layer(name, shape, inputs):
        weights = random.normal(0.0, np.sqrt(2.0 / inputs), shape).astype(np.float32)
        outputs = shape[1] if len(shape) == 2 else shape[0]
        return [numpy_helper.from_array(weights, f"{name}.weight"),
                numpy_helper.from_array(np.zeros(outputs, np.float32), f"{name}.bias")]

    def node(operator, source, target, *weights, **attributes):
        inputs = [source] + [f"{name}.{part}" for name in weights for part in ("weight", "bias")]
        return helper.make_node(operator, inputs, [target], **attributes)

    nodes = [node("Conv", "picture", "a", "edges"), node("Relu", "a", "b"),
             node("MaxPool", "b", "c", kernel_shape=[2, 2], strides=[2, 2]),
             node("Conv", "c", "d", "parts"), node("Relu", "d", "e"),
             node("MaxPool", "e", "f", kernel_shape=[2, 2], strides=[2, 2]), node("Flatten", "f", "g"),
             node("Gemm", "g", "h", "features"), node("Relu", "h", "i"), node("Gemm", "i", "logits", "classes")]
    ports = [helper.make_tensor_value_info("picture", TensorProto.FLOAT, ["batch", 1, 28, 28]),
             helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 5])]
    weights = (layer("edges", (8, 1, 5, 5), 25) + layer("parts", (16, 8, 3, 3), 72) + layer("features", (400, 48), 400)
               + layer("classes", (48, 5), 48))
    model = helper.make_model(helper.make_graph(nodes, "zero_to_four", ports[:1], ports[1:], weights),
                              opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    return morton.Model.from_bytes(model.SerializeToString(), "zero_to_four")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    known = []
    for part in ("train", "test"):
        digits = morton.Dataset.read("data/mnist", part)
        inputs, labels = digits.inputs, digits.targets
        known.append(morton.Dataset.of_arrays(inputs[labels < 5], labels[labels < 5]))
    trainer = morton.Trainer(network(seed=1), morton.Device(), batch=50, optimizer="adamw", weight_decay=0.01)
    trainer.train(known[0], epochs=15, learning_rate=0.002, schedule="cosine:warmup=50",
                  augmentation="shift=2,rotate=12,scale=10", seed=1)
    result = trainer.evaluate(known[1])
    print(f"{result['right']} of {result['rows']} test digits from 0 to 4 are right")
    trainer.model().save(sys.argv[1])


if __name__ == "__main__":
    try:
        main()
    except (OSError, morton.Error) as error:
        sys.exit(f"error: {error}")
