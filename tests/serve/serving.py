# SPDX-License-Identifier: Apache-2.0
"""What the tests of morton-serve share: a server, and pictures for LeNet."""

import http.client
import json
import pathlib
import re
import signal
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LENET = ROOT / "models" / "lenet5.onnx"


class Server:
    """A morton-serve with these arguments, on a free port, and on another one for gRPC where the arguments ask for it."""

    program = ""

    def __init__(self, *words):
        words = [*map(str, words)]
        if "--port" not in words:
            words += ["--port", "0"]
        self.process = subprocess.Popen([self.program, *words], cwd=ROOT, stderr=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.port, self.grpc_port, self.said, self.ended = None, None, [], None
        for line in self.process.stderr:
            self.said.append(line)
            if found := re.search(r"listening on (https?|grpc)://[^:]+:(\d+)", line):
                if found.group(1) == "grpc":
                    self.grpc_port = int(found.group(2))
                else:
                    self.port = int(found.group(2))
                if "--grpc-port" not in words or self.grpc_port:
                    break

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self, sent=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(sent)
        if self.ended is None:
            out, err = self.process.communicate(timeout=60)
            self.said.append(err)
            self.ended = (self.process.returncode, out)
        return self.ended

    def ask(self, method, path, body=None, headers=None, timeout=120):
        """The status, the JSON or bytes, and the headers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            if isinstance(body, dict):
                body = json.dumps(body)
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            content = answer.read()
            if answer.getheader("Content-Type") == "application/json":
                content = json.loads(content)
            return answer.status, content, answer
        finally:
            connection.close()

    def wait_ready(self, seconds=240):
        end = time.monotonic() + seconds
        while self.ask("GET", "/v2/health/ready")[0] != 200:
            assert time.monotonic() < end and self.process.poll() is None, "".join(self.said)
            time.sleep(0.05)
        return self

    def memory_kib(self):
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", text).group(1))


def digits(count, seed=1):
    """So many pictures of 1x32x32."""
    state, values = seed * 2654435761 % 2**32, []
    for _ in range(count * 1024):
        state = (state * 1664525 + 1013904223) % 2**32
        values.append(state / 2**32)
    return values


def question(values, count, **more):
    return {"inputs": [{"name": "input", "shape": [count, 1, 32, 32], "datatype": "FP32", "data": values}], **more}


def numbers(answer):
    return answer["outputs"][0]["data"]
