# SPDX-License-Identifier: Apache-2.0
"""Makes tests/python/models/open.onnx, a model with open extents, two inputs and two outputs.

Usage: make_models.py FOLDER     (needs PyPI's onnx)
"""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def main():
    random = np.random.default_rng(4)
    weights = random.standard_normal((8, 6)).astype(np.float32)
    nodes = [helper.make_node("MatMul", ["words", "W"], ["product"]),
             helper.make_node("Tanh", ["product"], ["hidden"]),
             helper.make_node("Cast", ["mask"], ["real_mask"], to=TensorProto.FLOAT),
             helper.make_node("Unsqueeze", ["real_mask", "last"], ["wide_mask"]),
             helper.make_node("Mul", ["hidden", "wide_mask"], ["masked"]),
             helper.make_node("ReduceSum", ["masked", "one"], ["sum"], keepdims=0),
             helper.make_node("ReduceSum", ["wide_mask", "one"], ["count"], keepdims=0),
             helper.make_node("Div", ["sum", "count"], ["pooled"])]
    graph = helper.make_graph(
        nodes, "open",
        [helper.make_tensor_value_info("words", TensorProto.FLOAT, ["batch", "length", 8]),
         helper.make_tensor_value_info("mask", TensorProto.INT64, ["batch", "length"])],
        [helper.make_tensor_value_info("hidden", TensorProto.FLOAT, ["batch", "length", 6]),
         helper.make_tensor_value_info("pooled", TensorProto.FLOAT, ["batch", 6])],
        [numpy_helper.from_array(weights, "W"), numpy_helper.from_array(np.array([2]), "last"),
         numpy_helper.from_array(np.array([1]), "one")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, sys.argv[1] + "/open.onnx")


if __name__ == "__main__":
    main()
