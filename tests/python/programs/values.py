# SPDX-License-Identifier: Apache-2.0
"""OrtValue in and out."""
import sys

import numpy as np
import onnxruntime as ort

session = ort.InferenceSession(sys.argv[1] + "/open.onnx")
words = ort.OrtValue.ortvalue_from_numpy(np.linspace(-1, 1, 48, dtype=np.float32).reshape(2, 3, 8))
mask = ort.OrtValue.ortvalue_from_numpy(np.ones((2, 3), np.int64), "cpu", 0)
assert words.shape() == [2, 3, 8] and words.data_type() == "tensor(float)"
assert words.device_name() == "cpu" and words.is_tensor() and words.has_value()
outputs = session.run_with_ort_values(["hidden"], {"words": words, "mask": mask})
hidden = outputs[0].numpy()
np.savez(sys.argv[2], hidden=hidden)
