# SPDX-License-Identifier: Apache-2.0
"""Whose memory arrays lie in: outputs are the caller's own, whatever the model gives back; inputs of any order fit."""
import pathlib

import numpy as np
import pytest

import morton

MODELS = pathlib.Path(__file__).parent / "models"
GIVEN = str(MODELS / "given.onnx")
LEVELS = np.arange(2048, dtype=np.float32)


def open_session():
    return morton.InferenceSession(GIVEN)


def fixed_session():
    options = morton.SessionOptions()
    options.add_free_dimension_override_by_name("n", 3)
    return morton.InferenceSession(GIVEN, options)


@pytest.mark.parametrize("make", [open_session, fixed_session])
def test_outputs_are_written_to_and_nobody_sees_it(make):
    sessions = [make(), make()]
    for _ in range(3):
        for session in sessions:
            x = np.array([1, -2, 3], np.float32)
            outputs = session.run(None, {"x": x})
            want = [x.copy(), np.maximum(x, 0), np.maximum(x, 0), LEVELS, LEVELS]
            for output, expected in zip(outputs, want):
                np.testing.assert_array_equal(output, expected)
            for i, output in enumerate(outputs):
                output[...] = 77 + i
            assert [set(output.flat) for output in outputs] == [{77 + i} for i in range(5)]
            np.testing.assert_array_equal(x, [1, -2, 3])
            assert not any(np.shares_memory(output, x) for output in outputs)


def test_inputs_that_may_only_be_read_come_back_writable():
    x = np.frombuffer(np.array([1, 2], np.float32).tobytes(), np.float32)
    assert not x.flags.writeable
    (again,) = open_session().run(["x"], {"x": x})
    again[:] = 5
    np.testing.assert_array_equal(x, [1, 2])


def test_a_branch_keeps_its_constant():
    model, device = morton.Model.load(str(MODELS / "branch.onnx")), morton.Device()
    sessions = [morton.SegmentedSession(model, device) for _ in range(2)]
    x = np.ones(4, np.float32)
    for is_constant in (False, False, True, True, False, True):
        for session in sessions:
            chosen = session.run({"x": x, "is_constant": np.array(is_constant)})["chosen"]
            np.testing.assert_array_equal(chosen, np.arange(4) if is_constant else -x)
            chosen[:] = 9


@pytest.mark.parametrize("shift", [False, True])
@pytest.mark.parametrize("order", ["<f4", ">f4"])
def test_arrays_are_aligned_and_in_the_machines_order(order, shift):
    memory = np.zeros(4 * 3 + 1, np.uint8)
    x = memory[shift:shift + 12].view(order)
    x[:] = [1, -2, 3]
    for run in (open_session().run(None, {"x": x})[1],
                morton.SegmentedSession(morton.Model.load(GIVEN), morton.Device()).run({"x": x})["r"]):
        np.testing.assert_array_equal(run, [1, 0, 3])


class Capsule:
    """Has __dlpack__ alone."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Raises:
    def __init__(self, error):
        self.error = error

    def __array__(self, *_, **__):
        raise self.error


@pytest.fixture(scope="module")
def native():
    return morton.SegmentedSession(morton.Model.load(GIVEN), morton.Device())


def test_dlpack_goes_into_morton_s_own_sessions(native):
    np.testing.assert_array_equal(native.run({"x": Capsule(np.array([-1, 2], np.float32))})["r"], [0, 2])


@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError()])
def test_what_stops_a_program_is_no_wrong_input(native, error):
    with pytest.raises(type(error)):
        native.run({"x": Raises(error)})
    with pytest.raises(type(error)):
        open_session().run(None, {"x": Raises(error)})


def test_the_cause_of_a_wrong_input_is_told(native):
    with pytest.raises(morton.UsageError, match="x: expected an array of numbers, got.*Raises") as caught:
        native.run({"x": Raises(ZeroDivisionError("mine"))})
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    with pytest.raises(morton.UsageError, match="input x: Raises gives no array: mine") as caught:
        open_session().run(None, {"x": Raises(ZeroDivisionError("mine"))})
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_names_are_text(native):
    with pytest.raises(morton.UsageError, match="names are of type str, got <class 'int'>"):
        native.run({3: np.zeros(3, np.float32)})
