#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the models of bench/operators_table.py, their inputs, and what ONNX Runtime makes of them on one thread: several
race where updates meet. Needs numpy, onnx and onnxruntime. Of ./dev bench operators."""

import pathlib
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import operators_table

TYPES = {"float32": TensorProto.FLOAT, "int64": TensorProto.INT64}


def values_of(kind, shape, least, greatest, rng):
    if kind == "apart":  # no two of them alike
        return rng.permutation(greatest)[:np.prod(shape)].reshape(shape)
    if kind.startswith("int"):
        return rng.integers(least, greatest, shape).astype(kind)
    return rng.uniform(least, greatest, shape).astype(kind)


def write(case, path):
    rng = np.random.default_rng(1)
    node = helper.make_node(case.op, list(case.order), ["y"], **case.attributes)
    given = [helper.make_tensor_value_info(name, TYPES[kind], shape)
             for name, (kind, shape, _, _) in case.inputs.items()]
    held = [numpy_helper.from_array(values_of(*spec, rng), name) for name, spec in case.constants.items()]
    held += [numpy_helper.from_array(np.array(values), name) for name, values in case.lists.items()]
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([node], case.op, given, [result], held)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", case.opset)], ir_version=8)
    onnx.save(model, path)


def write_values(case, path):
    rng = np.random.default_rng(2)
    given = {name: values_of(*spec, rng) for name, spec in case.inputs.items()}
    for number, values in enumerate(given.values()):
        np.save(path.with_suffix(f".given.{number}.npy"), values)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    np.savez(path.with_suffix(".expected.npz"), output_0=session.run(None, given)[0])


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for number in map(int, sys.argv[2:]):
        path = folder / f"{number}.onnx"
        write(operators_table.CASES[number], path)
        write_values(operators_table.CASES[number], path)


if __name__ == "__main__":
    main()
