# SPDX-License-Identifier: Apache-2.0
"""ONNX's own runner of tests on morton.backend: some of its tests; all with MORTON_TEST_LONG."""
import os
import unittest

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
import onnx.backend.test  # noqa: E402

import morton.backend  # noqa: E402

if not hasattr(np, "object"):
    np.object = object  # onnx 1.12 asks for it, which NumPy 1.24 has no more

SOME = r"^test_(relu|matmul_2d|softmax_axis_1|conv_with_strides_padding|gemm_all_attributes|topk|lstm_defaults|nonzero)"


def runner():
    tests = onnx.backend.test.BackendTest(morton.backend, __name__)
    if not os.environ.get("MORTON_TEST_LONG"):
        tests.include(SOME + ".*_cpu$")
    return tests


def test_onnx_runs_its_tests():
    suite = unittest.TestSuite()
    for case in runner().test_cases.values():
        suite.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(case))
    result = unittest.TestResult()
    suite.run(result)
    wrong = [f"{test}: {text.splitlines()[-1]}" for test, text in result.failures + result.errors]
    print(f"{result.testsRun} tests, {len(result.skipped)} skipped, {len(wrong)} wrong")
    assert result.testsRun - len(result.skipped) >= 8
    assert not wrong, "\n".join(wrong)


def test_a_node_runs_alone():
    node = onnx.helper.make_node("Add", ["a", "b"], ["c"])
    a, b = np.ones((2, 3), np.float32), np.arange(3, dtype=np.float32)
    np.testing.assert_array_equal(morton.backend.run_node(node, [a, b])[0], a + b)


def test_as_many_inputs_as_the_model_has():
    node = onnx.helper.make_node("Add", ["a", "b"], ["c"])
    a = np.ones(3, np.float32)
    ports = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [3]) for name in "abc"]
    model = onnx.helper.make_model(onnx.helper.make_graph([node], "add", ports[:2], ports[2:]),
                                   opset_imports=[onnx.helper.make_opsetid("", 13)])
    prepared = morton.backend.prepare(model)
    for inputs in ([a], [a, a, a]):
        with pytest.raises(morton.UsageError, match=rf"has 2 inputs \(a, b\), got {len(inputs)}"):
            prepared.run(inputs)


def test_devices_are_told_apart():
    assert morton.backend.supports_device("CPU")
    assert not morton.backend.supports_device("TPU")
    with pytest.raises(morton.UsageError, match="device TPU: expected one of CPU, GPU, CUDA"):
        morton.backend.prepare(onnx.ModelProto(), "TPU")
