#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A server under clients of every kind at once: most ask well, one of a hundred requests is malformed, some clients vanish
in the middle of a request or before its answer, some write slowly.

    storm.py MORTON_SERVE SERVE_LOAD REQUESTS

Each good request must get its answer, each malformed one an error, and memory must not grow. Prints what was sent, and
ends with status 1 where anything is otherwise. `./dev check --load serving` sends a million."""

import json
import pathlib
import random
import re
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

import serving

PATH = "/v2/models/lenet5/infer"
CLIENTS = 8  # for each of two pictures
ROUNDS = 8  # at least
SLOW = 24
MALFORMED = 0.01
VANISHING = 0.002


def binary_question(seed=1):
    """A good request for one picture: JSON, then its numbers; and how many bytes are JSON."""
    values = struct.pack("<1024f", *serving.digits(1, seed))
    text = json.dumps({"inputs": [{"name": "input", "shape": [1, 1, 32, 32], "datatype": "FP32",
                                   "parameters": {"binary_data_size": len(values)}}],
                       "parameters": {"binary_data_output": True}}).encode()
    return text + values, len(text)


def http(body, headers=b"", method=b"POST", path=PATH.encode()):
    return method + b" " + path + b" HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n" % len(body) + headers + b"\r\n" + body


def malformed(rng):
    """A request that no server can answer well."""
    good = serving.question(serving.digits(1), 1)
    kind = rng.randrange(10)
    if kind == 0:  # bytes that are no HTTP
        return bytes(rng.randrange(256) for _ in range(rng.randrange(1, 400))) + b"\r\n\r\n"
    if kind == 1:
        return http(json.dumps(good).encode()[:rng.randrange(1, 5000)])
    if kind == 2:
        good["inputs"][0]["shape"] = [rng.choice((-1, 0, 3, 2**40)), 1, 32, 32]
    elif kind == 3:
        good["inputs"][0]["datatype"] = rng.choice(("FP33", "", "BYTES", "INT64"))
    elif kind == 4:
        good["inputs"][0]["data"] = rng.choice((None, "x", ["a"], [1e300] * 1024, [[]]))
    elif kind == 5:
        return http(b"{}", path=b"/v2/models/" + b"y" * rng.randrange(1, 3000) + b"/infer")
    elif kind == 6:
        return http(b"{}", b"Inference-Header-Content-Length: %d\r\n" % rng.choice((3, 2**40)))
    elif kind == 7:
        return http(b"{}", method=rng.choice((b"PUT", b"GET", b"BREW")))
    elif kind == 8:
        return b"POST " + PATH.encode() + b" HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % rng.choice((2**62, 2**33))
    else:  # one flipped byte of the JSON's structure
        text = bytearray(json.dumps({**good, "inputs": [{**good["inputs"][0], "data": [1, 2]}]}).encode())
        text[rng.randrange(len(text))] ^= 1 << rng.randrange(7)
        return http(bytes(text))
    return http(json.dumps(good).encode())


class Storm:
    """The bad clients. They follow the count of good requests, and stop when told."""

    def __init__(self, port):
        self.port, self.good, self.stop = port, 0, threading.Event()
        self.counts = {"malformed": 0, "vanished": 0, "slow": 0}
        self.complaints = []
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.run, args=(work, number), daemon=True)
                        for number, work in enumerate([self.malform] * 2 + [self.vanish] + [self.write_slowly] * SLOW)]
        for thread in self.threads:
            thread.start()

    def end(self):
        self.stop.set()
        for thread in self.threads:
            thread.join(60)
        return self.complaints

    def run(self, work, number):
        rng = random.Random(number)
        while not self.stop.is_set():
            try:
                work(rng)
            except OSError as error:
                self.complain(f"{work.__name__}: {error}")

    def complain(self, text):
        with self.lock:
            self.complaints.append(text)
        if len(self.complaints) > 20:
            self.stop.set()

    def is_due(self, kind, share):
        with self.lock:
            due = self.counts[kind] < share * self.good
            self.counts[kind] += due
        if not due:
            time.sleep(0.01)
        return due

    def connect(self):
        client = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        client.settimeout(60)
        return client

    def malform(self, rng):
        if not self.is_due("malformed", MALFORMED):
            return
        request = malformed(rng)
        with self.connect() as client:
            try:
                client.sendall(request)
                client.shutdown(socket.SHUT_WR)
                answer = client.recv(65536)
            except (ConnectionResetError, BrokenPipeError):
                return  # closed by the server while it was still being told
        if answer and not re.match(rb"HTTP/1\.[01] (4\d\d|501|505) ", answer):
            self.complain(f"malformed: {request[:300]!r} got {answer[:200]!r}")

    def vanish(self, rng):
        if not self.is_due("vanished", VANISHING):
            return
        body, json_bytes = binary_question()
        request = http(body, b"Inference-Header-Content-Length: %d\r\n" % json_bytes)
        with self.connect() as client:
            client.sendall(request[:rng.randrange(1, len(request))] if rng.random() < 0.5 else request)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def write_slowly(self, rng):
        body, json_bytes = binary_question()
        request = http(body, b"Inference-Header-Content-Length: %d\r\n" % json_bytes)
        with self.connect() as client:
            at = 0
            while at < len(request) and not self.stop.is_set():
                client.sendall(request[at:at + 400])
                at += 400
                time.sleep(0.1 * rng.random())
            if at < len(request):
                return
            answer = client.recv(65536)
        if not answer.startswith(b"HTTP/1.1 200 "):
            self.complain(f"slow: {answer[:200]!r}")
        with self.lock:
            self.counts["slow"] += 1


def main():
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    serving.Server.program, load, wanted = sys.argv[1], sys.argv[2], int(sys.argv[3])
    good, memory, complaints = 0, [], []
    begun = time.monotonic()
    with serving.Server(serving.LENET) as server, tempfile.TemporaryDirectory() as folder:
        server.wait_ready()
        commands = []
        for seed in (1, 2):
            body, json_bytes = binary_question(seed)
            file = pathlib.Path(folder) / f"body{seed}"
            file.write_bytes(body)
            seconds = "0.2" if wanted < 200000 else "5"
            commands.append([load, str(server.port), str(CLIENTS), seconds, PATH, str(file), str(json_bytes)])
        storm = Storm(server.port)
        while (good < wanted or len(memory) < ROUNDS) and not complaints and not storm.stop.is_set():
            loads = [subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for words in commands]
            for one in loads:
                out, err = one.communicate()
                if one.returncode != 0:
                    complaints.append(f"a good client: {err.strip()}")
                    continue
                found = json.loads(out)
                if found["refused"] or found["wrong"]:
                    complaints.append(f"{found['refused']} good requests were refused, {found['wrong']} answers differ from "
                                      "the first for their picture")
                good += found["requests"]
            storm.good = good
            memory.append(server.memory_kib())
        complaints += storm.end()
        complaints += [f"no client was {kind}" for kind, count in storm.counts.items() if count == 0]
        metrics = server.ask("GET", "/metrics")[1].decode()
        answered = float(re.search(r'^morton_inference_count_total\{model="lenet5"\} (\S+)$', metrics, re.M).group(1))
        if answered < good:
            complaints.append(f"the metrics count {answered:.0f} of {good} answers")
        status, _ = server.stop()
        if status != 0:
            complaints.append(f"the server ended with status {status}")
    # Behind a quarter of the requests, all that a server keeps is there.
    settled = memory[len(memory) // 4:]
    if settled[-1] > settled[0] * 1.02 + 1024:
        complaints.append(f"memory grew from {settled[0]} to {settled[-1]} KiB")
    counts = ", ".join(f"{count} {kind}" for kind, count in storm.counts.items())
    seconds = time.monotonic() - begun
    print(f"serving: {good} good requests, {counts}; memory {settled[0]} to {settled[-1]} KiB; {seconds:.0f} s")
    for text in complaints:
        print(f"  {text}")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
