# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime's InferenceSession on Morton."""
from __future__ import annotations

import concurrent.futures.thread
import mmap
import os
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from . import _native
from ._entries import compile_options, open_extents
from ._errors import Fail, InvalidArgument, InvalidProtobuf, NoSuchFile, NotImplemented, named_as_theirs, their_error
from ._options import ModelMetadata, RunOptions, SessionOptions
from ._profile import Profile
from ._protobuf import is_model
from ._providers import first_device
from ._values import IOBinding, NodeArg, OrtValue, type_name


class InferenceSession:
    """A model that runs on an OpenCL device, with ONNX Runtime's names.

    `path_or_bytes` is a path, the bytes of an ONNX model, or a `morton.Model`. `providers` names
    "MortonExecutionProvider" (any OpenCL device) or "CPUExecutionProvider"; the first that opens is taken. An option
    "device" chooses as `morton.Device` does: `providers=[("MortonExecutionProvider", {"device": "Mali"})]`.

    A model whose extents are all known is planned and built here. One with open extents is planned when a run brings
    shapes for the first time; plans of 16 shapes are kept. Any thread may call `run`; runs follow each other.
    """

    def __init__(self, path_or_bytes: str | os.PathLike[str] | bytes | bytearray | memoryview | _native.Model,
                 sess_options: SessionOptions | None = None,
                 providers: Sequence[str | tuple[str, Mapping[str, str]]] | str | None = None,
                 provider_options: Sequence[Mapping[str, str]] | Mapping[str, str] | None = None,
                 **others: Any) -> None:
        for name in others:
            if name not in ("disabled_optimizers", "enable_fallback"):
                raise TypeError(f"InferenceSession has no argument {name}")
        if others.get("disabled_optimizers"):
            warnings.warn("disabled_optimizers: the names are ONNX Runtime's; Morton's passes are left out by "
                          "the entry morton.skip_passes", stacklevel=2)
        self._options = sess_options or SessionOptions()
        if self._options.intra_op_num_threads > 0 and self._options.log_severity_level <= 2:
            warnings.warn("intra_op_num_threads: the OpenCL driver has its own threads (of PoCL "
                          "POCL_MAX_PTHREAD_COUNT in the environment says how many)", stacklevel=2)
        if self._options.optimized_model_filepath:
            raise NotImplemented("optimized_model_filepath: Morton writes no optimised model")
        with named_as_theirs():
            self._model = _load(path_or_bytes)
            _require_tensors("input", self._model.inputs)
            _require_tensors("output", self._model.outputs)
            self._provider, self._device = first_device(providers, provider_options)
            options = compile_options(self._options)
            extents = open_extents(self._options, self._model, options)
            self._inputs = [NodeArg(port, extents) for port in self._model.inputs]
            self._outputs = [NodeArg(port, extents) for port in self._model.outputs]
            self._output_names = [port.name for port in self._outputs]
            self._input_ports = {port.name: port for port in self._inputs}
            self._profile = Profile(self._options) if self._options.enable_profiling else None
            self._compiled: _native.CompiledModel | None = None
            self._session: Any = self._make_session(options)
        self._told: set[str] = set()
        self._tell_fallbacks()
        self._pool: concurrent.futures.thread.ThreadPoolExecutor | None = None
        self._pool_lock = threading.Lock()

    def _make_session(self, options: dict[str, Any]) -> _native.Session | _native.SegmentedSession:
        shapes: dict[str, Any] = {port.name: port.shape for port in self._inputs}
        is_open = any(not isinstance(extent, int) for shape in shapes.values() for extent in shape)
        has_any_shape = any(port.has_any_shape for port in self._model.inputs)
        if is_open or has_any_shape or self._model.summary["planned_inputs"]:
            return _native.SegmentedSession(self._model, self._device, options)
        try:
            self._compiled = _native.compile(self._model, self._device, shapes=shapes, **options)
        except _native.NeedsSegments:
            return _native.SegmentedSession(self._model, self._device, options)
        return _native.Session(self._compiled, profiling=self._profile is not None)

    def _tell_fallbacks(self) -> None:
        """Warns of each fallback that nobody was told of. Plans may be made in any run where extents are open."""
        for text in self.report.get("fallbacks", []):
            if text not in self._told:
                self._told.add(text)
                warnings.warn(text, stacklevel=3)

    @property
    def report(self) -> Mapping[str, Any]:
        """Where kernels came from, times and bytes: a dict. Of a session that plans for each shape what its last
        run took."""
        return self._session.report if self._compiled is None else self._compiled.report

    def get_inputs(self) -> list[NodeArg]:
        """The model's inputs, a NodeArg each."""
        return list(self._inputs)

    def get_outputs(self) -> list[NodeArg]:
        """The model's outputs, a NodeArg each."""
        return list(self._outputs)

    def get_overridable_initializers(self) -> list[NodeArg]:
        """Constants that the model lists among its inputs. Their values are the model's: a run replaces none."""
        return [NodeArg(port, {}) for port in self._model.replaceable_constants]

    def get_modelmeta(self) -> ModelMetadata:
        """The model's ModelMetadata."""
        return ModelMetadata(self._model.summary["name"], self._model.facts)

    def get_providers(self) -> list[str]:
        """The provider that runs the model, in a list."""
        return [self._provider]

    def set_providers(self, providers: Sequence[str | tuple[str, Mapping[str, str]]] | str | None = None,
                      provider_options: Sequence[Mapping[str, str]] | Mapping[str, str] | None = None) -> None:
        """Takes the first of these whose device opens; a model whose extents are known is planned anew. No run may be
        under way."""
        with named_as_theirs():
            self._provider, self._device = first_device(providers, provider_options)
            self._compiled = None
            self._session = self._make_session(compile_options(self._options))
        self._tell_fallbacks()

    def enable_fallback(self) -> None:
        """Nothing: a run that fails is an error, and is not tried on another provider."""

    disable_fallback = enable_fallback

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        """The device that the provider chose: {provider: {"device": "0:0"}}."""
        return {self._provider: {"device": self._device.id}}

    def get_session_options(self) -> SessionOptions:
        """The SessionOptions that the session was made with."""
        return self._options

    @property
    def device(self) -> _native.Device:
        """The morton.Device that it runs on."""
        return self._device

    def run(self, output_names: Sequence[str] | None, input_feed: Mapping[str, Any],
            run_options: RunOptions | None = None) -> list[np.ndarray]:
        """A list of the outputs named, of all for None or []. Inputs are arrays by name: of NumPy, or what has
        `__dlpack__` or `__array__` (PyTorch's tensors on the CPU)."""
        names = self._chosen(output_names)
        feed = input_feed if self._is_ready(input_feed) else self._checked(input_feed)
        if run_options is not None and run_options.terminate:
            raise Fail("terminate is set in the options of this run")
        start_ns = 0 if self._profile is None else time.perf_counter_ns()
        try:
            found = self._session.run(feed)
        except _native.ModelError as error:  # the model was taken, so it is these inputs that do not fit
            raise InvalidArgument(str(error)) from error
        except _native.Error as error:
            raise their_error(error) from error
        if self._compiled is None:
            self._tell_fallbacks()
        if self._profile is not None:
            self._profile.add(self._session, start_ns)
        return [found[name] for name in names]

    def _chosen(self, names: Sequence[str] | None) -> Sequence[str]:
        if names is None or len(names) == 0:
            return self._output_names
        if isinstance(names, str):
            raise InvalidArgument(f"output_names: expected a list of names, got the text '{names}'")
        for name in names:
            if name not in self._output_names:
                raise InvalidArgument(f"there is no output '{name}'; there are {', '.join(self._output_names)}")
        return names

    def _is_ready(self, feed: Mapping[str, Any]) -> bool:
        """Whether these are arrays of the model's types and shapes by its names; `_checked` says why not."""
        ports = self._input_ports
        if len(feed) != len(ports):
            return False
        for name, array in feed.items():
            port = ports.get(name)
            if port is None or type(array) is not np.ndarray or array.dtype != port.dtype:
                return False
            shape = array.shape
            if len(port.shape) != len(shape):
                return False
            for d, extent in port.known_extents:
                if shape[d] != extent:
                    return False
        return True

    def _checked(self, feed: Mapping[str, Any]) -> dict[str, np.ndarray]:
        missing = [name for name in self._input_ports if name not in feed]
        if missing:
            raise ValueError(f"Required inputs ({missing}) are missing from input feed ({list(feed)}).")
        arrays = {}
        for name, given in feed.items():
            port = self._input_ports.get(name)
            if port is None:
                self._refuse(name)
            array = port.array_of(given)
            if port.type != type_name(array.dtype.name):
                raise InvalidArgument(f"input {name} is {type_name(array.dtype.name)}, expected {port.type}")
            fits = len(port.shape) == array.ndim and all(
                extent == given for extent, given in zip(port.shape, array.shape) if isinstance(extent, int))
            if not fits:
                raise InvalidArgument(f"input {name} is {list(array.shape)}, expected {port.shape}")
            arrays[name] = array
        return arrays

    def _refuse(self, name: str) -> NoReturn:
        if any(port.name == name for port in self._model.replaceable_constants):
            raise NotImplemented(f"{name} is a constant of the model, and a run replaces none. Make it an input alone: "
                                 "take it out of the model's initializers")
        raise InvalidArgument(f"there is no input {name}; there are {', '.join(self._input_ports)}")

    def run_with_ort_values(self, output_names: Sequence[str] | None, input_dict_ort_values: Mapping[str, OrtValue],
                            run_options: RunOptions | None = None) -> list[OrtValue]:
        """As `run`, of OrtValues and to OrtValues."""
        feed = {name: value.numpy() for name, value in input_dict_ort_values.items()}
        return [OrtValue(array) for array in self.run(output_names, feed, run_options)]

    def io_binding(self) -> IOBinding:
        """A new IOBinding for this session."""
        return IOBinding(self)

    def run_with_iobinding(self, iobinding: IOBinding, run_options: RunOptions | None = None) -> None:
        """A run on what is bound. The binding's get_outputs then has the outputs."""
        iobinding._run(run_options)

    def run_async(self, output_names: Sequence[str] | None, input_feed: Mapping[str, Any],
                  callback: Callable[[list[np.ndarray], Any, str], object] | None = None, user_data: Any = None,
                  run_options: RunOptions | None = None) -> concurrent.futures.Future[list[np.ndarray]] | None:
        """A run on another thread. With a callback, it is called as callback(outputs, user_data, error's text or "").
        Without one, a concurrent.futures.Future comes back, which asyncio.wrap_future makes awaitable."""
        _native.require_own_process()  # the threads of a pool do not follow a fork
        with self._pool_lock:
            if self._pool is None:
                self._pool = concurrent.futures.thread.ThreadPoolExecutor(1, "morton-run")
        try:
            future = self._pool.submit(self.run, output_names, input_feed, run_options)
        except RuntimeError as error:
            raise Fail(f"run_async: Python is ending, and starts no thread any more ({error})") from error
        if callback is None:
            return future
        told = callback

        def tell(done: concurrent.futures.Future[list[np.ndarray]]) -> None:
            error = done.exception()
            told([] if error else done.result(), user_data, str(error) if error else "")

        future.add_done_callback(tell)
        return None

    def end_profiling(self) -> str:
        """Writes what runs took, a trace for chrome://tracing; the file's name."""
        if self._profile is None:
            raise InvalidArgument("end_profiling: SessionOptions.enable_profiling was not set")
        return self._profile.write()

    def get_profiling_start_time_ns(self) -> int:
        """When profiling began, on time.perf_counter_ns; 0 where it did not."""
        return self._profile.start_ns if self._profile is not None else 0


def _require_tensors(what: str, ports: list[_native.Port]) -> None:
    for port in ports:
        if not port.is_tensor:
            raise NotImplemented(f"{what} {port.name} is a list or an optional value; InferenceSession takes and gives "
                                 "tensors alone. morton.compile takes a list's length in shapes")


def _load(source: Any) -> _native.Model:
    if isinstance(source, _native.Model):
        return source
    if isinstance(source, (bytes, bytearray, memoryview)):
        data = bytes(source)
        try:
            return _native.Model.from_bytes(data)
        except _native.ModelError as error:
            _refuse_other_bytes(data, error)
            raise
    path = os.fspath(source)
    if not os.path.exists(path):
        raise NoSuchFile(f"{path}: there is no such file")
    try:
        return _native.Model.load(path)
    except _native.ModelError as error:
        if path.endswith(".onnx") and os.path.isfile(path):
            with open(path, "rb") as file:
                is_empty = os.fstat(file.fileno()).st_size == 0
                _refuse_other_bytes(b"" if is_empty else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), error)
        raise


def _refuse_other_bytes(data: Any, error: _native.ModelError) -> None:
    if not is_model(data):
        raise InvalidProtobuf(str(error)) from error
