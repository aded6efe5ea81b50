# SPDX-License-Identifier: Apache-2.0
"""Options of a session: threads, optimisation, the order of providers, what is logged."""
import sys

import numpy as np
import onnxruntime as ort

options = ort.SessionOptions()
options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
options.intra_op_num_threads = 1
options.inter_op_num_threads = 1
options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
options.log_severity_level = 3
options.add_session_config_entry("session.intra_op.allow_spinning", "0")
options.add_free_dimension_override_by_name("batch", 2)
wanted = ["CUDAExecutionProvider", "CPUExecutionProvider"]
providers = [p for p in wanted if p in ort.get_available_providers()]
session = ort.InferenceSession(sys.argv[1] + "/open.onnx", sess_options=options,
                               providers=providers or None)
assert isinstance(session.get_providers(), list) and session.get_providers()
feed = {"words": np.full((2, 5, 8), 0.5, np.float32), "mask": np.ones((2, 5), np.int64)}
run_options = ort.RunOptions()
run_options.log_severity_level = 4
hidden, pooled = session.run(None, feed, run_options)
np.savez(sys.argv[2], hidden=hidden, pooled=pooled)
