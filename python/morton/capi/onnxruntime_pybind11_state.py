# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime's errors by its names. Each is an error of Morton too."""
from .._errors import Fail, InvalidArgument, InvalidGraph, InvalidProtobuf, NoSuchFile, NotImplemented

__all__ = ["Fail", "InvalidArgument", "InvalidGraph", "InvalidProtobuf", "NoSuchFile", "NotImplemented"]
