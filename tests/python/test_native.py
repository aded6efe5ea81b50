# SPDX-License-Identifier: Apache-2.0
"""Morton's own Python interface: devices, models, sessions, errors, processes."""
import asyncio
import gc
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import morton

ROOT = pathlib.Path(__file__).parent.parent.parent
LENET = str(ROOT / "models" / "lenet5.onnx")
OPEN = str(pathlib.Path(__file__).parent / "models" / "open.onnx")


@pytest.fixture(scope="module")
def lenet():
    return morton.compile(morton.Model.load(LENET), morton.Device(), batch=2)


@pytest.fixture(scope="module")
def images():
    return np.random.default_rng(0).random((2, 1, 32, 32)).astype(np.float32)


def test_devices_have_facts():
    facts = morton.devices()
    assert facts and all("compute_units" in str(device) for device in facts)
    assert morton.get_device() in ("CPU", "GPU", "ACCELERATOR")


def test_a_session_gives_what_the_reference_gives():
    with np.load(ROOT / "models" / "lenet5.expected.npz") as expected:
        inputs = {name: expected[name] for name in expected if name == "input"}
        want = expected["probabilities"]
    model = morton.compile(morton.Model.load(LENET), morton.Device(), batch=want.shape[0])
    found = morton.Session(model).run(inputs)["probabilities"]
    np.testing.assert_allclose(found, want, rtol=1e-4, atol=1e-6)


def test_loading_has_limits_and_a_folder_of_weights():
    data = pathlib.Path(LENET).read_bytes()
    assert morton.Model.load(LENET, limits="nodes=100,seconds=60").inputs[0].name == "input"
    assert morton.Model.from_bytes(data, weights_folder="/", limits="nodes=100").inputs
    for load in (lambda limits: morton.Model.load(LENET, limits=limits),
                 lambda limits: morton.Model.from_bytes(data, limits=limits)):
        with pytest.raises(morton.UnsupportedError, match="more than 3 nodes; limits nodes=N"):
            load("nodes=3")
        with pytest.raises(morton.UsageError, match="there is no such limit"):
            load("nods=3")
    with pytest.raises(morton.ModelError, match="is no folder"):
        morton.Model.load(LENET, weights_folder="no such folder")


def test_options_are_those_of_every_interface():
    page = (ROOT / "docs" / "c_api.md").read_text()
    table = page.split("<!-- options -->")[1].split("<!-- end of options -->")[0]
    names = {row.split("`")[1] for row in table.splitlines() if row.startswith("| `")}
    with pytest.raises(morton.UsageError, match="there are ") as error:
        morton.compile(morton.Model.load(LENET), morton.Device(), no_such=1)
    known = set(str(error.value).split("there are ")[1].split(", "))
    assert len(names) > 15 and names <= known
    for wrong in ({"precision": "f64"}, {"launches": "none"}, {"start": "soon"}, {"unkept": "kept"}):
        with pytest.raises(morton.UsageError, match="expected "):
            morton.compile(morton.Model.load(LENET), morton.Device(), **wrong)
    with pytest.raises(morton.UsageError, match="does not fit"):
        morton.compile(morton.Model.load(LENET), morton.Device(), cache_dir=3)
    with pytest.raises(morton.UsageError, match="workspace_limit_bytes -5: must not be negative"):
        morton.compile(morton.Model.load(LENET), morton.Device(), workspace_limit_bytes=-5)


def test_plans_explain_themselves(lenet):
    assert "conv2d" in lenet.plan_text()
    assert len(lenet.plan_text(why=True)) > len(lenet.plan_text())
    assert lenet.report["weight_bytes"] > 0
    assert all(step["kernel"] for step in lenet.steps)
    assert [port.shape for port in lenet.inputs] == [[2, 1, 32, 32]]


def test_profiles_have_times(lenet, images):
    session = morton.Session(lenet, profiling=True)
    session.run({"input": images})
    times = session.step_times()
    assert len(times) == len(lenet.steps) and all(step["device_us"] > 0 for step in times)


def test_outputs_keep_their_memory(lenet, images):
    session = morton.Session(lenet)
    first = session.run({"input": images})["probabilities"]
    kept = first.copy()
    for _ in range(5):
        session.run({"input": images * 0})
    del session
    gc.collect()
    np.testing.assert_array_equal(first, kept)


def test_strided_inputs_are_copied(lenet, images):
    session = morton.Session(lenet)
    want = session.run({"input": images})["probabilities"]
    wide = np.zeros((2, 1, 32, 64), np.float32)
    wide[..., ::2] = images
    np.testing.assert_array_equal(session.run({"input": wide[..., ::2]})["probabilities"], want)


def test_dlpack_goes_in_and_out(lenet, images):
    class Capsule:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    session = morton.InferenceSession(LENET)
    (scores,) = session.run(None, {"input": Capsule(images)})
    np.testing.assert_allclose(np.from_dlpack(scores).sum(axis=1), 1, rtol=1e-5)


def test_errors_say_what_is_wrong(lenet, images):
    session = morton.Session(lenet)
    with pytest.raises(morton.UsageError, match="'input'.*is given 0 times"):
        session.run({"inputs": images})
    with pytest.raises(morton.UsageError, match="no such option.*precision"):
        morton.compile(morton.Model.load(LENET), morton.Device(), batsh=2)
    with pytest.raises(morton.UsageError, match="does not fit"):
        morton.compile(morton.Model.load(LENET), morton.Device(), batch="two")
    with pytest.raises(morton.UsageError, match="input: expected an array of numbers.*complex128"):
        session.run({"input": images.astype(complex)})
    with pytest.raises(morton.ModelError, match="not an ONNX model"):
        morton.Model.from_bytes(b"no model")
    with pytest.raises(morton.UsageError, match="device 'nothing like it': no device matches"):
        morton.Device("nothing like it")
    np.testing.assert_allclose(session.run({"input": images})["probabilities"].sum(axis=1), 1, rtol=1e-5)


def test_options_of_compile_pass_through_a_session():
    options = morton.SessionOptions()
    options.add_session_config_entry("morton.precision", "f15")
    with pytest.raises(morton.UsageError, match="unknown.*f15"):
        morton.InferenceSession(OPEN, options).run(None, {"words": np.zeros((1, 2, 8), np.float32),
                                                          "mask": np.ones((1, 2), np.int64)})


def test_unknown_providers_are_told_of():
    with pytest.warns(UserWarning, match="TensorrtExecutionProvider"):
        morton.InferenceSession(LENET, providers=["TensorrtExecutionProvider", "CPUExecutionProvider"])
    with pytest.raises(morton.UsageError, match="none of the providers"), pytest.warns(UserWarning):
        morton.InferenceSession(LENET, providers=["TensorrtExecutionProvider"])


def test_runs_are_awaited(images):
    session = morton.InferenceSession(LENET)

    async def both():
        runs = [asyncio.wrap_future(session.run_async(None, {"input": images})) for _ in range(2)]
        return await asyncio.gather(*runs)

    first, second = asyncio.run(both())
    np.testing.assert_array_equal(first[0], second[0])
    told = []
    session.run_async(None, {"input": images}, lambda *result: told.append(result), "mine")
    with pytest.raises(morton.UsageError, match=r"input input is \[1, 32, 32\], expected"):
        session.run_async(None, {"input": images[0]}).result()
    assert told[0][1:] == ("mine", "")


def test_a_forked_process_gets_a_clear_error(lenet, images):
    session = morton.Session(lenet)
    session.run({"input": images})
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        text = "no error"
        try:
            session.run({"input": images})
        except morton.UsageError as error:
            text = str(error)
        os.write(writer, text.encode())
        os._exit(0)
    os.close(writer)
    text = os.read(reader, 1000).decode()
    os.waitpid(child, 0)
    assert "forked" in text and "spawn" in text


@pytest.mark.parametrize("text", [
    "import morton, numpy as np; s = morton.InferenceSession(MODEL); x = np.zeros((1, 1, 32, 32), np.float32);"
    "s.run_async(None, {'input': x})",
    "import onnx, morton; onnx.load(MODEL); morton.Model.load(MODEL)",
    "import morton, onnx; morton.Model.load(MODEL); onnx.load(MODEL)",
])
def test_interpreters_end_well(text):
    program = f"MODEL = {LENET!r}\n{text}\n"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
