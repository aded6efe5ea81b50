#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes an encoder of text whose weights are stored as int8, as quantisers leave them.

Each weight goes through Cast, Sub (a zero point) and Mul (a scale) before its product, so an engine
computes with ten million constants before it starts.

    tools/dequantised_encoder.py encoder.onnx
    time build/morton inspect encoder.onnx
"""

import argparse

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 13


class Encoder:
    """Nodes and constants of the network, written one after the other."""

    def __init__(self, width, heads, words, seed):
        self.width, self.heads, self.words = width, heads, words
        self.random = np.random.default_rng(seed)
        self.nodes, self.constants, self.count = [], [], 0

    def constant(self, array):
        self.count += 1
        name = f"c{self.count}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, operator, *inputs, **attributes):
        self.count += 1
        name = f"n{self.count}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], name, **attributes))
        return name

    def dense(self, value, inputs, outputs):
        """value @ weights + bias, the weights from int8, with a scale for each output."""
        stored = self.constant(self.random.integers(-127, 128, (inputs, outputs), dtype=np.int8))
        real = self.node("Cast", stored, to=TensorProto.FLOAT)
        zero = self.constant(self.random.integers(-3, 4, (1, outputs)).astype(np.float32))
        scale = self.random.uniform(0.5, 1.5, (1, outputs)) / (73.0 * np.sqrt(inputs))
        weights = self.node("Mul", self.node("Sub", real, zero),
                            self.constant(scale.astype(np.float32)))
        bias = self.random.normal(0, 0.02, outputs).astype(np.float32)
        return self.node("Add", self.node("MatMul", value, weights), self.constant(bias))

    def normalise(self, value):
        centred = self.node("Sub", value, self.node("ReduceMean", value, axes=[-1]))
        square = self.node("ReduceMean", self.node("Mul", centred, centred), axes=[-1])
        spread = self.node("Sqrt", self.node("Add", square, self.constant(np.float32(1e-5))))
        return self.node("Div", centred, spread)

    def split(self, value, order):
        shape = self.constant(np.array([1, self.words, self.heads, self.width // self.heads]))
        return self.node("Transpose", self.node("Reshape", value, shape), perm=order)

    def attend(self, value):
        query = self.split(self.dense(value, self.width, self.width), [0, 2, 1, 3])
        key = self.split(self.dense(value, self.width, self.width), [0, 2, 3, 1])
        content = self.split(self.dense(value, self.width, self.width), [0, 2, 1, 3])
        root = self.constant(np.float32(np.sqrt(self.width / self.heads)))
        scores = self.node("Div", self.node("MatMul", query, key), root)
        mixed = self.node("MatMul", self.node("Softmax", scores, axis=-1), content)
        shape = self.constant(np.array([1, self.words, self.width]))
        joined = self.node("Reshape", self.node("Transpose", mixed, perm=[0, 2, 1, 3]), shape)
        return self.dense(joined, self.width, self.width)

    def gelu(self, value):
        part = self.node("Erf", self.node("Div", value, self.constant(np.float32(np.sqrt(2)))))
        half = self.node("Mul", value, self.constant(np.float32(0.5)))
        return self.node("Mul", half, self.node("Add", part, self.constant(np.float32(1))))

    def layer(self, value):
        value = self.normalise(self.node("Add", value, self.attend(value)))
        inner = self.gelu(self.dense(value, self.width, 4 * self.width))
        return self.normalise(self.node("Add", value, self.dense(inner, 4 * self.width, self.width)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--heads", type=int, default=12)
    parser.add_argument("--words", type=int, default=128)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    encoder = Encoder(options.width, options.heads, options.words, options.seed)
    shape = [1, options.words, options.width]
    value = "input"
    for _ in range(options.layers):
        value = encoder.layer(value)
    encoder.nodes[-1].output[0] = "output"
    graph = helper.make_graph(
        encoder.nodes, "dequantised_encoder",
        [helper.make_tensor_value_info("input", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("output", TensorProto.FLOAT, shape)], encoder.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
    model.ir_version = 8
    onnx.checker.check_model(model)
    onnx.save(model, options.file)


if __name__ == "__main__":
    main()
