# SPDX-License-Identifier: Apache-2.0
"""python -m morton doctor: what this Python's Morton runs on, and what is missing where it finds no device."""
from __future__ import annotations

import argparse
import os
import platform
import sys
from typing import Any

from . import Device, Error, __version__, devices
from ._drivers import SYSTEM_DRIVERS, VARIABLES


_HINT = "; `python -m morton doctor` shows what is missing"


def _text_of(facts: dict[str, Any]) -> str:
    return (f"{facts['id']:5} {facts['kind']}, {facts['compute_units']} compute units, {facts['name']}\n"
            f"      platform {facts['platform']}: {facts['platform_version'].strip()}; driver {facts['driver_version']}")


def _doctor() -> int:
    print(f"morton {__version__}, Python {platform.python_version()}, {platform.platform()}")
    for name in VARIABLES:
        if name in os.environ:
            print(f"{name}={os.environ[name]}")
    names = sorted(path.name for path in SYSTEM_DRIVERS.glob("*.icd"))
    print(f"drivers that {SYSTEM_DRIVERS} names: {' '.join(names) or 'none'}")
    for facts in devices():
        print(_text_of(facts))
    try:
        Device()  # the words of every other program, where there is none
    except Error as error:
        # Others name this command for more.
        print(f"error: {str(error).replace(_HINT, '')}", file=sys.stderr)
        return 1
    return 0


def main(arguments: list[str] | None = None) -> int:
    """The status for the shell."""
    parser = argparse.ArgumentParser(prog="python -m morton", description=__doc__)
    parser.add_argument("command", help="doctor; the program `morton` has the other commands")
    parser.add_argument("others", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.command != "doctor":
        print(f"error: {given.command}: only `doctor` is here; the program of the Debian package "
              "`morton` has the other commands", file=sys.stderr)
        return 2
    if given.others:
        parser.error(f"doctor takes nothing else, got {' '.join(given.others)}")
    return _doctor()


if __name__ == "__main__":
    sys.exit(main())
