# SPDX-License-Identifier: Apache-2.0
"""Makes the models in tests/python/models: open.onnx has open extents, two inputs and two outputs; given.onnx gives its
input and its constants back; branch.onnx gives a constant of a branch; list.onnx gives a list; replaceable.onnx lists a
constant among its inputs.

Usage: make_models.py FOLDER     (needs PyPI's onnx)
"""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def open_model():
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
    return helper.make_graph(
        nodes, "open",
        [helper.make_tensor_value_info("words", TensorProto.FLOAT, ["batch", "length", 8]),
         helper.make_tensor_value_info("mask", TensorProto.INT64, ["batch", "length"])],
        [helper.make_tensor_value_info("hidden", TensorProto.FLOAT, ["batch", "length", 6]),
         helper.make_tensor_value_info("pooled", TensorProto.FLOAT, ["batch", 6])],
        [numpy_helper.from_array(weights, "W"), numpy_helper.from_array(np.array([2]), "last"),
         numpy_helper.from_array(np.array([1]), "one")])


def real(name, shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def given_model():
    levels = np.arange(2048, dtype=np.float32)
    return helper.make_graph(
        [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Identity", ["r"], ["r_again"])], "given",
        [real("x", ["n"])],
        [real("x", ["n"]), real("r", ["n"]), real("r_again", ["n"]), real("bytes", [2048]), real("numbers", [2048])],
        [numpy_helper.from_array(levels, "bytes"),
         helper.make_tensor("numbers", TensorProto.FLOAT, [2048], levels.tolist())])


def branch_model():
    levels = np.arange(4, dtype=np.float32)
    here = helper.make_graph([], "here", [], [real("c", [4])],
                             [helper.make_tensor("c", TensorProto.FLOAT, [4], levels.tolist())])
    there = helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "there", [], [real("y", [4])])
    return helper.make_graph(
        [helper.make_node("If", ["is_constant"], ["chosen"], then_branch=here, else_branch=there)], "branch",
        [real("x", [4]), helper.make_tensor_value_info("is_constant", TensorProto.BOOL, [])], [real("chosen", [4])])


def list_model():
    parts = helper.make_value_info("parts", helper.make_sequence_type_proto(
        helper.make_tensor_type_proto(TensorProto.FLOAT, [1, 2])))
    return helper.make_graph([helper.make_node("SplitToSequence", ["x"], ["parts"], axis=0)], "list",
                             [real("x", [4, 2])], [parts])


def replaceable_model():
    return helper.make_graph([helper.make_node("Mul", ["x", "w"], ["y"])], "replaceable", [real("x", [2]), real("w", [2])],
                             [real("y", [2])], [numpy_helper.from_array(np.array([2, 4], np.float32), "w")])


def main():
    for graph in (open_model(), given_model(), branch_model(), list_model(), replaceable_model()):
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
        onnx.checker.check_model(model)
        onnx.save(model, f"{sys.argv[1]}/{graph.name}.onnx")


if __name__ == "__main__":
    main()
