# SPDX-License-Identifier: Apache-2.0
"""What ONNX Runtime's programs set of, and ask of, the whole process."""
from __future__ import annotations

import warnings
from typing import Any

from . import _native
from ._errors import InvalidArgument

_FATAL = 4
defaults = {"severity": 2, "verbosity": 0}


def set_default_logger_severity(severity: int) -> None:
    """The `log_severity_level` of options that are made from now on: 0 (verbose) to 4 (fatal). From 3 on nothing warns
    of settings without a meaning here."""
    if not 0 <= severity <= _FATAL:
        raise InvalidArgument(f"severity {severity}: expected 0 (verbose) to {_FATAL} (fatal)")
    defaults["severity"] = int(severity)


def set_default_logger_verbosity(verbosity: int) -> None:
    """The `log_verbosity_level` of options that are made from now on. It is kept, and changes nothing."""
    defaults["verbosity"] = int(verbosity)


def set_seed(seed: int) -> None:
    """Changes nothing, and a warning says so: what a node draws follows from its own seed, or from its name. So it is
    the same in every run of every process."""
    if defaults["severity"] <= 2:
        warnings.warn(f"set_seed {seed}: draws follow from a node's own seed, or from its name; they are the same in "
                      "every process already", stacklevel=2)


def enable_telemetry_events() -> None:
    """Nothing: Morton sends no events."""


def disable_telemetry_events() -> None:
    """Nothing: Morton sends no events."""


def preload_dlls(cuda: bool = True, cudnn: bool = True, msvc: bool = True, directory: Any = None) -> None:
    """Nothing: OpenCL's loader finds the drivers (`morton doctor`)."""


def get_version_string() -> str:
    """Morton's version, `__version__`."""
    return _native.__version__


def get_build_info() -> str:
    """Morton's version, and that of pybind11, which the module was built with."""
    return f"Morton {_native.__version__}, pybind11 {'.'.join(map(str, _native.pybind11_version))}"
