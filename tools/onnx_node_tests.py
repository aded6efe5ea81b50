#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the tests of operators that PyPI's `onnx` defines into a folder, a folder of its own for each, as
`morton conformance` reads them:

  python3 -m venv /tmp/onnx && /tmp/onnx/bin/pip install onnx==1.23.2
  /tmp/onnx/bin/python3 tools/onnx_node_tests.py /tmp/onnx/tests
  build/morton conformance /tmp/onnx/tests

The values come from ONNX's own definitions in NumPy. Tests whose values are no tensors (sequences, maps, optionals) are
written as ONNX writes them."""

import argparse
import pathlib
import shutil
import sys

import numpy
import onnx
from onnx import numpy_helper


def message(value, info):
    """The file's bytes of an input or output."""
    kind = info.type.WhichOneof("value")
    if hasattr(value, "SerializeToString"):
        return value.SerializeToString()
    write = {"map_type": numpy_helper.from_dict, "sequence_type": numpy_helper.from_list,
             "optional_type": numpy_helper.from_optional}.get(kind, numpy_helper.from_array)
    return write(value, info.name).SerializeToString()


def write_case(case, folder):
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    graph = case.model.graph
    for number, (inputs, outputs) in enumerate(case.data_sets):
        data = folder / f"test_data_set_{number}"
        data.mkdir()
        for stem, values, infos in (("input", inputs, graph.input), ("output", outputs, graph.output)):
            for i, (value, info) in enumerate(zip(values, infos)):
                (data / f"{stem}_{i}.pb").write_bytes(message(value, info))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="new, or empty")
    options = parser.parse_args()
    if options.folder.exists() and any(options.folder.iterdir()):
        sys.exit(f"{options.folder}: is not empty")
    numpy.random.seed(0)
    from onnx.backend.test.case.node import collect_testcases
    cases = collect_testcases(None)
    for case in cases:
        try:
            write_case(case, options.folder / case.name)
        except Exception as error:  # a case that ONNX itself cannot write is no test of ours
            shutil.rmtree(options.folder / case.name, ignore_errors=True)
            print(f"{case.name}: not written: {error}", file=sys.stderr)
    print(f"onnx {onnx.__version__}: {len(cases)} tests")


main()
