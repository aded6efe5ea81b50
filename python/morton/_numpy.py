# SPDX-License-Identifier: Apache-2.0
"""Whether the module and NumPy fit each other."""
from __future__ import annotations

import numpy as np

from . import _native


def require_fitting_numpy(numpy: str = np.__version__, pybind11: tuple[int, int] = _native.pybind11_version) -> None:
    """Raises ImportError for NumPy 2 with a module of an older pybind11, which would misread its arrays."""
    if int(numpy.split(".")[0]) >= 2 and tuple(pybind11) < (2, 12):
        built = ".".join(map(str, pybind11))
        raise ImportError(f"morton was built with pybind11 {built}, which does not know NumPy {numpy}: install "
                          "numpy<2, or build morton with pybind11 2.12 or newer")
