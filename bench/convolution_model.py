#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a network of one convolution with its bias and its activation, for bench/guess.py: one square image, odd
filters, padded so that a stride of 1 keeps the size. Needs the packages onnx and numpy."""

import argparse

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper, save


def model_of(options):
    random = np.random.default_rng(1)
    size = (options.size - 1) // options.stride + 1
    shape = (options.filters, options.channels // options.groups, options.kernel, options.kernel)
    constants = {"w": random.standard_normal(shape) * np.sqrt(2.0 / np.prod(shape[1:])), "b": np.zeros(options.filters),
                 "least": np.array(0.0), "most": np.array(6.0)}
    inputs = {"none": None, "relu": ["c"], "clip": ["c", "least", "most"]}[options.activation]
    result = "y" if inputs else "c"
    nodes = [helper.make_node("Conv", ["input", "w", "b"], ["c"], "conv", group=options.groups,
                              kernel_shape=shape[2:], strides=[options.stride] * 2, pads=[options.kernel // 2] * 4)]
    if inputs:
        nodes.append(helper.make_node(options.activation.capitalize(), inputs, ["y"], "activation"))
    used = {name for node in nodes for name in node.input}
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, channels, extent, extent])
             for name, channels, extent in (("input", options.channels, options.size),
                                            (result, options.filters, size))]
    graph = helper.make_graph(nodes, "convolution", ports[:1], ports[1:],
                              [numpy_helper.from_array(np.asarray(value, np.float32), name)
                               for name, value in constants.items() if name in used])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    checker.check_model(model)
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="ONNX file to write")
    for name in ("channels", "size", "filters", "kernel", "stride", "groups"):
        parser.add_argument(name, type=int)
    parser.add_argument("activation", choices=["none", "relu", "clip"])
    options = parser.parse_args()
    save(model_of(options), options.file)


if __name__ == "__main__":
    main()
