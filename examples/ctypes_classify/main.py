#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A digit that a network recognizes, from Python through ctypes: no package is needed.

    main.py LIBMORTON.so                                  a seven, with LeNet-5
    main.py LIBMORTON.so DIGIT.png [MODEL.onnx [DEVICE]]

The paths that are assumed hold in the repository's root.
"""

import ctypes
import sys
from ctypes import POINTER, byref, c_char_p, c_float, c_int32, c_int64, c_size_t, c_void_p


class Port(ctypes.Structure):
    """morton_port of morton/c/base.h."""
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("type", c_int32), ("is_tensor", c_int32),
                ("rank", c_size_t), ("extents", POINTER(c_int64)), ("symbols", POINTER(c_char_p)),
                ("counts", POINTER(c_char_p)), ("bytes", c_size_t)]


class Tensor(ctypes.Structure):
    """morton_tensor of morton/c/files.h."""
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("type", c_int32), ("reserved", c_int32),
                ("rank", c_size_t), ("extents", POINTER(c_int64)), ("data", c_void_p),
                ("bytes", c_size_t)]


# What each function takes; all of them return a status. ctypes cannot know.
TAKES = {
    "morton_device_open": [c_char_p, c_void_p, POINTER(c_void_p)],
    "morton_model_load": [c_char_p, POINTER(c_void_p)],
    "morton_compile": [c_void_p, c_void_p, c_void_p, POINTER(c_void_p)],
    "morton_compiled_input": [c_void_p, c_size_t, POINTER(Port)],
    "morton_compiled_output": [c_void_p, c_size_t, POINTER(Port)],
    "morton_tensors_read": [c_char_p, POINTER(c_void_p)],
    "morton_tensors_at": [c_void_p, c_size_t, POINTER(Tensor)],
    "morton_image_to_input": [POINTER(Tensor), POINTER(c_int64), c_size_t, c_void_p, c_size_t],
    "morton_session_create": [c_void_p, c_void_p, POINTER(c_void_p)],
    "morton_session_set_input": [c_void_p, c_char_p, c_void_p, c_size_t],
    "morton_session_run": [c_void_p],
    "morton_session_get_output": [c_void_p, c_char_p, c_void_p, c_size_t],
}


class Morton:
    """The library: `call` raises what a function says where it fails, `make` returns its handle."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.library.morton_last_error.restype = c_char_p
        for name, types in TAKES.items():
            function = getattr(self.library, name)
            function.argtypes, function.restype = types, c_int32

    def call(self, name, *arguments):
        if getattr(self.library, name)(*arguments) != 0:
            raise RuntimeError(self.library.morton_last_error().decode())

    def make(self, name, *arguments):
        handle = c_void_p()
        self.call(name, *arguments, byref(handle))
        return handle

    def free(self, name, handle):
        function = getattr(self.library, name)
        function.argtypes, function.restype = [c_void_p], None
        function(handle)


def classify(morton, picture, model_file, selector):
    device = morton.make("morton_device_open", selector, None)
    model = morton.make("morton_model_load", model_file)
    compiled = morton.make("morton_compile", model, device, None)
    takes, gives = Port(ctypes.sizeof(Port)), Port(ctypes.sizeof(Port))
    morton.call("morton_compiled_input", compiled, 0, byref(takes))
    morton.call("morton_compiled_output", compiled, 0, byref(gives))

    digit = (c_float * (takes.bytes // 4))()
    pictures = morton.make("morton_tensors_read", picture)
    pixels = Tensor(ctypes.sizeof(Tensor))
    morton.call("morton_tensors_at", pictures, 0, byref(pixels))
    morton.call("morton_image_to_input", byref(pixels), takes.extents, takes.rank, digit,
                takes.bytes)

    probabilities = (c_float * (gives.bytes // 4))()
    session = morton.make("morton_session_create", compiled, None)
    morton.call("morton_session_set_input", session, takes.name, digit, takes.bytes)
    morton.call("morton_session_run", session)
    morton.call("morton_session_get_output", session, gives.name, probabilities, gives.bytes)
    for kind, handle in (("tensors", pictures), ("session", session), ("compiled", compiled),
                         ("model", model), ("device", device)):
        morton.free(f"morton_{kind}_free", handle)
    return list(probabilities)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    given = dict(enumerate(sys.argv))
    picture = given.get(2, "examples/data/digit_7.png")
    try:
        probabilities = classify(Morton(given[1]), picture.encode(),
                                 given.get(3, "models/lenet5.onnx").encode(),
                                 given.get(4, "").encode())
    except (OSError, RuntimeError) as error:
        sys.exit(f"error: {error}")
    best = max(range(len(probabilities)), key=probabilities.__getitem__)
    print(f"{picture} shows a {best} ({100 * probabilities[best]:.2f} %)")


main()
