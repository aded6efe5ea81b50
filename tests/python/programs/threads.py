# SPDX-License-Identifier: Apache-2.0
"""One session, several threads."""
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnxruntime as ort

session = ort.InferenceSession(sys.argv[1] + "/lenet5.onnx")
name = session.get_inputs()[0].name
images = np.random.default_rng(2).random((16, 1, 1, 32, 32)).astype(np.float32)
with ThreadPoolExecutor(4) as pool:
    scores = list(pool.map(lambda image: session.run(None, {name: image})[0], images))
np.savez(sys.argv[2], scores=np.concatenate(scores))
