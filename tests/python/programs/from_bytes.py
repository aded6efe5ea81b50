# SPDX-License-Identifier: Apache-2.0
"""A model that is in memory."""
import sys

import numpy as np
import onnxruntime as rt

with open(sys.argv[1] + "/lenet5.onnx", "rb") as file:
    model = file.read()
sess = rt.InferenceSession(model, rt.SessionOptions(), ["CPUExecutionProvider"])
input_name = sess.get_inputs()[0].name
label_name = sess.get_outputs()[0].name
pred_onx = sess.run([label_name], {input_name: np.zeros((1, 1, 32, 32), np.float32)})[0]
np.savez(sys.argv[2], scores=pred_onx)
