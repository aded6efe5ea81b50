# SPDX-License-Identifier: Apache-2.0
"""Facts of inputs and outputs, and outputs by name."""
import sys

import numpy as np
import onnxruntime as ort

session = ort.InferenceSession(sys.argv[1] + "/open.onnx", providers=ort.get_available_providers())
for port in session.get_inputs() + session.get_outputs():
    print(port.name, port.shape, port.type)
assert [port.name for port in session.get_inputs()] == ["words", "mask"]
assert session.get_inputs()[0].shape == ["batch", "length", 8]
assert session.get_inputs()[0].type == "tensor(float)"
assert session.get_inputs()[1].type == "tensor(int64)"
assert session.get_modelmeta().graph_name == "open"
feed = {"words": np.ones((2, 3, 8), np.float32), "mask": np.array([[1, 1, 0], [1, 0, 0]], np.int64)}
pooled = session.run(["pooled"], feed)[0]
pooled_again, hidden = session.run(output_names=["pooled", "hidden"], input_feed=feed)
np.savez(sys.argv[2], pooled=pooled, hidden=hidden, same=np.abs(pooled - pooled_again).max())
