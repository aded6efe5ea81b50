# SPDX-License-Identifier: Apache-2.0
"""Morton runs and trains neural networks on any OpenCL 1.2 device.

A program for ONNX Runtime's Python API runs with its import changed:

    import morton as ort
    session = ort.InferenceSession("model.onnx")
    scores, = session.run(None, {"input": image})

Morton's own interface is that of its C++ library:

    device = morton.Device("gpu")
    model = morton.compile(morton.Model.load("model.onnx"), device, batch=8)
    session = morton.Session(model)
    outputs = session.run({"input": images})
    print(model.plan_text(why=True))
"""
from __future__ import annotations

import json as _json
from typing import Any as _Any

from ._drivers import name_packaged_driver

name_packaged_driver()  # before any call of OpenCL

from ._native import (CompiledModel, Dataset, Device, DeviceError, Error, InternalError, Model, ModelError, NeedsSegments, Port,
                      SegmentedSession, Session, UnsupportedError, UsageError, __version__, compile, convert, device_jsons,
                      picture_normalization, picture_to_input, quantize, read_picture, set_memory_limit, with_checkpoint,
                      with_classes, write_picture)
from ._numpy import require_fitting_numpy
from ._inference import InferenceSession
from ._training import StopTraining, Trainer
from ._values import IOBinding, NodeArg, OrtValue
from ._providers import get_all_providers, get_available_providers, get_device
from ._process import (disable_telemetry_events, enable_telemetry_events, get_build_info, get_version_string, preload_dlls,
                       set_default_logger_severity, set_default_logger_verbosity, set_seed)
from ._options import (ExecutionMode, GraphOptimizationLevel, ModelMetadata, RunOptions, SessionOptions)
from . import capi

require_fitting_numpy()


def devices() -> list[dict[str, _Any]]:
    """Facts of all OpenCL devices, a dict each (docs/devices.md says what they mean)."""
    return [_json.loads(text) for text in device_jsons()]


__all__ = [
    "CompiledModel", "Dataset", "Device", "DeviceError", "Error", "ExecutionMode", "GraphOptimizationLevel", "IOBinding",
    "InferenceSession", "InternalError", "Model", "ModelError", "ModelMetadata", "NeedsSegments", "NodeArg", "OrtValue", "Port",
    "RunOptions", "SegmentedSession", "Session", "SessionOptions", "StopTraining", "Trainer", "UnsupportedError", "UsageError", "__version__",
    "capi", "compile", "convert", "devices", "disable_telemetry_events", "enable_telemetry_events", "get_all_providers",
    "get_available_providers", "get_build_info", "get_device", "get_version_string", "picture_normalization",
    "picture_to_input", "preload_dlls", "quantize", "read_picture", "set_default_logger_severity",
    "set_default_logger_verbosity", "set_memory_limit", "set_seed", "with_checkpoint", "with_classes",
    "write_picture",
]
