#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""HAProxy before two replicas, of which one ends under load: tests/serve/check_haproxy.py MORTON_SERVE MORTON.

The configuration is examples/serving/haproxy.cfg. 8 clients ask 2000 times. One replica is killed, then one is ended
by SIGTERM: each request gets the right answer, or is told by a status that it has none."""

import http.client
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import unittest

from serving import LENET, ROOT, Server, digits

CONFIGURATION = ROOT / "examples" / "serving" / "haproxy.cfg"
REQUESTS, CLIENTS, PICTURES = 2000, 8, 16


def binary_request(values):
    """The body and headers of an inference whose numbers are bytes, as its answer's are."""
    raw = struct.pack("<1024f", *values)
    text = ('{"inputs":[{"name":"input","shape":[1,1,32,32],"datatype":"FP32","parameters":{"binary_data_size":4096}}],'
            '"parameters":{"binary_data_output":true}}').encode()
    return text + raw, {"Inference-Header-Content-Length": str(len(text))}


def probabilities(answer, content):
    return struct.unpack("<10f", content[int(answer.getheader("Inference-Header-Content-Length")):])


class Balancer:
    """HAProxy before replicas at these ports."""

    def __init__(self, *ports):
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        names = {f"REPLICA_{i}": f"127.0.0.1:{port}" for i, port in enumerate(ports, 1)}
        self.process = subprocess.Popen(
            [shutil.which("haproxy", path=os.environ["PATH"] + ":/usr/sbin"), "-db", "-f", str(CONFIGURATION)],
            env={**os.environ, **names, "LISTEN": f"127.0.0.1:{self.port}"}, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.communicate(timeout=30)

    def wait_ready(self):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            assert self.process.poll() is None, self.process.stderr.read()
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
            try:
                connection.request("GET", "/v2/health/ready")
                if connection.getresponse().status == 200:
                    return self
            except OSError:
                pass
            finally:
                connection.close()
            time.sleep(0.05)
        raise AssertionError("HAProxy does not answer")


class Load:
    """Clients that ask so many times in all; `when(count)` is called as answers come."""

    def __init__(self, port, expected, when):
        self.port, self.expected, self.when = port, expected, when
        self.lock, self.left = threading.Lock(), REQUESTS
        self.right, self.told, self.cut, self.wrong = 0, [], [], []
        threads = [threading.Thread(target=self.ask, args=(i,)) for i in range(CLIENTS)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()

    def ask(self, seed):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        while True:
            with self.lock:
                if self.left == 0:
                    connection.close()
                    return
                self.left -= 1
                done = self.right + len(self.told) + len(self.cut)
            self.when(done)
            which = (seed + done) % PICTURES
            body, headers, wanted = self.expected[which]
            try:
                connection.request("POST", "/v2/models/lenet5/infer", body, headers)
                answer = connection.getresponse()
                content = answer.read()
            except (http.client.HTTPException, OSError) as error:  # the answer broke off, which the client sees too
                connection.close()
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
                with self.lock:
                    self.cut.append(repr(error))
                continue
            with self.lock:
                if answer.status != 200:
                    self.told.append((answer.status, content[:100]))
                elif max(abs(a - b) for a, b in zip(probabilities(answer, content), wanted)) < 1e-5:
                    self.right += 1
                else:
                    self.wrong.append(which)


def items_of(server):
    """How many items it has computed."""
    text = server.ask("GET", "/metrics")[1].decode()
    found = re.search(r"^morton_inference_count_total\S+ (\S+)$", text, re.M)
    return float(found.group(1)) if found else 0


class Replicas(unittest.TestCase):
    def setUp(self):
        self.replicas = [Server(LENET), Server(LENET)]
        for one in self.replicas:
            self.addCleanup(one.stop)
            one.wait_ready()
        self.expected = []
        for seed in range(PICTURES):
            body, headers = binary_request(digits(1, seed + 1))
            status, content, answer = self.replicas[0].ask("POST", "/v2/models/lenet5/infer", body, headers)
            self.assertEqual(status, 200, content)
            self.expected.append((body, headers, probabilities(answer, content)))

    def end_one_under_load(self, sent):
        """The load's counts; replica 0 gets the signal when a third is answered."""
        once, shares = threading.Lock(), []

        def when(done):
            if done > REQUESTS // 3 and once.acquire(blocking=False):
                shares.extend(items_of(one) for one in self.replicas)
                self.replicas[0].process.send_signal(sent)

        with Balancer(*(one.port for one in self.replicas)) as balancer:
            balancer.wait_ready()
            load = Load(balancer.port, self.expected, when)
        self.assertEqual(len(shares), 2)
        self.assertGreater(shares[0] - PICTURES, 50, "the replica that ends had no load")
        self.assertGreater(shares[1], 50)
        self.assertEqual(load.wrong, [])
        self.assertEqual(load.right + len(load.told) + len(load.cut), REQUESTS)
        print(f"{sent.name}: {load.right} right, told {load.told}, broken off {load.cut}")
        return load

    def test_a_killed_replica_loses_nothing_silently(self):
        load = self.end_one_under_load(signal.SIGKILL)
        self.assertEqual(self.replicas[0].process.wait(30), -signal.SIGKILL)
        # Each client has one request at a time: more than these cannot have been in flight.
        self.assertLessEqual(len(load.told) + len(load.cut), CLIENTS)
        self.assertLessEqual({status for status, _ in load.told}, {502, 503, 504})

    def test_a_replica_that_drains_fails_nobody(self):
        load = self.end_one_under_load(signal.SIGTERM)
        self.assertEqual((load.right, load.told, load.cut), (REQUESTS, [], []))
        status, _ = self.replicas[0].stop()
        self.assertEqual(status, 0)


if __name__ == "__main__":
    Server.program = str(pathlib.Path(sys.argv[1]).resolve())
    if shutil.which("haproxy", path=os.environ["PATH"] + ":/usr/sbin") is None:
        print("Skipped: haproxy is not installed")
        sys.exit(0)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
