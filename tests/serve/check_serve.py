#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks morton-serve as clients do: tests/serve/check_serve.py MORTON_SERVE MORTON.

Answers are compared with `morton run` on the same numbers. Then come requests that are wrong, too large, late and too
many, clients that vanish and that write slowly, and the end by SIGTERM."""

import concurrent.futures
import http.client
import json
import os
import pathlib
import re
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

from serving import LENET, ROOT, Server, digits, numbers, question

MORTON = ""


class Serving(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server(f"digits={LENET}", "--max-batch", 8, "--max-queue", 64).wait_ready()

    @classmethod
    def tearDownClass(cls):
        status, _ = cls.server.stop()
        assert status == 0, cls.server.said

    def assert_error(self, reply, status, part):
        self.assertEqual(reply[0], status, reply[1])
        self.assertIn(part, reply[1]["error"])

    def infer(self, body, headers=None):
        return self.server.ask("POST", "/v2/models/digits/infer", body, headers)

    def test_says_what_it_is(self):
        status, about, _ = self.server.ask("GET", "/v2")
        self.assertEqual((status, about["name"]), (200, "morton"))
        self.assertIn("binary_tensor_data", about["extensions"])
        self.assertEqual(self.server.ask("GET", "/v2/health/live")[:2], (200, {"live": True}))
        self.assertEqual(self.server.ask("GET", "/v2/models/digits/ready")[1], {"name": "digits", "ready": True})
        model = self.server.ask("GET", "/v2/models/digits")[1]
        self.assertEqual(model["inputs"], [{"name": "input", "datatype": "FP32", "shape": [-1, 1, 32, 32]}])
        self.assertEqual(model["versions"], ["1"])
        index = self.server.ask("POST", "/v2/repository/index")[1]
        self.assertEqual([(one["name"], one["state"]) for one in index], [("digits", "READY")])

    def test_answers_as_run_does(self):
        values = digits(1)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "x.npy"
            head = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 32, 32), }"
            head += " " * (-(len(head) + 11) % 64) + "\n"
            path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() +
                             struct.pack("<1024f", *values))
            done = subprocess.run([MORTON, "run", str(LENET), "-i", str(path), "-o", str(path.with_suffix(".y.npy"))],
                                  cwd=ROOT, check=True, capture_output=True)
            self.assertEqual(done.returncode, 0)
            expected = struct.unpack("<10f", path.with_suffix(".y.npy").read_bytes()[-40:])
        status, answer, _ = self.infer(question(values, 1, id="a \"b\""))
        self.assertEqual(status, 200, answer)
        self.assertEqual(answer["id"], 'a "b"')
        self.assertEqual((answer["model_name"], answer["model_version"]), ("digits", "1"))
        for got, wanted in zip(numbers(answer), expected, strict=True):
            self.assertAlmostEqual(got, wanted, delta=1e-5)

    def test_binary_is_the_same(self):
        values = digits(3, 7)
        plain = numbers(self.infer(question(values, 3))[1])
        raw = struct.pack("<3072f", *values)
        asked = {"inputs": [{"name": "input", "shape": [3, 1, 32, 32], "datatype": "FP32",
                             "parameters": {"binary_data_size": len(raw)}}],
                 "parameters": {"binary_data_output": True}}
        text = json.dumps(asked).encode()
        for padded in (text, text + b" ", text + b"  ", text + b"   "):  # inputs at every alignment
            status, content, answer = self.infer(padded + raw, {"Inference-Header-Content-Length": str(len(padded))})
            self.assertEqual(status, 200, content)
            length = int(answer.getheader("Inference-Header-Content-Length"))
            output = json.loads(content[:length])["outputs"][0]
            self.assertEqual(output["parameters"]["binary_data_size"], 120)
            self.assertEqual(output["shape"], [3, 10])
            got = struct.unpack("<30f", content[length:])
            self.assertEqual([round(x, 5) for x in got], [round(x, 5) for x in plain])

    def test_requests_share_batches_and_get_their_own_answers(self):
        alone = [numbers(self.infer(question(digits(1, seed), 1))[1]) for seed in range(1, 9)]
        with Server(f"digits={LENET}", "--max-batch", 8, "--max-delay-us", 200_000) as server:
            server.wait_ready()
            before = self.runs(server)
            with concurrent.futures.ThreadPoolExecutor(16) as pool:
                jobs = [pool.submit(server.ask, "POST", "/v2/models/digits/infer", question(digits(1, 1 + i % 8), 1))
                        for i in range(160)]
                for i, job in enumerate(jobs):
                    status, answer, _ = job.result()
                    self.assertEqual(status, 200, answer)
                    for got, wanted in zip(numbers(answer), alone[i % 8], strict=True):
                        self.assertAlmostEqual(got, wanted, delta=1e-5)
            after = self.runs(server)
            self.assertEqual(after[1] - before[1], 160)
            self.assertLess(after[0] - before[0], 80)
            # One that has less time than the delay waits for no others.
            begun = time.monotonic()
            hurried = question(digits(1), 1, parameters={"timeout": 150_000})
            self.assertEqual(server.ask("POST", "/v2/models/digits/infer", hurried)[0], 200)
            self.assertLess(time.monotonic() - begun, 0.15)

    @staticmethod
    def runs(server):
        text = server.ask("GET", "/metrics")[1].decode()
        return [float(re.search(rf'^{name}{{model="digits"}} (\S+)$', text, re.M).group(1))
                for name in ("morton_inference_exec_total", "morton_inference_count_total")]

    def test_what_is_wrong_is_said_once(self):
        good = question(digits(1), 1)
        self.assert_error(self.infer("{"), 400, "no JSON")
        self.assert_error(self.infer("[]"), 400, "expected an object")
        self.assert_error(self.infer({}), 400, "inputs: missing")
        self.assert_error(self.infer({"inputs": [{}]}), 400, "inputs[0].name: missing")
        self.assert_error(self.infer({"inputs": []}), 400, "input 'input' is missing")
        for key, value, part in (("datatype", "FP33", "inputs[0].datatype"), ("datatype", "INT8", "inputs[0].data"),
                                 ("shape", [1, 1, 32, 31], "inputs[0].data: more numbers"),
                                 ("shape", [1, 1, 31, 32], "more numbers"), ("shape", [2, 1, 32, 32], "1024 numbers"),
                                 ("shape", [2**40, 2**40], "fewer numbers"), ("shape", [-1], "inputs[0].shape"),
                                 ("name", "x", "input 'input' is missing"), ("data", ["a"] * 1024, "number 0 is no number"),
                                 ("data", 7, "expected an array"), ("data", [1e300] * 1024, "beyond FP32")):
            wrong = json.loads(json.dumps(good))
            wrong["inputs"][0][key] = value
            self.assert_error(self.infer(wrong), 400, part)
        self.assert_error(self.infer({**good, "outputs": [{"name": "nothing"}]}), 400, "no output 'nothing'")
        self.assert_error(self.infer(question(digits(9), 9)), 400, "9 items")
        self.assert_error(self.infer({**good, "inputs": good["inputs"] * 2}), 400, "twice")
        self.assert_error(self.infer({**good, "outputs": [{"name": "probabilities"}] * 2}), 400, "2 outputs are asked")
        self.assert_error(self.infer({**good, "outputs": [{"name": "probabilities"}] * 5000}), 400, "more than 4096")
        shared = [{"name": "probabilities", "parameters": {"shared_memory_region": "x"}}]
        self.assert_error(self.infer({**good, "outputs": shared}), 400, "shared memory")
        self.assert_error(self.infer(json.dumps(good), {"Inference-Header-Content-Length": "7"}), 400, "no JSON")
        self.assert_error(self.infer(json.dumps(good), {"Inference-Header-Content-Length": "x"}), 400, "a number")
        self.assert_error(self.infer(json.dumps(good), {"Content-Encoding": "gzip"}), 415, "Content-Encoding")
        self.assert_error(self.server.ask("POST", "/v2/models/other/infer", good), 404, "no model 'other'")
        self.assert_error(self.server.ask("POST", "/v2/models/digits/versions/9/infer", good), 404, "version 1")
        self.assert_error(self.server.ask("GET", "/v2/models/digits/infer"), 405, "POST")
        self.assert_error(self.server.ask("GET", "/nothing"), 404, "nothing is at")
        self.assertEqual(self.infer(good)[0], 200)

    def test_late_requests_are_told(self):
        with concurrent.futures.ThreadPoolExecutor(32) as pool:
            jobs = [pool.submit(self.infer, question(digits(8), 8, parameters={"timeout": 1})) for _ in range(32)]
            found = {job.result()[0] for job in jobs}
        self.assertLessEqual(found, {200, 504})
        self.assertIn(504, found)

    def test_too_large_is_refused_before_it_is_sent(self):
        for header, status in ((b"Content-Length: 99999999999", 413), (b"Content-Length: %d" % 2**63, 413),
                               (b"Content-Length: %d" % (2**64 - 1), 413), (b"Content-Length: %d" % 2**64, 400),
                               (b"Content-Length: -1", 400), (b"Transfer-Encoding: chunked", 411),
                               (b"Transfer-Encoding: gzip", 411), (b"Content-Length: 5\r\nTransfer-Encoding: gzip", 400),
                               (b"X: " + b"y" * 20000, 431), (b"no colon", 400)):
            with socket.create_connection(("127.0.0.1", self.server.port)) as client:
                client.sendall(b"POST /v2/models/digits/infer HTTP/1.1\r\nHost: x\r\n" + header + b"\r\n\r\n")
                self.assertEqual(client.recv(4096)[:13], b"HTTP/1.1 %d " % status, header[:50])

    def test_clients_that_vanish_or_are_slow_hold_nobody_up(self):
        slow = [socket.create_connection(("127.0.0.1", self.server.port)) for _ in range(64)]
        for client in slow:
            client.sendall(b"POST /v2/models/digits/infer HTTP/1.1\r\nHost: x\r\nContent-Length: 20000\r\n\r\n{")
        begun = time.monotonic()
        for _ in range(20):
            self.assertEqual(self.infer(question(digits(1), 1))[0], 200)
        self.assertLess(time.monotonic() - begun, 20)
        body = json.dumps(question(digits(1), 1)).encode()
        for _ in range(50):  # gone before the answer
            with socket.create_connection(("127.0.0.1", self.server.port)) as client:
                client.sendall(b"POST /v2/models/digits/infer HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" %
                               len(body) + body)
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        for client in slow:
            client.close()
        self.assertEqual(self.infer(question(digits(1), 1))[0], 200)

    def test_what_takes_too_long_is_closed(self):
        with Server("--port", 0, f"digits={LENET}", "--max-batch", 1, "--read-timeout", 1) as server:
            server.wait_ready()
            with socket.create_connection(("127.0.0.1", server.port), timeout=20) as slow, \
                 socket.create_connection(("127.0.0.1", server.port), timeout=20) as idle:
                begun = time.monotonic()
                slow.sendall(b"POST /v2/models/digits/infer HTTP/1.1\r\nHost: x\r\nContent-Length: 20000\r\n\r\n{")
                self.assertEqual(slow.recv(100), b"")
                self.assertGreater(time.monotonic() - begun, 0.9)
                idle.sendall(b"GET /v2/health/live HTTP/1.1\r\nHost: x\r\n\r\n")  # may wait for longer
                self.assertEqual(idle.recv(12), b"HTTP/1.1 200")

    def test_a_connection_serves_many_requests(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port)
        body = json.dumps(question(digits(1), 1))
        for _ in range(200):
            connection.request("POST", "/v2/models/digits/infer", body)
            answer = connection.getresponse()
            self.assertEqual(answer.status, 200)
            answer.read()
        connection.close()

    def test_models_come_and_go(self):
        self.assertIn("morton_device_memory_bytes", self.server.ask("GET", "/metrics")[1].decode())
        self.assertEqual(self.server.ask("POST", "/v2/repository/models/digits/unload")[0], 200)
        self.assert_error(self.infer(question(digits(1), 1)), 404, "is not loaded")
        self.assertRegex(self.server.ask("GET", "/metrics")[1].decode(), r'morton_device_memory_bytes{device="\S+"} 0\n')
        index = lambda body: self.server.ask("POST", "/v2/repository/index", body)
        self.assertEqual([one["state"] for one in index({"ready": False})[1]], ["UNAVAILABLE"])
        self.assertEqual(index({"ready": True})[:2], (200, []))
        self.assert_error(index({"ready": 1}), 400, "ready: expected true or false")
        self.assert_error(index("x" * 70000), 400, "65536 may be sent")
        self.assertEqual(self.server.ask("GET", "/v2/health/ready")[0], 503)
        self.assertEqual(self.server.ask("POST", "/v2/repository/models/digits/load")[0], 200)
        self.assertEqual(self.infer(question(digits(1), 1))[0], 200)
        self.assertEqual([one["name"] for one in index({"ready": True})[1]], ["digits"])
        for action in ("load", "unload"):
            self.assert_error(self.server.ask("POST", f"/v2/repository/models/other/{action}"), 404, "no model 'other'")
        for action, parameters in (("load", {"config": "{}"}), ("load", {"file:1/model.onnx": "eA=="}),
                                   ("load", {"unload_dependents": True}), ("unload", {"config": "{}"})):
            reply = self.server.ask("POST", f"/v2/repository/models/digits/{action}", {"parameters": parameters})
            self.assert_error(reply, 400, f"parameters.{[*parameters][0]}: not served")
        self.assertEqual(self.infer(question(digits(1), 1))[0], 200)
        path = "/v2/repository/models/digits/"
        self.assertEqual(self.server.ask("POST", path + "unload", {"parameters": {"unload_dependents": False}})[0], 200)
        self.assertEqual(self.server.ask("POST", path + "load", {"parameters": {}})[0], 200)


class Options(unittest.TestCase):
    def test_models_may_have_shapes_of_their_own(self):
        with tempfile.TemporaryDirectory() as folder:
            other = pathlib.Path(folder) / "espcn.onnx"
            subprocess.run([MORTON, "new", "espcn", "-o", str(other)], cwd=ROOT, check=True, capture_output=True)
            ports = json.loads(subprocess.run([MORTON, "inspect", str(other), "--format", "json"], cwd=ROOT, check=True,
                                              capture_output=True).stdout)["inputs"]
            name = ports[0]["name"]
            with Server(LENET, other, "--shape", f"{name}:1x1x9x9", "--max-batch", 2) as server:
                server.wait_ready()
                for count, side in ((1, 9), (2, 9), (1, 7)):  # the last one is planned when it is asked for
                    asked = {"inputs": [{"name": name, "shape": [count, 1, side, side], "datatype": "FP32",
                                         "data": [0.5] * (count * side * side)}]}
                    status, answer, _ = server.ask("POST", "/v2/models/espcn/infer", asked)
                    self.assertEqual(status, 200, answer)
                    self.assertEqual(answer["outputs"][0]["shape"][0], count)

    def test_a_damaged_version_costs_its_model_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            models = pathlib.Path(folder)
            for place in ("old/1", "old/2", "new/1", "new/2"):
                (models / place).mkdir(parents=True)
            for place in ("old/2", "new/1"):
                (models / place / "model.onnx").symlink_to(LENET)
            with Server(folder) as server:
                end, index = time.monotonic() + 60, {}
                while not index or "LOADING" in [one["state"] for one in index.values()]:
                    self.assertLess(time.monotonic(), end)
                    index = {one["name"]: one for one in server.ask("POST", "/v2/repository/index")[1]}
                self.assertEqual((index["old"]["state"], index["old"]["version"]), ("READY", "2"))
                self.assertEqual(index["new"]["state"], "UNAVAILABLE")
                self.assertIn("new/2: expected one model.onnx", index["new"]["reason"])
                self.assertEqual(server.ask("POST", "/v2/models/old/infer", question(digits(1), 1))[0], 200)
                self.assertEqual(server.ask("POST", "/v2/repository/models/new/load")[0], 400)

    def test_what_cannot_be_ends_with_one_line(self):
        for words, status, part in ((["nothing.onnx"], 2, "nothing.onnx"), ([LENET, "--max-batch", "0"], 2, "max-batch"),
                                    ([LENET, LENET], 2, "two models are called"), ([LENET, "--nothing"], 2, "--nothing"),
                                    ([LENET, "--host", "nowhere"], 2, "no address"),
                                    ([LENET, "--shape", "input=1x3"], 2, "expected NAME:1x3x224x224"),
                                    ([LENET, "--no-tcp"], 2, "no port and no socket")):
            done = subprocess.run([Server.program, *map(str, words)], cwd=ROOT, capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(part, done.stderr)

    def test_a_token_a_socket_and_a_log(self):
        with tempfile.TemporaryDirectory() as folder:
            token, path, log = (os.path.join(folder, name) for name in ("token", "socket", "log"))
            pathlib.Path(token).write_text("secret\n")
            with Server(LENET, "--token-file", token, "--unix-socket", path, "--access-log", log) as server:
                server.wait_ready()
                self.assertEqual(server.ask("GET", "/v2/models/lenet5")[0], 401)
                bearer = {"Authorization": "Bearer secret"}
                self.assertEqual(server.ask("GET", "/v2/models/lenet5", headers=bearer)[0], 200)
                self.assertEqual(server.ask("GET", "/v2/models/lenet5", headers={"Authorization": "Bearer secreT"})[0], 401)
                with socket.socket(socket.AF_UNIX) as client:
                    client.connect(path)
                    client.sendall(b"GET /v2/models/lenet5 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer secret\r\n\r\n")
                    self.assertTrue(client.recv(4096).startswith(b"HTTP/1.1 200 OK"))
            lines = [json.loads(line) for line in pathlib.Path(log).read_text().splitlines()]
            self.assertIn(401, [line["status"] for line in lines])
            self.assertIn("unix", [line["client"] for line in lines])
            self.assertEqual(lines[-1]["path"], "/v2/models/lenet5")
            self.assertFalse(os.path.exists(path), "the socket is left")

    def test_memory_counts_tensors_and_replies(self):
        body = json.dumps(question(digits(8), 8))
        room = len(body) + 20000  # the tensor has 32768 bytes
        with Server(LENET, "--max-memory", room) as server:
            server.wait_ready()
            status, answer, _ = server.ask("POST", "/v2/models/lenet5/infer", body)
            self.assertEqual(status, 503, answer)
            self.assertIn("--max-memory", answer["error"])
            small = json.dumps(question([0] * 1024, 1))  # 4096 bytes, and the tensor as many
            for _ in range(20):  # what was counted is given back
                self.assertEqual(server.ask("POST", "/v2/models/lenet5/infer", small)[0], 200)
        with Server(LENET, "--max-memory", len(small) + 4096) as server:  # the reply has no room
            server.wait_ready()
            self.assertEqual(server.ask("POST", "/v2/models/lenet5/infer", small)[0], 503)

    def test_large_json_holds_nobody_up(self):
        large = json.dumps(question([0] * 4_000_000, 1)).encode()  # 12 MB
        small = question(digits(1), 1)
        with Server(LENET, "--threads", 1) as server, concurrent.futures.ThreadPoolExecutor(4) as pool:
            server.wait_ready()
            jobs = [pool.submit(server.ask, "POST", "/v2/models/lenet5/infer", large) for _ in range(4)]
            for _ in range(20):
                self.assertEqual(server.ask("POST", "/v2/models/lenet5/infer", small)[0], 200)
            for job in jobs:
                self.assertEqual(job.result()[0], 400)
                self.assertIn("more numbers than the 1024", job.result()[1]["error"])

    def test_the_queue_has_an_end(self):
        with Server(LENET, "--max-queue", 1, "--max-batch", 1) as server:
            server.wait_ready()
            with concurrent.futures.ThreadPoolExecutor(32) as pool:
                jobs = [pool.submit(server.ask, "POST", "/v2/models/lenet5/infer", question(digits(1), 1)) for _ in range(200)]
                replies = [job.result() for job in jobs]
        self.assertLessEqual({reply[0] for reply in replies}, {200, 503})
        for status, _, answer in replies:
            if status == 503:
                self.assertEqual(answer.getheader("Retry-After"), "1")

    def test_sigterm_answers_what_was_asked(self):
        # They wait for others, so none is answered before the signal.
        server = Server(LENET, "--max-batch", 64, "--max-delay-us", 10_000_000).wait_ready()
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            jobs = [pool.submit(server.ask, "POST", "/v2/models/lenet5/infer", question(digits(2), 2)) for _ in range(8)]
            while 'morton_queue_depth{model="lenet5"} 8\n' not in server.ask("GET", "/metrics")[1].decode():
                time.sleep(0.02)
            status, _ = server.stop()
            for job in jobs:
                self.assertEqual(job.result()[0], 200)
        self.assertEqual(status, 0)


if __name__ == "__main__":
    Server.program, MORTON = (str(pathlib.Path(word).resolve()) for word in sys.argv[1:3])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
