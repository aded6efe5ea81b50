# SPDX-License-Identifier: Apache-2.0
"""Interpreters with packages of PyPI, for scripts that compare Morton with them."""

import pathlib
import subprocess
import sys


def interpreter_with(packages, folder):
    """The path of an interpreter in `folder` that has the packages. The first call makes it there."""
    folder = pathlib.Path(folder)
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        print(f"installing {', '.join(packages)} from PyPI into {folder}", file=sys.stderr, flush=True)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "--quiet", "--disable-pip-version-check", "install", *packages], check=True)
        (folder / "ready").touch()
    return str(python)
