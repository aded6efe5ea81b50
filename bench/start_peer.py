#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One start of a peer, for bench/start.py: imports the library, reads the ONNX file, runs it once on an array and writes
a line of JSON with the version and what came out. The caller times the whole process.

Without a model it imports the library and writes its version.

tinygrad runs on its OpenCL device. Its cache of kernels is the file that the environment's CACHEDB names."""

import argparse
import importlib.metadata
import json
import os

# Before it is imported, tinygrad reads its device from the environment; older versions know one name only.
FIRST_WITH_DEV = (0, 12)
FIRST_WITH_CL = (0, 11)


def version_numbers(version):
    return tuple(int(part) for part in version.split(".")[:2])


def tinygrad_environment(version):
    """The variable that chooses tinygrad's OpenCL device, with its value."""
    numbers = version_numbers(version)
    if numbers >= FIRST_WITH_DEV:
        return "DEV", "CL"
    return ("CL" if numbers >= FIRST_WITH_CL else "GPU"), "1"


class OnnxRuntime:
    def __init__(self, options):
        import onnxruntime as ort
        self.version = f"ONNX Runtime {ort.__version__}, {options.threads} threads"
        self.ort, self.options = ort, options

    def run(self, array):
        settings = self.ort.SessionOptions()
        settings.intra_op_num_threads = self.options.threads
        settings.inter_op_num_threads = 1
        session = self.ort.InferenceSession(self.options.model, settings, providers=["CPUExecutionProvider"])
        return session.run(None, {session.get_inputs()[0].name: array})[0]


def onnx_runner(model):
    """tinygrad's reader of ONNX files, which has moved between its versions."""
    try:
        from tinygrad.nn.onnx import OnnxRunner
    except ImportError:
        from tinygrad.frontend.onnx import OnnxRunner
    try:
        return OnnxRunner(model)
    except (AttributeError, TypeError):
        import onnx
        return OnnxRunner(onnx.load(model))


class Tinygrad:
    def __init__(self, options):
        version = importlib.metadata.version("tinygrad")
        name, value = tinygrad_environment(version)
        os.environ[name] = value
        import tinygrad
        device = tinygrad.Device.DEFAULT
        if device not in ("CL", "GPU"):
            raise SystemExit(f"start_peer: tinygrad {version} takes {device}, not OpenCL, with {name}={value}")
        self.version = f"tinygrad {version}, {name}={value}"
        self.tinygrad, self.options = tinygrad, options

    def run(self, array):
        runner = onnx_runner(self.options.model)
        name = next(iter(getattr(runner, "graph_inputs", None) or runner.get_empty_input_data()))
        return next(iter(runner({name: self.tinygrad.Tensor(array)}).values())).numpy()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer", choices=["onnxruntime", "tinygrad"])
    parser.add_argument("model", nargs="?", default="", help="ONNX file")
    parser.add_argument("input", nargs="?", default="", help="array (.npy)")
    parser.add_argument("--threads", type=int, default=2, help="of ONNX Runtime (2)")
    options = parser.parse_args()
    peer = {"onnxruntime": OnnxRuntime, "tinygrad": Tinygrad}[options.peer](options)
    answer = {"version": peer.version}
    if options.model:
        import numpy as np
        result = peer.run(np.load(options.input))
        answer.update(shape=list(result.shape), min=float(result.min()), max=float(result.max()),
                      mean=float(result.mean()))
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
