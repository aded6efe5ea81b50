# SPDX-License-Identifier: Apache-2.0
"""A session, one input, all outputs."""
import sys

import numpy as np
import onnxruntime as ort

session = ort.InferenceSession(sys.argv[1] + "/lenet5.onnx", providers=["CPUExecutionProvider"])
name = session.get_inputs()[0].name
image = np.linspace(0, 1, 32 * 32, dtype=np.float32).reshape(1, 1, 32, 32)
(scores,) = session.run(None, {name: image})
np.savez(sys.argv[2], scores=scores)
