# SPDX-License-Identifier: Apache-2.0
"""What a check needs that not every Python has."""

import importlib
import sys

# As ctest's SKIP_RETURN_CODE has it.
SKIPPED = 77


def needs(script, *packages):
    """Ends the check, skipped, where a package is missing; says so as GoogleTest does, which ./dev test counts."""
    missing = []
    for package in packages:
        try:
            importlib.import_module(package)
        except ImportError:
            missing.append(package)
    if missing:
        print(f"{script}:1: Skipped\n{sys.executable} lacks {', '.join(missing)}: install by pip in a virtual "
              "environment, and configure with -DMORTON_TRAINING_PYTHON=that/bin/python", flush=True)
        sys.exit(SKIPPED)
