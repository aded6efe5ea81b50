# SPDX-License-Identifier: Apache-2.0
"""What most programs do: prepare a picture, run, softmax, the best five, and the time that it takes."""
import json
import sys
import time

import numpy as np
import onnxruntime as ort


def prepare(picture, mean=0.1307, std=0.3081):
    rows = np.linspace(0, picture.shape[0] - 1, 32).astype(int)
    columns = np.linspace(0, picture.shape[1] - 1, 32).astype(int)
    small = picture[rows][:, columns].astype(np.float32) / 255
    return ((small - mean) / std)[np.newaxis, np.newaxis]


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


options = ort.SessionOptions()
options.enable_profiling = True
options.profile_file_prefix = sys.argv[2].removesuffix(".npz")
session = ort.InferenceSession(sys.argv[1] + "/lenet5.onnx", options, providers=["CPUExecutionProvider"])
picture = np.add.outer(np.arange(56), np.arange(56)) * 2 % 256
data = prepare(picture.astype(np.uint8))
session.run([], {session.get_inputs()[0].name: data})
times = []
for _ in range(20):
    start = time.perf_counter()
    raw_result = session.run([session.get_outputs()[0].name], {session.get_inputs()[0].name: data})
    times.append(time.perf_counter() - start)
result = softmax(np.array(raw_result)).reshape(-1)
best = np.argsort(result)[::-1][:5]
print("best five", best, "median %.3f ms" % (np.median(times) * 1e3), file=sys.stderr)
with open(session.end_profiling(), encoding="utf-8") as trace:
    assert isinstance(json.load(trace), (list, dict))
np.savez(sys.argv[2], result=result, best=best)
