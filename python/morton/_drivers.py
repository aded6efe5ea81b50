# SPDX-License-Identifier: Apache-2.0
"""Where OpenCL's loader finds a driver that pip installed: no `.icd` file of the system names it.

`pip install 'morton[cpu]'` brings Intel's OpenCL for processors. It is used where the system has no driver at all, and
where none of the loader's variables is set. A system's drivers are never replaced.
"""
from __future__ import annotations

import os
from collections.abc import Callable, MutableMapping
from pathlib import Path

SYSTEM_DRIVERS = Path("/etc/OpenCL/vendors")
VARIABLES = ("OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "OPENCL_VENDOR_PATH")
# A package of PyPI and the driver's library in it. It finds the library's own libraries beside itself.
_PACKAGES = {"intel-opencl-rt": "libintelocl.so"}


def packaged_driver() -> Path | None:
    """The library of the first driver that a package of this Python holds; None where there is none."""
    import importlib.metadata  # takes 18 ms, and a machine with a driver never needs it

    for package, library in _PACKAGES.items():
        try:
            files = importlib.metadata.files(package) or []
        except importlib.metadata.PackageNotFoundError:
            continue
        for file in files:
            if file.name == library and (path := Path(str(file.locate())).resolve()).is_file():
                return path
    return None


def name_packaged_driver(environment: MutableMapping[str, str] = os.environ, system: Path = SYSTEM_DRIVERS,
                         find: Callable[[], Path | None] = packaged_driver) -> None:
    """Tells the loader of such a driver, by OCL_ICD_VENDORS, where it would find none. The loader reads the variable at
    OpenCL's first call in a process."""
    if any(name in environment for name in VARIABLES) or any(system.glob("*.icd")):
        return
    driver = find()
    if driver is not None:
        environment["OCL_ICD_VENDORS"] = str(driver)
