# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime's InferenceSession, IOBinding and OrtValue on Morton."""
import concurrent.futures
import ctypes
import json
import os
import warnings

import numpy as np

from . import _native
from ._errors import InvalidArgument, NoSuchFile, named_as_theirs
from ._options import GraphOptimizationLevel, ModelMetadata, SessionOptions
from ._profile import Profile

_PROVIDERS = {"MortonExecutionProvider": "", "CPUExecutionProvider": "cpu"}
_TYPES = {
    "float32": "float", "float16": "float16", "float64": "double", "bool": "bool", "bfloat16": "bfloat16",
    "int8": "int8", "uint8": "uint8", "int16": "int16", "uint16": "uint16", "int32": "int32", "uint32": "uint32",
    "int64": "int64", "uint64": "uint64",
}
# What CompileOptions takes as a whole number; the other options are texts.
_NUMBERS = {"batch", "workspace_limit_bytes"}


def get_available_providers():
    """MortonExecutionProvider is any OpenCL device, a GPU if there is one; CPUExecutionProvider the processor's."""
    return list(_PROVIDERS)


get_all_providers = get_available_providers


def get_device():
    """"CPU" or "GPU": what a session without providers runs on."""
    return json.loads(_native.Device().json)["kind"].upper()


def _type_name(dtype):
    return f"tensor({_TYPES.get(dtype, dtype)})"


class NodeArg:
    """An input or output: its name, its type ("tensor(float)"), its shape with the names of open extents."""

    def __init__(self, port):
        self.name = port.name
        self.type = _type_name(port.dtype)
        self.shape = port.shape

    def __repr__(self):
        return f"NodeArg(name='{self.name}', type='{self.type}', shape={self.shape})"


class OrtValue:
    """An array that a session takes or gives. It lies in the host's memory."""

    def __init__(self, array):
        self._array = np.asarray(array)

    @classmethod
    def ortvalue_from_numpy(cls, numpy_obj, device_type="cpu", device_id=0):
        """The array itself, not a copy. `device_type` other than "cpu" is refused: Morton uploads what a run needs."""
        _require_host(device_type)
        return cls(numpy_obj)

    @classmethod
    def ortvalue_from_shape_and_type(cls, shape, element_type, device_type="cpu", device_id=0):
        _require_host(device_type)
        return cls(np.empty(shape, element_type))

    def numpy(self):
        return self._array

    def shape(self):
        return list(self._array.shape)

    def data_type(self):
        return _type_name(self._array.dtype.name)

    def device_name(self):
        return "cpu"

    def data_ptr(self):
        return self._array.ctypes.data

    def has_value(self):
        return True

    def is_tensor(self):
        return True

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


def _require_host(device_type):
    if device_type != "cpu":
        raise InvalidArgument(f"device_type {device_type}: values lie in the host's memory, 'cpu'; sessions upload them")


class IOBinding:
    """Inputs and outputs that are bound once, for runs by `InferenceSession.run_with_iobinding`."""

    def __init__(self, session):
        self._session = session
        self._inputs = {}
        self._outputs = {}
        self._found = {}

    def bind_cpu_input(self, name, arr_on_cpu):
        self._inputs[name] = arr_on_cpu

    def bind_ortvalue_input(self, name, ortvalue):
        self._inputs[name] = ortvalue.numpy()

    def bind_input(self, name, device_type, device_id, element_type, shape, buffer_ptr):
        _require_host(device_type)
        self._inputs[name] = _array_at(buffer_ptr, element_type, shape)

    def bind_output(self, name, device_type="cpu", device_id=0, element_type=None, shape=None, buffer_ptr=None):
        """Without a pointer the output's memory is Morton's."""
        _require_host(device_type)
        self._outputs[name] = None if buffer_ptr is None else _array_at(buffer_ptr, element_type, shape)

    def bind_ortvalue_output(self, name, ortvalue):
        self._outputs[name] = ortvalue.numpy()

    def synchronize_inputs(self):
        """Nothing is under way between runs."""

    synchronize_outputs = synchronize_inputs

    def clear_binding_inputs(self):
        self._inputs.clear()

    def clear_binding_outputs(self):
        self._outputs.clear()
        self._found.clear()

    def get_outputs(self):
        return [OrtValue(array) for array in self._found.values()]

    def copy_outputs_to_cpu(self):
        return [array.copy() for array in self._found.values()]

    def _run(self, options):
        names = list(self._outputs) or None
        values = self._session.run(names, self._inputs, options)
        names = names or [port.name for port in self._session.get_outputs()]
        for name, value in zip(names, values):
            place = self._outputs.get(name)
            if place is not None:
                if place.shape != value.shape or place.dtype != value.dtype:
                    raise InvalidArgument(f"output {name} is {value.dtype} {list(value.shape)}; bound to it is "
                                          f"{place.dtype} {list(place.shape)}")
                np.copyto(place, value)
                value = place
            self._found[name] = value


def _array_at(pointer, element_type, shape):
    dtype = np.dtype(element_type)
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    memory = (ctypes.c_byte * size).from_address(pointer)
    return np.frombuffer(memory, dtype=dtype).reshape(shape)


def _providers(given, options_of_each):
    """Names and options of the providers that are to be tried, in order."""
    if not given:
        return [("MortonExecutionProvider", {})]
    pairs = []
    for i, provider in enumerate(given):
        name, options = provider if isinstance(provider, (tuple, list)) else (provider, None)
        if options is None:
            options = (options_of_each or [{}] * len(given))[i]
        if name in _PROVIDERS:
            pairs.append((name, dict(options)))
        else:
            warnings.warn(f"provider {name} is not Morton's; there are {', '.join(_PROVIDERS)}", stacklevel=4)
    if not pairs:
        raise InvalidArgument(f"none of the providers {list(given)} is Morton's; there are {', '.join(_PROVIDERS)}")
    return pairs


def _open_device(name, options):
    chosen = dict(options)
    selector = chosen.pop("device", _PROVIDERS[name])
    for ignored in chosen:
        raise InvalidArgument(f"provider {name}: there is no option {ignored}; there is device")
    return _native.Device(selector)


class InferenceSession:
    """A model that runs on an OpenCL device, with ONNX Runtime's names.

    `path_or_bytes` is a path, the bytes of an ONNX model, or a `morton.Model`. `providers` names
    "MortonExecutionProvider" (any OpenCL device) or "CPUExecutionProvider"; the first that opens is taken. An option
    "device" chooses as `morton.Device` does: `providers=[("MortonExecutionProvider", {"device": "Mali"})]`.

    A model whose extents are all known is planned and built here. One with open extents is planned when a run brings
    shapes for the first time; plans of 16 shapes are kept. Any thread may call `run`; runs follow each other.
    """

    def __init__(self, path_or_bytes, sess_options=None, providers=None, provider_options=None, **others):
        for name in others:
            if name not in ("disabled_optimizers", "enable_fallback"):
                raise TypeError(f"InferenceSession has no argument {name}")
        self._options = sess_options or SessionOptions()
        if self._options.intra_op_num_threads > 0 and self._options.log_severity_level <= 2:
            warnings.warn("intra_op_num_threads: the OpenCL driver has its own threads (of PoCL "
                          "POCL_MAX_PTHREAD_COUNT in the environment says how many)", stacklevel=2)
        with named_as_theirs():
            self._model = _load(path_or_bytes)
            self._provider, self._device = self._first_device(providers, provider_options)
            self._inputs = [NodeArg(port) for port in self._model.inputs]
            self._outputs = [NodeArg(port) for port in self._model.outputs]
            self._output_names = [port.name for port in self._outputs]
            self._input_ports = {port.name: port for port in self._inputs}
            self._profile = Profile(self._options) if self._options.enable_profiling else None
            self._session = self._make_session()
        self._pool = None

    def _first_device(self, providers, provider_options):
        pairs = _providers(providers, provider_options)
        for i, (name, options) in enumerate(pairs):
            try:
                return name, _open_device(name, options)
            except _native.DeviceError:
                if i + 1 == len(pairs):
                    raise
        raise AssertionError

    def _compile_options(self):
        options = {}
        if self._options.graph_optimization_level == GraphOptimizationLevel.ORT_DISABLE_ALL:
            options["skip_passes"] = ["compute_in_codes", "keep_codes", "merge_equal_nodes", "fold_expands",
                                      "eliminate_transposes", "fold_pads", "fold_batch_norms", "fold_gates",
                                      "part_decoding", "fuse_epilogues"]
        for key, value in self._options._entries.items():
            if key.startswith("morton."):
                name = key.removeprefix("morton.")
                options[name] = int(value) if name in _NUMBERS else value
        return options

    def _fixed_shapes(self):
        """The inputs' shapes, where options and model say all of them."""
        shapes = {}
        for port in self._inputs:
            shape = [self._options._by_name.get(extent, extent) for extent in port.shape]
            if not all(isinstance(extent, int) for extent in shape):
                return None
            shapes[port.name] = shape
        return shapes

    def _make_session(self):
        options = self._compile_options()
        shapes = self._fixed_shapes()
        is_plain = all(port.is_tensor and not port.has_any_shape for port in self._model.inputs)
        if shapes is None or not is_plain or self._model.summary["planned_inputs"]:
            return _native.SegmentedSession(self._model, self._device, options)
        try:
            compiled = _native.compile(self._model, self._device, shapes=shapes, **options)
        except _native.NeedsSegments:
            return _native.SegmentedSession(self._model, self._device, options)
        return _native.Session(compiled, profiling=self._profile is not None)

    def get_inputs(self):
        return list(self._inputs)

    def get_outputs(self):
        return list(self._outputs)

    def get_overridable_initializers(self):
        return []

    def get_modelmeta(self):
        return ModelMetadata(self._model.summary["name"])

    def get_providers(self):
        return [self._provider]

    def get_provider_options(self):
        return {self._provider: {"device": self._device.id}}

    def get_session_options(self):
        return self._options

    @property
    def device(self):
        """The morton.Device that it runs on."""
        return self._device

    def run(self, output_names, input_feed, run_options=None):
        """A list of the outputs named, of all for None or []. Inputs are arrays by name: of NumPy, or what has
        `__dlpack__` or `__array__` (PyTorch's tensors on the CPU)."""
        names = output_names or self._output_names
        feed = input_feed if self._is_ready(input_feed) else self._checked(input_feed)
        with named_as_theirs():
            found = self._session.run(feed)
        if self._profile is not None:
            self._profile.add(self._session)
        try:
            return [found[name] for name in names]
        except KeyError as error:
            raise InvalidArgument(f"there is no output {error}; there are {', '.join(self._output_names)}") from None

    def _is_ready(self, feed):
        """Whether these are arrays of the model's types and shapes by its names; `_checked` says why not."""
        if len(feed) != len(self._input_ports):
            return False
        for name, array in feed.items():
            port = self._input_ports.get(name)
            if port is None or type(array) is not np.ndarray or len(port.shape) != array.ndim:
                return False
            if _type_name(array.dtype.name) != port.type:
                return False
            if any(extent != given for extent, given in zip(port.shape, array.shape) if type(extent) is int):
                return False
        return True

    def _checked(self, feed):
        missing = [name for name in self._input_ports if name not in feed]
        if missing:
            raise ValueError(f"Required inputs ({missing}) are missing from input feed ({list(feed)}).")
        arrays = {}
        for name, given in feed.items():
            port = self._input_ports.get(name)
            if port is None:
                raise InvalidArgument(f"there is no input {name}; there are {', '.join(self._input_ports)}")
            array = _as_array(given, name)
            if port.type != _type_name(array.dtype.name):
                raise InvalidArgument(f"input {name} is {_type_name(array.dtype.name)}, expected {port.type}")
            fits = len(port.shape) == array.ndim and all(
                extent == given for extent, given in zip(port.shape, array.shape) if isinstance(extent, int))
            if not fits:
                raise InvalidArgument(f"input {name} is {list(array.shape)}, expected {port.shape}")
            arrays[name] = array
        return arrays

    def run_with_ort_values(self, output_names, input_dict_ort_values, run_options=None):
        feed = {name: value.numpy() for name, value in input_dict_ort_values.items()}
        return [OrtValue(array) for array in self.run(output_names, feed, run_options)]

    def io_binding(self):
        return IOBinding(self)

    def run_with_iobinding(self, iobinding, run_options=None):
        iobinding._run(run_options)

    def run_async(self, output_names, input_feed, callback=None, user_data=None, run_options=None):
        """A run on another thread. With a callback, it is called as callback(outputs, user_data, error's text or "").
        Without one, a concurrent.futures.Future comes back, which asyncio.wrap_future makes awaitable."""
        if self._pool is None:
            self._pool = concurrent.futures.ThreadPoolExecutor(1, "morton-run")
        future = self._pool.submit(self.run, output_names, input_feed, run_options)
        if callback is None:
            return future

        def tell(done):
            error = done.exception()
            callback([] if error else done.result(), user_data, str(error) if error else "")

        future.add_done_callback(tell)
        return None

    def end_profiling(self):
        """Writes what runs took, a trace for chrome://tracing; the file's name."""
        if self._profile is None:
            raise InvalidArgument("end_profiling: SessionOptions.enable_profiling was not set")
        return self._profile.write()

    def get_profiling_start_time_ns(self):
        return self._profile.start_ns if self._profile is not None else 0


def _as_array(given, name):
    if isinstance(given, OrtValue):
        return given.numpy()
    if isinstance(given, np.ndarray):
        return given
    if hasattr(given, "__dlpack__") and not hasattr(given, "__array__"):
        return np.from_dlpack(given)
    array = np.asarray(given)
    if array.dtype == object:
        raise InvalidArgument(f"input {name}: {type(given).__name__} is no array of numbers")
    return array


def _load(source):
    if isinstance(source, _native.Model):
        return source
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _native.Model.from_bytes(bytes(source))
    path = os.fspath(source)
    if not os.path.exists(path):
        raise NoSuchFile(f"{path}: there is no such file")
    return _native.Model.load(path)
