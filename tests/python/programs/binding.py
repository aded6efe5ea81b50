# SPDX-License-Identifier: Apache-2.0
"""Inputs and outputs that are bound once and run often."""
import sys

import numpy as np
import onnxruntime

session = onnxruntime.InferenceSession(sys.argv[1] + "/lenet5.onnx", providers=["CPUExecutionProvider"])
binding = session.io_binding()
image = np.random.default_rng(1).random((1, 1, 32, 32)).astype(np.float32)
binding.bind_cpu_input(session.get_inputs()[0].name, image)
binding.bind_output(session.get_outputs()[0].name)
for _ in range(3):
    session.run_with_iobinding(binding)
first = binding.copy_outputs_to_cpu()[0]
mine = np.empty((1, 10), np.float32)
binding.clear_binding_outputs()
binding.bind_output(session.get_outputs()[0].name, "cpu", 0, np.float32, mine.shape, mine.ctypes.data)
session.run_with_iobinding(binding)
assert np.array_equal(first, mine)
np.savez(sys.argv[2], first=first, mine=mine)
