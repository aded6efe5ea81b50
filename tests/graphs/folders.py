# SPDX-License-Identifier: Apache-2.0
"""Where random graphs find the repository, and keep what they have done."""

import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "graphs"
