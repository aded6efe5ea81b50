# SPDX-License-Identifier: Apache-2.0
"""Batches and lengths that differ from run to run."""
import sys

import numpy as np
import onnxruntime as ort

session = ort.InferenceSession(sys.argv[1] + "/open.onnx")
random = np.random.default_rng(0)
found = {}
for batch, length in [(1, 4), (3, 4), (2, 7), (1, 4), (5, 1)]:
    words = random.standard_normal((batch, length, 8)).astype(np.float32)
    mask = np.ones((batch, length), dtype=np.int64)
    hidden, pooled = session.run(None, {"words": words, "mask": mask})
    assert hidden.shape == (batch, length, 6) and pooled.shape == (batch, 6)
    found[f"hidden_{batch}_{length}"] = hidden
    found[f"pooled_{batch}_{length}"] = pooled
np.savez(sys.argv[2], **found)
