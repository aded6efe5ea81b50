# SPDX-License-Identifier: Apache-2.0
"""Where programs for ONNX Runtime find its errors."""
from . import onnxruntime_pybind11_state

__all__ = ["onnxruntime_pybind11_state"]
