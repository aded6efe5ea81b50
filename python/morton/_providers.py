# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime's providers: which OpenCL device a session runs on."""
from __future__ import annotations

import json
import warnings
from typing import Any

from . import _native
from ._errors import InvalidArgument

_PROVIDERS = {"MortonExecutionProvider": "", "CPUExecutionProvider": "cpu"}


def get_available_providers() -> list[str]:
    """MortonExecutionProvider is any OpenCL device, a GPU if there is one; CPUExecutionProvider the processor's."""
    return list(_PROVIDERS)


get_all_providers = get_available_providers


def get_device() -> str:
    """"CPU" or "GPU": what a session without providers runs on."""
    return json.loads(_native.Device().json)["kind"].upper()


def _pairs(providers: Any, provider_options: Any) -> list[tuple[str, dict[str, str]]]:
    """Names and options of the providers that are to be tried, in order."""
    if not providers:
        if provider_options:
            raise InvalidArgument("provider_options: there are no providers that they would be of")
        return [("MortonExecutionProvider", {})]
    given = [providers] if isinstance(providers, str) else list(providers)
    extra = [provider_options] if isinstance(provider_options, dict) else provider_options
    if extra is not None and len(extra) != len(given):
        raise InvalidArgument(f"provider_options: there are {len(extra)}, expected one for each of the "
                              f"{len(given)} providers")
    pairs = []
    for i, provider in enumerate(given):
        name, options = provider if isinstance(provider, (tuple, list)) else (provider, None)
        if options is None:
            options = extra[i] if extra else {}
        if name in _PROVIDERS:
            pairs.append((name, dict(options)))
        else:
            warnings.warn(f"provider {name} is not Morton's and is left out; MortonExecutionProvider runs on a GPU if "
                          "there is one, CPUExecutionProvider on the processor", stacklevel=4)
    if not pairs:
        raise InvalidArgument(f"none of the providers {given} is Morton's; there are {', '.join(_PROVIDERS)}")
    for name, options in pairs:
        for key in options:
            if key != "device":
                raise InvalidArgument(f"provider {name}: there is no option {key}; there is device")
    return pairs


def first_device(providers: Any, provider_options: Any) -> tuple[str, _native.Device]:
    """The first provider whose device opens, and that device. A warning says why another one was passed over."""
    pairs = _pairs(providers, provider_options)
    for name, options in pairs[:-1]:
        try:
            return name, _native.Device(options.get("device", _PROVIDERS[name]))
        except (_native.DeviceError, _native.UsageError) as error:
            _native.require_own_process()
            warnings.warn(f"provider {name} is passed over: {error}", stacklevel=3)
    name, options = pairs[-1]
    return name, _native.Device(options.get("device", _PROVIDERS[name]))
