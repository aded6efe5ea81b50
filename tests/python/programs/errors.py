# SPDX-License-Identifier: Apache-2.0
"""Wrong names, types and shapes, and files that are not there."""
import sys

import numpy as np
import onnxruntime as ort
from onnxruntime.capi.onnxruntime_pybind11_state import InvalidArgument, NoSuchFile

session = ort.InferenceSession(sys.argv[1] + "/open.onnx")
good = {"words": np.zeros((1, 2, 8), np.float32), "mask": np.ones((1, 2), np.int64)}
caught = []
for wrong in ({"words": np.zeros((1, 2, 9), np.float32)}, {"mask": np.ones((1, 2), np.float32)},
              {"words": np.zeros((2, 8), np.float32)}):
    try:
        session.run(None, {**good, **wrong})
    except InvalidArgument as error:
        caught.append(str(error))
try:
    session.run(None, {"words": good["words"]})
except ValueError as error:
    caught.append(str(error))
try:
    session.run(["nothing"], good)
except InvalidArgument as error:
    caught.append(str(error))
try:
    ort.InferenceSession(sys.argv[1] + "/absent.onnx")
except NoSuchFile as error:
    caught.append(str(error))
assert len(caught) == 6, caught
hidden, pooled = session.run(None, good)
np.savez(sys.argv[2], hidden=hidden, pooled=pooled)
