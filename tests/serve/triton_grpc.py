#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks a morton-serve of LeNet, which it calls digits, by Triton's client: tests/serve/triton_grpc.py PORT.

The status is 77 where the client is not installed. It is a process of its own, because its messages have the names of
those that check_grpc.py makes."""

import sys

try:
    import numpy
    import tritonclient.grpc as triton
except ImportError as missing:
    print(f"{missing} (PyPI's tritonclient[grpc])")
    sys.exit(77)


def main():
    client = triton.InferenceServerClient(f"127.0.0.1:{sys.argv[1]}")
    assert client.is_server_live() and client.is_server_ready()
    assert client.is_model_ready("digits") and not client.is_model_ready("other")
    assert client.get_server_metadata().name == "morton"
    about = client.get_model_metadata("digits", as_json=True)
    assert about["inputs"][0]["shape"] == ["-1", "1", "32", "32"], about
    assert [one.name for one in client.get_model_repository_index().models] == ["digits"]
    pictures = numpy.random.default_rng(3).random((3, 1, 32, 32), dtype=numpy.float32)
    given = triton.InferInput("input", pictures.shape, "FP32")
    given.set_data_from_numpy(pictures)
    answer = client.infer("digits", [given], outputs=[triton.InferRequestedOutput("probabilities")], request_id="5",
                          client_timeout=30, timeout=20_000_000)
    found = answer.as_numpy("probabilities")
    assert found.shape == (3, 10) and abs(found.sum(axis=1) - 1).max() < 1e-4, found
    assert answer.get_response().id == "5"
    client.unload_model("digits")
    assert not client.is_model_ready("digits")
    client.load_model("digits")
    assert client.is_model_ready("digits")
    try:
        client.load_model("digits", config="{}")
    except triton.InferenceServerException as error:
        assert "parameters.config" in error.message(), error
    else:
        raise AssertionError("a configuration was taken")
    client.close()


main()
