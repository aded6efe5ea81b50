#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One layer in f32 and in u8, as ONNX files. Of ./dev bench lowp; needs numpy and onnx.

    lowp_layers.py LAYER F32.onnx U8.onnx

LAYER is lowp_table.Layer as JSON. Codes are u8 and weights i8, as ONNX Runtime's tools write them, with a scale for each
output. Weights are random, of a fixed seed. A ReLU stands behind both: that of u8 is the bound of its codes."""

import json
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SEED = 1
# Of codes of the input and of the result, and the zero point of the input.
SCALE, ZERO = 0.02, 114


def save(nodes, types, shapes, constants, path):
    edges = [helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in zip("xy", types, shapes)]
    graph = helper.make_graph(nodes, "layer", edges[:1], edges[1:],
                              [numpy_helper.from_array(array, name) for name, array in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)


def shapes_of(layer):
    """Of the input, the weights and the result."""
    inputs, outputs, size, window = (layer[key] for key in ("inputs", "outputs", "size", "window"))
    if not window:
        return [size**2, inputs], [inputs, outputs], [size**2, outputs]
    return [1, inputs, size, size], [outputs, inputs, window, window], [1, outputs, size, size]


def write(layer, path_f32, path_u8):
    given, weights, result = shapes_of(layer)
    outputs, window = layer["outputs"], layer["window"]
    generator = np.random.default_rng(SEED)
    codes = generator.integers(-127, 128, weights, dtype=np.int8)
    scales = generator.uniform(0.001, 0.01, outputs).astype(np.float32)
    padding = {"pads": [window // 2] * 4} if window else {}
    spread = scales.reshape([-1, 1, 1, 1]) if window else scales
    bias = generator.integers(-1000, 1000, outputs).astype(np.int32)
    real_bias = (bias * scales * np.float32(SCALE)).astype(np.float32)
    real = {"w": codes.astype(np.float32) * spread, "b": real_bias}
    if window:
        nodes = [helper.make_node("Conv", ["x", "w", "b"], ["s"], **padding)]
    else:
        nodes = [helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node("Add", ["p", "b"], ["s"])]
    save([*nodes, helper.make_node("Relu", ["s"], ["y"])], [TensorProto.FLOAT] * 2, [given, result], real, path_f32)
    constants = {"sx": np.float32(SCALE), "zx": np.uint8(ZERO), "w": codes, "sw": scales,
                 "zw": np.zeros(outputs, np.int8) if window else np.int8(0), "sy": np.float32(SCALE),
                 "zy": np.uint8(0), "b": bias}
    names = ["x", "sx", "zx", "w", "sw", "zw", "sy", "zy"]
    if window:
        nodes = [helper.make_node("QLinearConv", [*names, "b"], ["y"], **padding)]
    else:
        del constants["b"]
        constants["zw"] = np.zeros(outputs, np.int8)
        nodes = [helper.make_node("QLinearMatMul", names, ["y"])]
    save(nodes, [TensorProto.UINT8] * 2, [given, result], constants, path_u8)


if __name__ == "__main__":
    write(json.loads(sys.argv[1]), *sys.argv[2:])
