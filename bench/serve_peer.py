#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The peer of `morton serve`: FastAPI and ONNX Runtime, as their guides show it. ./dev bench scale starts it.

    serve_peer.py MODEL.onnx NAME SOCKET PROCESSORS

It reads the same requests: a head of JSON, then the input's bytes. It answers with JSON and bytes likewise."""

import json
import sys

import fastapi
import numpy as np
import onnxruntime
import uvicorn
from fastapi.concurrency import run_in_threadpool

MODEL, NAME, SOCKET, PROCESSORS = sys.argv[1:5]
HEAD = "inference-header-content-length"

options = onnxruntime.SessionOptions()
options.intra_op_num_threads = int(PROCESSORS)
session = onnxruntime.InferenceSession(MODEL, options, providers=["CPUExecutionProvider"])
app = fastapi.FastAPI()


def infer(body, head_bytes):
    head = json.loads(body[:head_bytes])
    (given,) = head["inputs"]
    values = np.frombuffer(body, np.float32, offset=head_bytes).reshape(given["shape"])
    (result,) = session.run(None, {given["name"]: values})
    reply = json.dumps({"model_name": NAME, "outputs": [{
        "name": session.get_outputs()[0].name, "datatype": "FP32", "shape": result.shape,
        "parameters": {"binary_data_size": result.nbytes}}]}).encode()
    return reply + result.tobytes(), len(reply)


@app.post(f"/v2/models/{NAME}/infer")
async def answer(request: fastapi.Request):
    body = await request.body()
    content, head_bytes = await run_in_threadpool(infer, body, int(request.headers[HEAD]))
    return fastapi.Response(content, media_type="application/octet-stream", headers={HEAD: str(head_bytes)})


uvicorn.run(app, uds=SOCKET, log_level="warning", access_log=False)
