# SPDX-License-Identifier: Apache-2.0
"""A process that was forked from one with an open device gets an error at once, whatever it calls."""
import os
import pathlib
import select
import signal

import numpy as np
import pytest

import morton

LENET = str(pathlib.Path(__file__).parent.parent.parent / "models" / "lenet5.onnx")
IMAGES = np.zeros((2, 1, 32, 32), np.float32)
LABELS = np.arange(2)
SECONDS = 20


class Opened:
    def __init__(self):
        self.device = morton.Device()
        self.model = morton.Model.load(LENET)
        self.data = morton.Dataset.of_arrays(IMAGES, LABELS)
        self.compiled = morton.compile(self.model, self.device, batch=2)
        self.session = morton.Session(self.compiled, profiling=True)
        self.session.run({"input": IMAGES})
        self.theirs = morton.InferenceSession(LENET)
        self.theirs.run_async(None, {"input": IMAGES[:1]}).result()
        self.trainer = morton.Trainer(self.model, self.device, batch=2)
        self.trainer.step(IMAGES, LABELS, 0.01)


@pytest.fixture(scope="module")
def opened():
    return Opened()


CALLS = {
    "run": lambda o: o.session.run({"input": IMAGES}),
    "step_times": lambda o: o.session.step_times(),
    "get_state": lambda o: o.session.get_state("none"),
    "session": lambda o: morton.Session(o.compiled),
    "segments": lambda o: morton.SegmentedSession(o.model, o.device),
    "compile": lambda o: morton.compile(o.model, o.device),
    "used_bytes": lambda o: o.device.used_bytes,
    "peak_bytes": lambda o: o.device.peak_bytes,
    "device": lambda o: morton.Device(),
    "step": lambda o: o.trainer.step(IMAGES, LABELS, 0.01),
    "evaluate_batch": lambda o: o.trainer.evaluate_batch(IMAGES, LABELS),
    "evaluate": lambda o: o.trainer.evaluate(o.data),
    "train": lambda o: o.trainer.train(o.data, steps=1),
    "state": lambda o: o.trainer.state(),
    "set_state": lambda o: o.trainer.set_state({}),
    "model": lambda o: o.trainer.model(),
    "quantize": lambda o: morton.quantize(o.model, o.device, o.data, examples=2),
    "providers": lambda o: morton.InferenceSession(LENET, providers=["MortonExecutionProvider", "CPUExecutionProvider"]),
    "run_async": lambda o: o.theirs.run_async(None, {"input": IMAGES[:1]}).result(),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_after_a_fork_is_refused(opened, name):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        text = "no error"
        try:
            CALLS[name](opened)
        except BaseException as error:  # noqa: BLE001: the parent looks at it
            text = f"{type(error).__mro__} {error}"
        os.write(writer, text.encode())
        os._exit(0)
    os.close(writer)
    is_there = select.select([reader], [], [], SECONDS)[0]
    text = os.read(reader, 4000).decode() if is_there else "the call hangs"
    if not is_there:
        os.kill(child, signal.SIGKILL)
    os.close(reader)
    os.waitpid(child, 0)
    assert "UsageError" in text and "forked" in text and "spawn" in text, text
