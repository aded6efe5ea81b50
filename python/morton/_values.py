# SPDX-License-Identifier: Apache-2.0
"""What sessions take and give: ports, arrays, OrtValue, IOBinding."""
import ctypes

import numpy as np

from ._errors import InvalidArgument

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


def type_name(dtype):
    """ONNX Runtime's name of NumPy's type: "tensor(float)"."""
    return f"tensor({_TYPES.get(dtype, dtype)})"


def dtype_of(element_type):
    """NumPy's type, of a type or its name or ONNX's number."""
    try:
        if isinstance(element_type, int):
            element_type = next(name for name, number in _NUMBERS.items() if number == element_type)
        return np.dtype(element_type)
    except (TypeError, StopIteration):
        raise InvalidArgument(f"element_type {element_type}: NumPy has no such type") from None


class NodeArg:
    """An input or output: its name, its type ("tensor(float)"), its shape with the names of open extents."""

    def __init__(self, port, extents):
        """`extents` has values of open extents, by their names."""
        self.name = port.name
        self.type = type_name(port.dtype)
        self.shape = [extents.get(extent, extent) for extent in port.shape]
        self._dtype = port.dtype

    def __repr__(self):
        return f"NodeArg(name='{self.name}', type='{self.type}', shape={self.shape})"

    def array_of(self, given):
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

    def _of_list(self, numbers):
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

    def __init__(self, array):
        self._array = np.asarray(array)

    @classmethod
    def ortvalue_from_numpy(cls, numpy_obj, device_type="cpu", device_id=0):
        """The array itself, not a copy. `device_type` other than "cpu" is refused: Morton uploads what a run needs."""
        _require_host(device_type)
        return cls(numpy_obj)

    @classmethod
    def ortvalue_from_shape_and_type(cls, shape, element_type, device_type="cpu", device_id=0):
        """Room for an array of this shape and type (NumPy's, or ONNX's number); what it holds is undefined."""
        _require_host(device_type)
        return cls(np.empty(shape, dtype_of(element_type)))

    def numpy(self):
        """The array itself, not a copy."""
        return self._array

    def update_inplace(self, np_arr):
        """Other numbers in the same memory; of the same type and shape."""
        given = np.asarray(np_arr)
        _fill("the value", self._array, given)

    def shape(self):
        """Its extents, a list."""
        return list(self._array.shape)

    def data_type(self):
        """ONNX Runtime's name of its type: "tensor(float)"."""
        return type_name(self._array.dtype.name)

    def element_type(self):
        """ONNX's number of the type."""
        name = self._array.dtype.name
        if name not in _NUMBERS:
            raise InvalidArgument(f"element_type: {name} has no number here")
        return _NUMBERS[name]

    def device_name(self):
        """Always "cpu": values lie in the host's memory."""
        return "cpu"

    def data_ptr(self):
        """The address of its first element."""
        return self._array.ctypes.data

    def has_value(self):
        """Always True: Morton gives no optional values."""
        return True

    def is_tensor(self):
        """Always True: Morton gives tensors alone."""
        return True

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


def _require_host(device_type):
    if device_type != "cpu":
        raise InvalidArgument(f"device_type {device_type}: values lie in the host's memory, 'cpu'; sessions upload them")


def _fill(what, place, value):
    if place.shape != value.shape or place.dtype != value.dtype:
        raise InvalidArgument(f"{what} is {value.dtype} {list(value.shape)}; its place is "
                              f"{place.dtype} {list(place.shape)}")
    if not place.flags.writeable:
        raise InvalidArgument(f"{what}: its place may only be read")
    np.copyto(place, value)


def _array_at(pointer, element_type, shape):
    if not pointer:
        raise InvalidArgument("buffer_ptr: expected an address, got none")
    dtype = dtype_of(element_type)
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    memory = (ctypes.c_byte * size).from_address(pointer)
    return np.frombuffer(memory, dtype=dtype).reshape(shape)


class IOBinding:
    """Inputs and outputs that are bound once, for runs by `InferenceSession.run_with_iobinding`."""

    def __init__(self, session):
        self._session = session
        self._names = {port.name for port in session.get_inputs()}
        self._inputs = {}
        self._outputs = {}
        self._found = {}

    def _bind(self, name, value):
        if name not in self._names:
            raise InvalidArgument(f"there is no input {name}; there are {', '.join(sorted(self._names))}")
        self._inputs[name] = value

    def bind_cpu_input(self, name, arr_on_cpu):
        """The array that the next runs read."""
        self._bind(name, arr_on_cpu)

    def bind_ortvalue_input(self, name, ortvalue):
        """The value that the next runs read."""
        self._bind(name, ortvalue.numpy())

    def bind_input(self, name, device_type, device_id, element_type, shape, buffer_ptr):
        """Memory at an address that the next runs read; `device_type` is "cpu"."""
        _require_host(device_type)
        self._bind(name, _array_at(buffer_ptr, element_type, shape))

    def bind_output(self, name, device_type="cpu", device_id=0, element_type=None, shape=None, buffer_ptr=None):
        """Without a pointer the output's memory is Morton's."""
        _require_host(device_type)
        self._outputs[name] = None if buffer_ptr is None else _array_at(buffer_ptr, element_type, shape)

    def bind_ortvalue_output(self, name, ortvalue):
        """The value that the next runs write into; it has the output's type and shape."""
        self._outputs[name] = ortvalue.numpy()

    def synchronize_inputs(self):
        """Nothing is under way between runs."""

    synchronize_outputs = synchronize_inputs

    def clear_binding_inputs(self):
        """No input is bound any more."""
        self._inputs.clear()

    def clear_binding_outputs(self):
        """No output is bound any more; a run then gives all."""
        self._outputs.clear()
        self._found = {}

    def get_outputs(self):
        """Those of the last run; none where it failed."""
        return [OrtValue(array) for array in self._found.values()]

    def copy_outputs_to_cpu(self):
        """Copies of the last run's outputs, as arrays."""
        return [array.copy() for array in self._found.values()]

    def _run(self, options):
        self._found = {}
        names = list(self._outputs) or [port.name for port in self._session.get_outputs()]
        found = dict(zip(names, self._session.run(names, self._inputs, options)))
        for name, place in self._outputs.items():
            if place is not None:
                _fill(f"output {name}", place, found[name])
                found[name] = place
        self._found = found
