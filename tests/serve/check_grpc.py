#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks morton-serve by gRPC: tests/serve/check_grpc.py MORTON_SERVE MORTON [PYTHON].

The client is Debian's python3-grpcio, with messages that protoc makes of serve/grpc/inference.proto. Answers are
compared with those by HTTP. Where PYTHON, the system's by default, has Triton's client (PyPI's tritonclient[grpc]), that
is tried too."""

import concurrent.futures
import json
import pathlib
import random
import re
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from serving import LENET, ROOT, Server, digits, numbers, question

try:
    import google.protobuf
    import grpc
except ImportError as missing:
    print(f"Skipped: {missing} (Debian's python3-grpcio and python3-protobuf)")
    sys.exit(0)

TRITON = "/usr/bin/python3"
PB = None  # messages


def load_messages():
    """The module that protoc makes of the server's own definition."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["protoc", f"--python_out={folder}", "-I", ROOT / "serve" / "grpc", "inference.proto"], check=True)
        sys.path.insert(0, folder)
        import inference_pb2
        return inference_pb2


class Client:
    """Calls the methods of inference.GRPCInferenceService."""

    def __init__(self, port, credentials=None, options=()):
        options = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1), *options]
        at = f"127.0.0.1:{port}"
        self.channel = (grpc.secure_channel(at, credentials, options) if credentials else
                        grpc.insecure_channel(at, options))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.channel.close()

    def call(self, method, request=None, reply=None, **more):
        reply = reply or getattr(PB, method + "Response")
        request = request if request is not None else getattr(PB, method + "Request")()
        raw = request if isinstance(request, bytes) else request.SerializeToString()
        more.setdefault("timeout", 60)
        return self.channel.unary_unary(f"/inference.GRPCInferenceService/{method}", lambda one: one,
                                        reply.FromString)(raw, **more)

    def code(self, method, request, **more):
        try:
            self.call(method, request, **more)
            return "OK"
        except grpc.RpcError as error:
            return error.code().name

    def error(self, method, request=None, **more):
        """The code and text of the error that is expected."""
        try:
            answer = self.call(method, request, **more)
        except grpc.RpcError as error:
            return error.code().name, error.details()
        raise AssertionError(f"{method} was answered: {answer}")


def asked(values, count, raw=False, model="digits", name="input", datatype="FP32", **more):
    request = PB.ModelInferRequest(model_name=model, **more)
    tensor = request.inputs.add(name=name, datatype=datatype, shape=[count, 1, 32, 32])
    if raw:
        request.raw_input_contents.append(struct.pack(f"<{len(values)}f", *values))
    else:
        tensor.contents.fp32_contents.extend(values)
    return request


def floats(raw):
    return struct.unpack(f"<{len(raw) // 4}f", raw)


class Calls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.log = pathlib.Path(cls.folder.name) / "log"
        cls.server = Server(f"digits={LENET}", "--grpc-port", 0, "--max-request", "1MiB", "--max-memory", "8MiB",
                            "--access-log", cls.log).wait_ready()
        cls.client = Client(cls.server.grpc_port)

    @classmethod
    def tearDownClass(cls):
        cls.client.channel.close()
        status, _ = cls.server.stop()
        cls.folder.cleanup()
        assert status == 0, cls.server.said

    def assert_error(self, found, code, part):
        self.assertEqual(found[0], code, found[1])
        self.assertIn(part, found[1])

    def by_http(self, values, count):
        status, answer, _ = self.server.ask("POST", "/v2/models/digits/infer", question(values, count))
        self.assertEqual(status, 200, answer)
        return numbers(answer)

    def assert_close(self, got, wanted):
        self.assertEqual(len(got), len(wanted))
        for one, other in zip(got, wanted):
            self.assertAlmostEqual(one, other, delta=1e-5)

    def test_says_what_it_is(self):
        call = self.client.call
        self.assertTrue(call("ServerLive").live)
        self.assertTrue(call("ServerReady").ready)
        about = call("ServerMetadata")
        self.assertEqual((about.name, list(about.extensions)), ("morton", ["model_repository"]))
        self.assertTrue(call("ModelReady", PB.ModelReadyRequest(name="digits")).ready)
        self.assertTrue(call("ModelReady", PB.ModelReadyRequest(name="digits", version="1")).ready)
        for name, version in (("other", ""), ("digits", "2")):
            self.assertFalse(call("ModelReady", PB.ModelReadyRequest(name=name, version=version)).ready)
        model = call("ModelMetadata", PB.ModelMetadataRequest(name="digits"))
        self.assertEqual((model.name, list(model.versions), model.platform), ("digits", ["1"], "morton_opencl"))
        [one] = model.inputs
        self.assertEqual((one.name, one.datatype, list(one.shape)), ("input", "FP32", [-1, 1, 32, 32]))
        [one] = model.outputs
        self.assertEqual((one.datatype, list(one.shape)), ("FP32", [-1, 10]))
        self.assert_error(self.client.error("ModelMetadata", PB.ModelMetadataRequest(name="x")), "NOT_FOUND", "model 'x'")
        self.assert_error(self.client.error("ModelConfig", b"", reply=PB.ServerLiveResponse), "UNIMPLEMENTED", "no method")

    def test_numbers_and_bytes_are_answered_as_http_does(self):
        values = digits(3, 5)
        wanted = self.by_http(values, 3)
        answer = self.client.call("ModelInfer", asked(values, 3, id="seven"))
        self.assertEqual((answer.model_name, answer.model_version, answer.id), ("digits", "1", "seven"))
        [output] = answer.outputs
        self.assertEqual((output.name, output.datatype, list(output.shape)), ("probabilities", "FP32", [3, 10]))
        self.assertEqual(len(answer.raw_output_contents), 0)
        self.assert_close(output.contents.fp32_contents, wanted)
        answer = self.client.call("ModelInfer", asked(values, 3, raw=True))
        self.assertFalse(answer.outputs[0].HasField("contents"))
        self.assert_close(floats(answer.raw_output_contents[0]), wanted)
        request = asked(values, 3, raw=True, model_version="1")
        request.outputs.add(name="probabilities")
        self.assert_close(floats(self.client.call("ModelInfer", request).raw_output_contents[0]), wanted)

    def test_calls_and_requests_share_batches(self):
        alone = [self.by_http(digits(1, seed), 1) for seed in range(1, 5)]
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            jobs = [pool.submit(self.client.call, "ModelInfer", asked(digits(1, 1 + i % 4), 1, raw=i % 3 == 0))
                    for i in range(80)]
            more = [pool.submit(self.by_http, digits(1, 1 + i % 4), 1) for i in range(40)]
            for i, job in enumerate(jobs):
                answer = job.result()
                got = floats(answer.raw_output_contents[0]) if i % 3 == 0 else answer.outputs[0].contents.fp32_contents
                self.assert_close(got, alone[i % 4])
            for i, job in enumerate(more):
                self.assert_close(job.result(), alone[i % 4])
        text = self.server.ask("GET", "/metrics")[1].decode()
        found = re.search(r'^morton_inference_requests_total\{model="digits",outcome="answered"\} (\S+)$', text, re.M)
        self.assertGreaterEqual(float(found.group(1)), 124)
        self.assertIn("morton_grpc_calls 0", text)

    def test_what_is_wrong_is_said(self):
        def wrong(change, part, code="INVALID_ARGUMENT"):
            request = asked(digits(1), 1)
            change(request)
            self.assert_error(self.client.error("ModelInfer", request), code, part)

        def with_raw(request, raw):
            request.inputs[0].ClearField("contents")
            request.raw_input_contents.extend(raw)

        wrong(lambda one: one.ClearField("inputs"), "input 'input' is missing")
        wrong(lambda one: setattr(one.inputs[0], "datatype", "FP33"), "inputs[0].datatype")
        wrong(lambda one: setattr(one.inputs[0], "datatype", "BYTES"), "inputs[0].datatype")
        wrong(lambda one: setattr(one.inputs[0], "datatype", "FP16"), "raw_input_contents alone")
        wrong(lambda one: setattr(one.inputs[0], "datatype", "INT8"), "0 numbers in the field of INT8")
        wrong(lambda one: one.inputs[0].contents.fp32_contents.append(1), "1025 numbers")
        wrong(lambda one: one.inputs[0].shape.append(-1), "expected whole numbers of 0 or more")
        wrong(lambda one: one.inputs[0].shape.extend([2**40] * 3), "not what the shape needs")
        wrong(lambda one: one.inputs[0].shape.extend([1] * 70), "more than 64")
        wrong(lambda one: one.raw_input_contents.append(bytes(4096)), "has none")
        wrong(lambda one: with_raw(one, [bytes(4095)]), "4095 bytes")
        wrong(lambda one: with_raw(one, [bytes(4096)] * 2), "raw_input_contents: 2")
        wrong(lambda one: one.inputs.add().CopyFrom(one.inputs[0]), "given twice")
        wrong(lambda one: one.outputs.add(name="nothing"), "no output 'nothing'")
        wrong(lambda one: one.inputs[0].parameters["shared_memory_region"].MergeFrom(
            PB.InferParameter(string_param="x")), "not served")
        wrong(lambda one: one.outputs.add().parameters["classification"].MergeFrom(
            PB.InferParameter(int64_param=3)), "not served")
        wrong(lambda one: one.parameters["timeout"].MergeFrom(PB.InferParameter(string_param="x")), "parameters.timeout")
        wrong(lambda one: setattr(one, "model_name", "other"), "no model 'other'", "NOT_FOUND")
        wrong(lambda one: setattr(one, "model_version", "3"), "version 1", "NOT_FOUND")
        for message in (b"\xff", b"\x2a\x7f", b"\x0b", b"\x0c", b"\x2a\x02\x2a\x05", b"\x00"):
            self.assert_error(self.client.error("ModelInfer", message), "INVALID_ARGUMENT", "the message is no")
        # What lies in an unknown group would be kept, and not counted.
        group = asked(digits(1), 1).SerializeToString() + b"\xa3\x06\x0a\x04abcd\xa4\x06"
        self.assert_error(self.client.error("ModelInfer", group), "INVALID_ARGUMENT", "the message is no")
        self.assert_error(self.client.error("ModelReady", b"\x0a\x05"), "INVALID_ARGUMENT", "not that of the method")
        self.client.call("ModelInfer", asked(digits(1), 1))

    def test_messages_that_are_damaged_harm_nobody(self):
        whole = asked(digits(1), 1, id="whole")
        whole.outputs.add(name="probabilities")
        whole.parameters["timeout"].int64_param = 10**7
        whole.inputs[0].parameters["note"].string_param = "x"
        seeds = [whole.SerializeToString(), asked(digits(1), 1, raw=True).SerializeToString()]
        chance = random.Random(7)
        for _ in range(600):
            message = bytearray(chance.choice(seeds))
            for _ in range(chance.randint(1, 4)):
                at = chance.randrange(min(len(message), 100) + 1)
                how = chance.randrange(3)
                if how == 0:
                    message[at:] = b""
                elif how == 1:
                    message[at:at + 1] = bytes([chance.randrange(256)])
                else:
                    message[at:at] = chance.randbytes(chance.randint(1, 8))
            try:
                self.client.call("ModelInfer", bytes(message))
            except grpc.RpcError as error:
                self.assertIn(error.code().name, ("INVALID_ARGUMENT", "NOT_FOUND", "DEADLINE_EXCEEDED"), bytes(message[:120]))
        self.client.call("ModelInfer", whole)

    def test_narrow_types_are_checked(self):
        request = asked([], 1, datatype="UINT8")
        request.inputs[0].contents.uint_contents.extend([255] * 1024)
        # The refusal of the model's input says what was read.
        self.assert_error(self.client.error("ModelInfer", request), "INVALID_ARGUMENT", "is of type u8, expected f32")
        request.inputs[0].contents.uint_contents[7] = 256
        self.assert_error(self.client.error("ModelInfer", request), "INVALID_ARGUMENT", "256 is beyond UINT8")

    def test_limits(self):
        large = asked(digits(1), 1)
        large.inputs[0].contents.fp32_contents.extend([0.0] * 300000)
        self.assert_error(self.client.error("ModelInfer", large), "RESOURCE_EXHAUSTED", "larger than max")
        # Few bytes that would take much memory: inputs that say nothing take two bytes each.
        for tag in (b"\x2a\x00", b"\x32\x00", b"\x22\x00"):
            self.assert_error(self.client.error("ModelInfer", tag * 100000), "RESOURCE_EXHAUSTED", "--max-memory")
        many = asked(digits(1), 1)
        for _ in range(5000):
            many.outputs.add()
        self.assert_error(self.client.error("ModelInfer", many), "INVALID_ARGUMENT", "outputs: more than 4096")
        self.assert_error(self.client.error("ModelReady", b"\x0a" + b"\xf0\xa2\x04" + b"x" * 70000), "INVALID_ARGUMENT",
                          "65536 may be sent")
        found = self.client.error("ModelInfer", asked(digits(1), 1), compression=grpc.Compression.Gzip)
        self.assertEqual(found[0], "UNIMPLEMENTED", found)
        for _ in range(100):  # what was counted is given back
            self.client.call("ModelInfer", asked(digits(8), 8))

    def test_late_calls_are_told(self):
        late = asked(digits(8), 8, raw=True)
        late.parameters["timeout"].int64_param = 1
        with concurrent.futures.ThreadPoolExecutor(32) as pool:
            def ask():
                try:
                    self.client.call("ModelInfer", late)
                except grpc.RpcError as error:
                    return error.code().name
                return "OK"
            found = {job.result() for job in [pool.submit(ask) for _ in range(32)]}
        self.assertLessEqual(found, {"OK", "DEADLINE_EXCEEDED"})
        self.assertIn("DEADLINE_EXCEEDED", found)

    def test_clients_that_vanish_harm_nobody(self):
        message = asked(digits(8), 8, raw=True).SerializeToString()
        for i in range(40):
            with Client(self.server.grpc_port, options=[("grpc.use_local_subchannel_pool", 1)]) as client:
                infer = client.channel.unary_unary("/inference.GRPCInferenceService/ModelInfer", lambda one: one,
                                                   lambda one: one)
                futures = [infer.future(message) for _ in range(8)]
                if i % 2:
                    futures[0].result(60)  # the others are at work
                for one in futures:
                    one.cancel()
        end = time.monotonic() + 60
        while "morton_grpc_calls 0" not in self.server.ask("GET", "/metrics")[1].decode():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)
        # This counts as 7.7 of the 8 MiB: nothing is kept of those that vanished.
        request = asked([], 1)
        request.inputs[0].shape.extend([0] * 900_000)
        self.assert_error(self.client.error("ModelInfer", request), "INVALID_ARGUMENT", "more than 64")

    def test_models_come_and_go(self):
        call, error = self.client.call, self.client.error
        def load(name="digits"):
            return PB.RepositoryModelLoadRequest(model_name=name)
        unload = PB.RepositoryModelUnloadRequest(model_name="digits")
        unload.parameters["unload_dependents"].bool_param = False
        call("RepositoryModelUnload", unload)
        self.assertFalse(call("ServerReady").ready)
        self.assert_error(error("ModelInfer", asked(digits(1), 1)), "NOT_FOUND", "is not loaded")
        [one] = call("RepositoryIndex").models
        self.assertEqual((one.name, one.state, one.reason), ("digits", "UNAVAILABLE", "unloaded"))
        self.assertEqual(len(call("RepositoryIndex", PB.RepositoryIndexRequest(ready=True)).models), 0)
        call("RepositoryModelLoad", load())
        [one] = call("RepositoryIndex", PB.RepositoryIndexRequest(ready=True)).models
        self.assertEqual((one.name, one.version, one.state), ("digits", "1", "READY"))
        self.assert_error(error("RepositoryModelLoad", load("other")), "NOT_FOUND", "no model 'other'")
        wrong = load()
        wrong.parameters["config"].string_param = "{}"
        self.assert_error(error("RepositoryModelLoad", wrong), "INVALID_ARGUMENT", "parameters.config: not served")
        call("ModelInfer", asked(digits(1), 1))

    def test_the_log_names_calls(self):
        self.client.call("ModelInfer", asked(digits(2), 2, raw=True))
        self.client.error("ModelMetadata", PB.ModelMetadataRequest(name="nothing"))
        lines = [json.loads(line) for line in self.log.read_text().splitlines()]
        told = [line for line in lines if line["method"] == "gRPC"]
        infer = [line for line in told if line["path"].endswith("/ModelInfer") and line["status"] == 0][-1]
        self.assertEqual((infer["model"], infer["client"]), ("digits", "127.0.0.1"))
        self.assertGreater(infer["bytes_in"], 8192)
        self.assertGreater(infer["batch"], 0)
        self.assertEqual([line["status"] for line in told if line["path"].endswith("/ModelMetadata")][-1], 5)

    def test_tritons_client_works(self):
        script = pathlib.Path(__file__).with_name("triton_grpc.py")
        done = subprocess.run([TRITON, "-B", str(script), str(self.server.grpc_port)], capture_output=True, text=True,
                              timeout=120)
        if done.returncode == 77:
            self.skipTest(done.stdout.strip())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Options(unittest.TestCase):
    def test_a_token_and_tls(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "token").write_text("secret\n")
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                            "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", folder / "key",
                            "-out", folder / "certificate"], check=True, capture_output=True)
            with Server(LENET, "--grpc-port", 0, "--token-file", folder / "token", "--tls-certificate",
                        folder / "certificate", "--tls-key", folder / "key") as server:
                trusted = grpc.ssl_channel_credentials((folder / "certificate").read_bytes())
                with Client(server.grpc_port, trusted) as client:
                    end = time.monotonic() + 60
                    while not client.call("ServerReady").ready:  # open without a token
                        self.assertLess(time.monotonic(), end)
                        time.sleep(0.05)
                    about = PB.ModelMetadataRequest(name="lenet5")
                    self.assertEqual(client.error("ModelMetadata", about)[0], "UNAUTHENTICATED")
                    for token in ("secreT", "secre", "secrets"):
                        bears = [("authorization", f"Bearer {token}")]
                        self.assertEqual(client.error("ModelMetadata", about, metadata=bears)[0], "UNAUTHENTICATED")
                    bears = [("authorization", "Bearer secret")]
                    self.assertEqual(client.call("ModelMetadata", about, metadata=bears).name, "lenet5")
                    client.call("ModelInfer", asked(digits(1), 1, model="lenet5"), metadata=bears)
                with Client(server.grpc_port) as client:
                    self.assertEqual(client.error("ServerLive", timeout=5)[0], "UNAVAILABLE")

    def test_what_cannot_be_is_said(self):
        with Server(LENET, "--grpc-port", 0) as server:
            for words, part in ((["--grpc-port", server.grpc_port, "--port", 0], "gRPC cannot listen there"),
                                (["--grpc-port", 0, "--no-tcp", "--unix-socket", "x.socket"], "there is no port"),
                                (["--grpc-port", "x"], "grpc-port")):
                done = subprocess.run([Server.program, str(LENET), *map(str, words)], cwd=ROOT, capture_output=True,
                                      text=True, timeout=60)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(part, done.stderr)

    def test_the_deadline_of_a_call_is_the_requests(self):
        with Server(LENET, "--grpc-port", 0, "--max-batch", 64, "--max-delay-us", 10_000_000) as server:
            server.wait_ready()
            with Client(server.grpc_port) as client:
                begun = time.monotonic()  # one with less time than the delay waits for no others
                client.call("ModelInfer", asked(digits(1), 1, model="lenet5"), timeout=8)
                self.assertLess(time.monotonic() - begun, 6)
                request, end = asked(digits(64), 64, model="lenet5"), time.monotonic() + 60
                seconds = 0.05  # shorter and shorter, until some are late on this machine
                late = re.compile(r'morton_inference_requests_total{model="lenet5",outcome="late"} [1-9]')
                with concurrent.futures.ThreadPoolExecutor(16) as pool:
                    while not late.search(server.ask("GET", "/metrics")[1].decode()):
                        self.assertLess(time.monotonic(), end)
                        for job in [pool.submit(client.code, "ModelInfer", request, timeout=seconds) for _ in range(16)]:
                            self.assertIn(job.result(), ("OK", "DEADLINE_EXCEEDED"))
                        seconds = 0.8 * seconds if seconds > 0.002 else 0.05

    def test_the_queue_and_the_calls_have_an_end(self):
        with Server(LENET, "--grpc-port", 0, "--max-queue", 1, "--max-batch", 1, "--max-connections", 8) as server:
            server.wait_ready()
            request = asked(digits(1), 1, model="lenet5")
            with Client(server.grpc_port) as client, concurrent.futures.ThreadPoolExecutor(32) as pool:
                def ask():
                    try:
                        client.call("ModelInfer", request)
                    except grpc.RpcError as error:
                        return error.code().name, re.sub(r"\d+", "N", error.details())
                    return "OK", ""
                found = {job.result() for job in [pool.submit(ask) for _ in range(300)]}
        self.assertLessEqual(found, {("OK", ""), ("UNAVAILABLE", "N requests wait for the model, as many as may"),
                                     ("RESOURCE_EXHAUSTED", "as many calls are open as may be (--max-connections)")})
        self.assertIn(("OK", ""), found)
        self.assertGreater(len(found), 1)

    def test_sigterm_answers_what_was_asked(self):
        server = Server(LENET, "--grpc-port", 0, "--max-batch", 8).wait_ready()
        request = asked(digits(8), 8, model="lenet5", raw=True)
        found, begun = [], threading.Event()
        def ask():
            with Client(server.grpc_port, options=[("grpc.use_local_subchannel_pool", 1)]) as client:
                for _ in range(10000):
                    try:
                        client.call("ModelInfer", request)
                        found.append("OK")
                    except grpc.RpcError as error:
                        found.append((error.code().name, error.details()))
                        return
                    begun.set()
        threads = [threading.Thread(target=ask) for _ in range(4)]
        for one in threads:
            one.start()
        begun.wait(60)
        status, _ = server.stop(signal.SIGTERM)
        for one in threads:
            one.join()
        self.assertEqual(status, 0)
        self.assertIn("OK", found)
        # A call that was taken is answered; one that was not is told so, and may be asked elsewhere.
        for one in found:
            self.assertTrue(one == "OK" or one[0] == "UNAVAILABLE", one)
            self.assertNotIn("reset", str(one).lower(), "a call was dropped")

    def test_the_server_ends_while_models_are_loaded(self):
        for _ in range(3):
            server = Server(LENET, "--grpc-port", 0).wait_ready()
            with Client(server.grpc_port) as client, concurrent.futures.ThreadPoolExecutor(2) as pool:
                load = PB.RepositoryModelLoadRequest(model_name="lenet5").SerializeToString()
                call = client.channel.unary_unary("/inference.GRPCInferenceService/RepositoryModelLoad", lambda one: one,
                                                  lambda one: one).future(load)
                pool.submit(server.ask, "POST", "/v2/repository/models/lenet5/load")
                time.sleep(0.02)
                begun = time.monotonic()
                status, _ = server.stop()
                # The client, which is idle then, says nothing to the end of its connection: the server ends all the same.
                self.assertLess(time.monotonic() - begun, 15)
                self.assertEqual(status, 0)
                # It may come before the server stops, while that waits, or too late.
                call.exception(60)
                self.assertIn(call.code().name, ("OK", "UNAVAILABLE", "CANCELLED"))


if __name__ == "__main__":
    Server.program = str(pathlib.Path(sys.argv[1]).resolve())
    if len(sys.argv) > 3:
        TRITON = sys.argv.pop(3)
    probe = Server(LENET, "--grpc-port", 0)
    probe.stop()
    if probe.grpc_port is None:
        said = "".join(probe.said)
        assert probe.process.returncode == 2 and "a build with libgrpc++-dev has it" in said, said
        print("Skipped: the server is built without gRPC, and says so")
        sys.exit(0)
    PB = load_messages()
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
