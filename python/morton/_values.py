# SPDX-License-Identifier: Apache-2.0
"""What sessions take and give: ports, arrays, OrtValue, IOBinding."""
from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _native
from ._errors import InvalidArgument

if TYPE_CHECKING:
    from ._inference import InferenceSession

_TYPES = {
    "float32": "float", "float16": "float16", "float64": "double", "bool": "bool", "bfloat16": "bfloat16",
    "int8": "int8", "uint8": "uint8", "int16": "int16", "uint16": "uint16", "int32": "int32", "uint32": "uint32",
    "int64": "int64", "uint64": "uint64",
}
# ONNX's numbers of the types (TensorProto.DataType).
_NUMBERS = {
    "float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "bool": 9, "float16": 10,
    "float64": 11, "uint32": 12, "uint64": 13, "bfloat16": 16,
}


def type_name(dtype: str) -> str:
    """ONNX Runtime's name of NumPy's type: "tensor(float)"."""
    return f"tensor({_TYPES.get(dtype, dtype)})"


def dtype_of(element_type: Any) -> np.dtype:
    """NumPy's type, of a type or its name or ONNX's number."""
    try:
        if isinstance(element_type, int):
            element_type = next(name for name, number in _NUMBERS.items() if number == element_type)
        return np.dtype(element_type)
    except (TypeError, StopIteration):
        raise InvalidArgument(f"element_type {element_type}: NumPy has no such type") from None


class NodeArg:
    """An input or output: its name, its type ("tensor(float)"), its shape with the names of open extents."""

    def __init__(self, port: _native.Port, extents: Mapping[str, int]) -> None:
        """`extents` has values of open extents, by their names."""
        self.name = port.name
        self.type = type_name(port.dtype)
        self.shape: list[int | str | None] = [
            extents.get(extent, extent) if isinstance(extent, str) else extent for extent in port.shape]
        self._dtype = port.dtype
        try:
            self.dtype: np.dtype = np.dtype(port.dtype)  # of an array that is taken as it is
        except TypeError:
            self.dtype = np.dtype("V1")  # of no array: those of ml_dtypes are told by their names
        self.known_extents = [(d, extent) for d, extent in enumerate(self.shape) if isinstance(extent, int)]

    def __repr__(self) -> str:
        return f"NodeArg(name='{self.name}', type='{self.type}', shape={self.shape})"

    def array_of(self, given: Any) -> np.ndarray:
        """An array of what a program gives for this input. Numbers and lists of them get its type."""
        if isinstance(given, OrtValue):
            return given.numpy()
        if isinstance(given, np.ndarray):
            return given
        try:
            if isinstance(given, (list, tuple, int, float)):
                return self._of_list(np.asarray(given))
            if hasattr(given, "__dlpack__") and not hasattr(given, "__array__"):
                return np.from_dlpack(given)
            array = np.asarray(given)
        except MemoryError:
            raise
        except Exception as error:
            raise InvalidArgument(f"input {self.name}: {type(given).__name__} gives no array: {error}") from error
        if array.dtype == object:
            raise InvalidArgument(f"input {self.name}: {type(given).__name__} is no array of numbers")
        return array

    def _of_list(self, numbers: np.ndarray) -> np.ndarray:
        dtype = np.dtype(self._dtype)
        if numbers.dtype.kind not in "biuf" or (numbers.size and dtype.kind in "biu" and numbers.dtype.kind == "f"):
            raise ValueError(f"a list of {numbers.dtype} is none of {dtype}")
        with np.errstate(over="ignore"):
            array = numbers.astype(dtype)
        exact = dtype.kind in "biu"
        if not (np.array_equal(array, numbers) if exact else np.array_equal(np.isinf(array), np.isinf(numbers))):
            raise ValueError(f"{dtype} does not hold all its numbers")
        return array


class OrtValue:
    """An array that a session takes or gives. It lies in the host's memory."""

    def __init__(self, array: Any) -> None:
        self._array = np.asarray(array)

    @classmethod
    def ortvalue_from_numpy(cls, numpy_obj: np.ndarray, device_type: str = "cpu", device_id: int = 0) -> OrtValue:
        """The array itself, not a copy. `device_type` other than "cpu" is refused: Morton uploads what a run needs."""
        _require_host(device_type)
        return cls(numpy_obj)

    @classmethod
    def ortvalue_from_shape_and_type(cls, shape: Sequence[int], element_type: Any, device_type: str = "cpu",
                                     device_id: int = 0) -> OrtValue:
        """Room for an array of this shape and type (NumPy's, or ONNX's number); what it holds is undefined."""
        _require_host(device_type)
        return cls(np.empty(shape, dtype_of(element_type)))

    def numpy(self) -> np.ndarray:
        """The array itself, not a copy."""
        return self._array

    def update_inplace(self, np_arr: Any) -> None:
        """Other numbers in the same memory; of the same type and shape."""
        given = np.asarray(np_arr)
        _fill("the value", self._array, given)

    def shape(self) -> list[int]:
        """Its extents, a list."""
        return list(self._array.shape)

    def data_type(self) -> str:
        """ONNX Runtime's name of its type: "tensor(float)"."""
        return type_name(self._array.dtype.name)

    def element_type(self) -> int:
        """ONNX's number of the type."""
        name = self._array.dtype.name
        if name not in _NUMBERS:
            raise InvalidArgument(f"element_type: {name} has no number here")
        return _NUMBERS[name]

    def device_name(self) -> str:
        """Always "cpu": values lie in the host's memory."""
        return "cpu"

    @classmethod
    def from_dlpack(cls, data: Any) -> OrtValue:
        """What has `__dlpack__` on the CPU, such as PyTorch's tensors, on the same memory."""
        return cls(np.from_dlpack(data))

    def tensor_size_in_bytes(self) -> int:
        """The bytes of its elements."""
        return self._array.nbytes

    def data_ptr(self) -> int:
        """The address of its first element."""
        return self._array.ctypes.data

    def has_value(self) -> bool:
        """Always True: Morton gives no optional values."""
        return True

    def is_tensor(self) -> bool:
        """Always True: Morton gives tensors alone."""
        return True

    def is_tensor_sequence(self) -> bool:
        """Always False, likewise."""
        return False

    is_sparse_tensor = is_tensor_sequence

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()


def _require_host(device_type: str) -> None:
    if device_type != "cpu":
        raise InvalidArgument(f"device_type {device_type}: values lie in the host's memory, 'cpu'; sessions upload them")


def _fill(what: str, place: np.ndarray, value: np.ndarray) -> None:
    if place.shape != value.shape or place.dtype != value.dtype:
        raise InvalidArgument(f"{what} is {value.dtype} {list(value.shape)}; its place is "
                              f"{place.dtype} {list(place.shape)}")
    if not place.flags.writeable:
        raise InvalidArgument(f"{what}: its place may only be read")
    np.copyto(place, value)


def _array_at(pointer: int, element_type: Any, shape: Sequence[int]) -> np.ndarray:
    if not pointer:
        raise InvalidArgument("buffer_ptr: expected an address, got none")
    dtype = dtype_of(element_type)
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    memory = (ctypes.c_byte * size).from_address(pointer)
    return np.frombuffer(memoryview(memory), dtype=dtype).reshape(shape)


class IOBinding:
    """Inputs and outputs that are bound once, for runs by `InferenceSession.run_with_iobinding`."""

    def __init__(self, session: InferenceSession) -> None:
        self._session = session
        self._names = {port.name for port in session.get_inputs()}
        self._inputs: dict[str, Any] = {}
        self._outputs: dict[str, np.ndarray | None] = {}
        self._found: dict[str, np.ndarray] = {}

    def _bind(self, name: str, value: Any) -> None:
        if name not in self._names:
            raise InvalidArgument(f"there is no input {name}; there are {', '.join(sorted(self._names))}")
        self._inputs[name] = value

    def bind_cpu_input(self, name: str, arr_on_cpu: Any) -> None:
        """The array that the next runs read."""
        self._bind(name, arr_on_cpu)

    def bind_ortvalue_input(self, name: str, ortvalue: OrtValue) -> None:
        """The value that the next runs read."""
        self._bind(name, ortvalue.numpy())

    def bind_input(self, name: str, device_type: str, device_id: int, element_type: Any, shape: Sequence[int],
                   buffer_ptr: int) -> None:
        """Memory at an address that the next runs read; `device_type` is "cpu"."""
        _require_host(device_type)
        self._bind(name, _array_at(buffer_ptr, element_type, shape))

    def bind_output(self, name: str, device_type: str = "cpu", device_id: int = 0, element_type: Any = None,
                    shape: Any = None, buffer_ptr: int | None = None) -> None:
        """Without a pointer the output's memory is Morton's."""
        _require_host(device_type)
        self._outputs[name] = None if buffer_ptr is None else _array_at(buffer_ptr, element_type, shape)

    def bind_ortvalue_output(self, name: str, ortvalue: OrtValue) -> None:
        """The value that the next runs write into; it has the output's type and shape."""
        self._outputs[name] = ortvalue.numpy()

    def synchronize_inputs(self) -> None:
        """Nothing is under way between runs."""

    synchronize_outputs = synchronize_inputs

    def clear_binding_inputs(self) -> None:
        """No input is bound any more."""
        self._inputs.clear()

    def clear_binding_outputs(self) -> None:
        """No output is bound any more; a run then gives all."""
        self._outputs.clear()
        self._found = {}

    def get_outputs(self) -> list[OrtValue]:
        """Those of the last run; none where it failed."""
        return [OrtValue(array) for array in self._found.values()]

    def copy_outputs_to_cpu(self) -> list[np.ndarray]:
        """Copies of the last run's outputs, as arrays."""
        return [array.copy() for array in self._found.values()]

    def _run(self, options: Any) -> None:
        self._found = {}
        names = list(self._outputs) or [port.name for port in self._session.get_outputs()]
        found = dict(zip(names, self._session.run(names, self._inputs, options)))
        for name, place in self._outputs.items():
            if place is not None:
                _fill(f"output {name}", place, found[name])
                found[name] = place
        self._found = found
