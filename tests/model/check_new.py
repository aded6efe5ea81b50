#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what `morton new` writes with ONNX's own checker, shapes included.

Usage: check_new.py MORTON NAME...   (MORTON is the program; each NAME an architecture)
"""
import pathlib
import subprocess
import sys
import tempfile

import onnx


def check(program, name, folder):
    """Writes the network, then has ONNX check it in full. Returns its number of nodes."""
    path = pathlib.Path(folder) / (name + ".onnx")
    subprocess.run([program, "new", name, "-o", str(path), "-q"], check=True)
    model = onnx.load(str(path))
    onnx.checker.check_model(model, full_check=True)
    inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    for output in inferred.graph.output:
        if not output.type.tensor_type.HasField("shape"):
            raise SystemExit(f"{name}: the output '{output.name}' has no shape")
    path.unlink()
    return len(model.graph.node)


def main():
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    for name in sys.argv[2:]:
        with tempfile.TemporaryDirectory() as folder:
            print(f"{name}: {check(sys.argv[1], name, folder)} nodes", flush=True)


if __name__ == "__main__":
    main()
