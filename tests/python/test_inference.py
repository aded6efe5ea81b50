# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime's names behave as they do there, and nothing that is asked for is passed over in silence."""
import json
import pathlib
import re
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

import morton
from morton import _entries, _numpy, _providers
from morton.capi.onnxruntime_pybind11_state import (Fail, InvalidArgument, InvalidGraph, InvalidProtobuf,
                                                    NotImplemented)

ROOT = pathlib.Path(__file__).parent.parent.parent
MODELS = pathlib.Path(__file__).parent / "models"
LENET = str(ROOT / "models" / "lenet5.onnx")
OPEN, GIVEN = str(MODELS / "open.onnx"), str(MODELS / "given.onnx")
FEED = {"words": np.full((2, 5, 8), 0.5, np.float32), "mask": np.ones((2, 5), np.int64)}


def options_with(**entries):
    options = morton.SessionOptions()
    for name, value in entries.items():
        options.add_session_config_entry(f"morton.{name}", value)
    return options


@pytest.fixture(scope="module")
def given():
    return morton.InferenceSession(GIVEN)


def test_lists_become_arrays_of_the_inputs_type(given):
    for x in ([1, -2, 3], (1.0, -2.0, 3.0), np.array([1, -2, 3], np.float32).tolist()):
        np.testing.assert_array_equal(given.run(["r"], {"x": x})[0], [1, 0, 3])
    session = morton.InferenceSession(OPEN)
    words = FEED["words"].tolist()
    assert session.run(["pooled"], {"words": words, "mask": FEED["mask"].tolist()})[0].shape == (2, 6)
    with pytest.raises(InvalidArgument, match="a list of float64 is none of int64"):
        session.run(None, {"words": words, "mask": [[0.5] * 5] * 2})
    with pytest.raises(InvalidArgument, match="a list of <U1 is none of float32"):
        given.run(None, {"x": ["a"]})
    with pytest.raises(InvalidArgument, match=r"tensor\(double\), expected tensor\(float\)"):
        given.run(None, {"x": np.ones(3)})


@pytest.mark.parametrize("names, text", [(["nothing"], "there is no output 'nothing'"), ("r", "expected a list")])
def test_names_of_outputs_are_checked_before_the_run(given, names, text):
    with pytest.raises(InvalidArgument, match=text):
        given.run(names, {"not an input": None})


def test_names_may_be_an_array(given):
    assert len(given.run(np.array(["r", "x"]), {"x": np.ones(3, np.float32)})) == 2


def test_bytes_that_are_no_model_are_told_from_a_model_that_is_wrong(tmp_path):
    good = pathlib.Path(LENET).read_bytes()
    for wrong in (b"abc", b"", good[:1000], bytes(100), b"\xff" * 40):
        with pytest.raises(InvalidProtobuf):
            morton.InferenceSession(wrong)
        path = tmp_path / "wrong.onnx"
        path.write_bytes(wrong)
        with pytest.raises(InvalidProtobuf):
            morton.InferenceSession(path)
    at = good.index(b"Conv")
    with pytest.raises(morton.Error) as caught:
        morton.InferenceSession(good[:at] + b"Cxnv" + good[at + 4:])
    assert not isinstance(caught.value, InvalidProtobuf) and isinstance(caught.value, (InvalidGraph, NotImplemented))


def test_lists_as_ports_are_refused_when_the_session_is_made():
    with pytest.raises(NotImplemented, match="output parts is a list or an optional value"):
        morton.InferenceSession(str(MODELS / "list.onnx"))


def field(number, value):
    """Of a message of protobuf: a text or bytes."""
    value = value if isinstance(value, bytes) else value.encode()
    return bytes([number << 3 | 2, len(value)]) + value


def test_a_files_facts_are_told(given):
    assert given.get_modelmeta().graph_name == "given"
    more = field(4, "org.example") + bytes([5 << 3, 7]) + field(6, "what it does")
    more += field(14, field(1, "stride") + field(2, "32"))
    facts = morton.InferenceSession(pathlib.Path(LENET).read_bytes() + more).get_modelmeta()
    assert (facts.domain, facts.version, facts.description) == ("org.example", 7, "what it does")
    assert facts.custom_metadata_map == {"stride": "32"}
    assert not hasattr(facts, "other")


def test_constants_that_are_listed_as_inputs_are_told_and_not_replaced():
    session = morton.InferenceSession(str(MODELS / "replaceable.onnx"))
    assert [port.name for port in session.get_inputs()] == ["x"]
    weight, = session.get_overridable_initializers()
    assert (weight.name, weight.type, weight.shape) == ("w", "tensor(float)", [2])
    x = np.ones(2, np.float32)
    np.testing.assert_array_equal(session.run(None, {"x": x})[0], [2, 4])
    with pytest.raises(NotImplemented, match="w is a constant of the model"):
        session.run(None, {"x": x, "w": x})


@pytest.mark.parametrize("model, feed", [(LENET, {"input": np.zeros((1, 1, 32, 32), np.float32)}), (OPEN, FEED)])
def test_a_profile_has_each_run(model, feed, tmp_path):
    options = options_with(batch="1") if model == LENET else morton.SessionOptions()
    options.enable_profiling = True
    options.profile_file_prefix = str(tmp_path / "profile")
    session = morton.InferenceSession(model, options)
    for _ in range(2):
        session.run(None, feed)
    events = json.loads(pathlib.Path(session.end_profiling()).read_text(encoding="utf-8"))
    runs = [event for event in events if event["name"] == "model_run"]
    assert [event["args"]["run"] for event in runs] == [1, 2] and all(event["dur"] > 0 for event in runs)
    assert any(event["cat"] == "Node" for event in events) == (model == LENET)


def test_an_override_holds_where_other_extents_stay_open():
    options = morton.SessionOptions()
    options.add_free_dimension_override_by_name("batch", 2)
    session = morton.InferenceSession(OPEN, options)
    assert [port.shape for port in session.get_inputs()] == [[2, "length", 8], [2, "length"]]
    assert session.get_outputs()[1].shape == [2, 6]
    assert session.run(["pooled"], FEED)[0].shape == (2, 6)
    with pytest.raises(InvalidArgument, match=r"input words is \[3, 5, 8\], expected \[2, 'length', 8\]"):
        session.run(None, {"words": np.zeros((3, 5, 8), np.float32), "mask": np.ones((3, 5), np.int64)})


def test_inputs_that_do_not_fit_each_other_are_wrong_arguments():
    session = morton.InferenceSession(OPEN)
    with pytest.raises(InvalidArgument, match="shapes 2x5x6 and 2x4x1 do not broadcast"):
        session.run(None, {"words": np.zeros((2, 5, 8), np.float32), "mask": np.ones((2, 4), np.int64)})


def test_overrides_of_all_extents_plan_at_once_and_give_the_same():
    options = morton.SessionOptions()
    options.add_free_dimension_override_by_name("batch", 2)
    options.add_free_dimension_override_by_name("length", 5)
    session = morton.InferenceSession(OPEN, options)
    assert session.report["activation_bytes"] > 0
    for ours, theirs in zip(session.run(None, FEED), morton.InferenceSession(OPEN).run(None, FEED)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)
    options.add_free_dimension_override_by_name("width", 5)
    with pytest.warns(UserWarning, match="no input has an open extent width; there are batch, length"):
        morton.InferenceSession(OPEN, options)


def test_entries_are_read_as_their_option_has_them():
    assert _entries.compile_options(options_with(
        batch="2", exclude="gemm.naive, conv2d.naive", local="4,16", weights="1,2.5", precision="f16")) == {
            "batch": 2, "exclude": ["gemm.naive", "conv2d.naive"], "local": [4, 16], "weights": [1.0, 2.5],
            "precision": "f16"}
    options = options_with(skip_passes="fold_constants")
    options.graph_optimization_level = morton.GraphOptimizationLevel.ORT_DISABLE_ALL
    assert set(_entries.compile_options(options)["skip_passes"]) == {"fold_constants", *_entries.SKIPPED_PASSES}
    assert morton.InferenceSession(OPEN, options).run(["pooled"], FEED)[0].shape == (2, 6)
    assert morton.InferenceSession(OPEN, options_with(batch="2")).get_inputs()[0].shape == [2, "length", 8]
    for name, value, text in (("batch", "two", "'two' is no number"), ("local", "4,x", "'4,x' is no number"),
                              ("shapes", "{}", "add_free_dimension_override_by_name"), ("use", "gemm", "a dict"),
                              ("nothing", "1", "no such option")):
        with pytest.raises(InvalidArgument, match=text):
            morton.InferenceSession(LENET, options_with(**{name: value}))
    with pytest.raises(InvalidArgument, match="no input of the model has an open batch"):
        morton.InferenceSession(str(MODELS / "branch.onnx"), options_with(batch="2"))


def test_the_passes_that_can_be_skipped_are_those_of_the_library():
    with pytest.raises(morton.UsageError, match="cannot be skipped; these can: ") as caught:
        morton.compile(morton.Model.load(LENET), morton.Device(), skip_passes=["none"])
    known = re.search(r"these can: ([a-z_, ]+)", str(caught.value))[1].split(", ")
    assert sorted(known) == sorted(_entries.SKIPPED_PASSES + _entries.OTHER_PASSES)


def test_attributes_that_are_none_are_errors():
    for options in (morton.SessionOptions(), morton.RunOptions()):
        with pytest.raises(AttributeError):
            options.graph_optimisation_level = 0
    options = morton.SessionOptions()
    options.optimized_model_filepath = "optimised.onnx"
    with pytest.raises(NotImplemented, match="optimized_model_filepath"):
        morton.InferenceSession(LENET, options)
    with pytest.warns(UserWarning, match="disabled_optimizers"):
        morton.InferenceSession(LENET, disabled_optimizers=["ConstantFolding"])


def test_a_run_that_shall_not_begin_does_not(given):
    options = morton.RunOptions()
    options.terminate = True
    with pytest.raises(Fail, match="terminate is set"):
        given.run(None, {"x": np.ones(3, np.float32)}, options)


def test_providers_are_one_or_several():
    assert morton.InferenceSession(LENET, providers="CPUExecutionProvider").get_providers() == ["CPUExecutionProvider"]
    names = ["MortonExecutionProvider", "CPUExecutionProvider"]
    with pytest.raises(InvalidArgument, match="there are 1, expected one for each of the 2 providers"):
        morton.InferenceSession(LENET, providers=names, provider_options=[{}])
    with pytest.raises(InvalidArgument, match="there is no option arena"):
        morton.InferenceSession(LENET, providers=names, provider_options=[{"arena": "1"}, {}])
    chosen = [{"device": "nothing like it"}, {}]
    with pytest.warns(UserWarning, match="MortonExecutionProvider is passed over: .*no device matches"):
        session = morton.InferenceSession(LENET, providers=names, provider_options=chosen)
    assert session.get_providers() == ["CPUExecutionProvider"]


def test_a_device_that_fails_is_told_of(monkeypatch):
    def device(selector):
        if selector == "":
            raise morton.DeviceError("the driver is not well")
        return selector

    monkeypatch.setattr(_providers._native, "Device", device)
    with pytest.warns(UserWarning, match="passed over: the driver is not well"):
        assert _providers.first_device(["MortonExecutionProvider", "CPUExecutionProvider"], None)[1] == "cpu"
    with pytest.raises(morton.DeviceError, match="not well"), warnings.catch_warnings():
        warnings.simplefilter("error")
        _providers.first_device(["MortonExecutionProvider"], None)


def test_fallbacks_are_told_of(monkeypatch):
    monkeypatch.setattr(morton.InferenceSession, "report", {"fallbacks": ["another kernel computes it"]})
    with pytest.warns(UserWarning, match="another kernel computes it"):
        morton.InferenceSession(LENET)


def test_fallbacks_of_later_plans_are_told_of_once(monkeypatch):
    session = morton.InferenceSession(LENET)
    told = {"fallbacks": []}
    monkeypatch.setattr(morton.InferenceSession, "report", told)
    monkeypatch.setattr(session, "_compiled", None)
    feed = {"input": np.zeros((1, 1, 32, 32), np.float32)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        session.run(None, feed)
    told["fallbacks"].append("another kernel computes it")
    with pytest.warns(UserWarning, match="another kernel computes it"):
        session.run(None, feed)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        session.run(None, feed)


def test_lists_beyond_the_range_are_refused():
    node = morton._values.NodeArg(type("Port", (), {"name": "x", "dtype": "float16", "shape": [3]})(), {})
    np.testing.assert_array_equal(node.array_of([1, 65504, float("-inf")]), np.array([1, 65504, -np.inf], np.float16))
    with pytest.raises(InvalidArgument, match="float16 does not hold all its numbers"):
        node.array_of([1, 1e6, 0])


def test_values_change_in_place():
    array = np.zeros(3, np.float32)
    value = morton.OrtValue.ortvalue_from_numpy(array)
    assert value.element_type() == 1
    value.update_inplace(np.array([1, 2, 3], np.float32))
    np.testing.assert_array_equal(array, [1, 2, 3])
    for wrong in (np.zeros(4, np.float32), np.zeros(3)):
        with pytest.raises(InvalidArgument, match="its place is float32"):
            value.update_inplace(wrong)
    assert morton.OrtValue.ortvalue_from_shape_and_type([2], 7).numpy().dtype == np.int64


def test_a_binding_has_the_outputs_of_its_last_run_alone(given):
    binding = given.io_binding()
    x = np.array([1, -2, 3], np.float32)
    binding.bind_input("x", "cpu", 0, 1, x.shape, x.ctypes.data)
    binding.bind_output("x")
    given.run_with_iobinding(binding)
    binding.clear_binding_outputs()
    binding.bind_output("r")
    given.run_with_iobinding(binding)
    (r,) = binding.copy_outputs_to_cpu()
    np.testing.assert_array_equal(r, [1, 0, 3])
    binding.bind_output("nothing")
    with pytest.raises(InvalidArgument, match="nothing"):
        given.run_with_iobinding(binding)
    assert binding.get_outputs() == []
    with pytest.raises(InvalidArgument, match="there is no input y; there are x"):
        binding.bind_cpu_input("y", x)
    with pytest.raises(InvalidArgument, match="buffer_ptr"):
        binding.bind_input("x", "cpu", 0, np.float32, x.shape, None)
    x.flags.writeable = False
    binding.clear_binding_outputs()
    binding.bind_ortvalue_output("r", morton.OrtValue.ortvalue_from_numpy(x))
    with pytest.raises(InvalidArgument, match="may only be read"):
        given.run_with_iobinding(binding)


def test_threads_that_begin_together_share_a_pool(given):
    session = morton.InferenceSession(GIVEN)
    barrier = threading.Barrier(8)
    pools = []

    def begin():
        barrier.wait()
        session.run_async(["r"], {"x": np.ones(3, np.float32)}).result()
        pools.append(session._pool)

    threads = [threading.Thread(target=begin) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(pools) == 8 and len(set(pools)) == 1


def test_a_run_when_python_ends_gets_a_clear_error():
    program = (f"import atexit, morton, numpy as np\ns = morton.InferenceSession({GIVEN!r})\n"
               "def late():\n  try: s.run_async(None, {'x': np.ones(3, np.float32)})\n"
               "  except morton.Error as error: print(error)\natexit.register(late)\n")
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "Python is ending" in run.stdout, run.stderr


def test_a_module_that_does_not_know_numpy_is_refused():
    _numpy.require_fitting_numpy("1.26.4", (2, 10))
    _numpy.require_fitting_numpy("2.4.6", (2, 12))
    with pytest.raises(ImportError, match=r"pybind11 2\.11, which does not know NumPy 2\.4\.6"):
        _numpy.require_fitting_numpy("2.4.6", (2, 11))


def test_the_process_has_a_severity_that_new_options_take():
    options = morton.SessionOptions()
    morton.set_default_logger_severity(3)
    try:
        assert (options.log_severity_level, morton.SessionOptions().log_severity_level) == (2, 3)
        assert morton.RunOptions().log_severity_level == 3
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            morton.set_seed(1)
            quiet = morton.SessionOptions()
            quiet.intra_op_num_threads = 1
            morton.InferenceSession(GIVEN, quiet)
    finally:
        morton.set_default_logger_severity(2)
    with pytest.warns(UserWarning, match="draws follow from a node's own seed"):
        morton.set_seed(1)
    with pytest.raises(InvalidArgument, match="severity 5"):
        morton.set_default_logger_severity(5)


def test_what_has_no_meaning_here_may_be_called(given):
    morton.disable_telemetry_events()
    morton.preload_dlls(cuda=True, directory="")
    given.disable_fallback()
    assert morton.get_version_string() == morton.__version__ and morton.__version__ in morton.get_build_info()


def test_providers_may_be_set_later():
    session = morton.InferenceSession(GIVEN)
    x = {"x": np.array([1, -2, 3], np.float32)}
    before = session.run(["r"], x)[0]
    session.set_providers(["CPUExecutionProvider"])
    assert session.get_providers() == ["CPUExecutionProvider"]
    np.testing.assert_array_equal(session.run(["r"], x)[0], before)
    with pytest.raises(InvalidArgument), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session.set_providers(["CUDAExecutionProvider"])
    np.testing.assert_array_equal(session.run(["r"], x)[0], before)


def test_another_engines_provider_is_left_out_with_what_to_name():
    with pytest.warns(UserWarning, match="CUDAExecutionProvider is not Morton's.*MortonExecutionProvider runs on a GPU"):
        morton.InferenceSession(GIVEN, providers=["CUDAExecutionProvider", "CPUExecutionProvider"])


def test_an_ort_value_of_dlpack_shares_its_memory():
    array = np.arange(6, dtype=np.float32)
    value = morton.OrtValue.from_dlpack(array)
    array[0] = 9
    assert value.numpy()[0] == 9 and value.tensor_size_in_bytes() == 24
    assert not value.is_tensor_sequence() and not value.is_sparse_tensor()
