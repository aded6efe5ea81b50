#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch or tinygrad training the model of an ONNX file, for bench/training.py: says what it is in a line of JSON, then answers
lines of standard input as bench/training.cpp does ("speed N": milliseconds of N steps; "losses N": the losses of N
steps from the file's weights). Every step copies its batch, and reads its loss.

With --make it writes the models of the comparison instead: mlp_he.onnx (784-50-50-10, ReLU, of He's scheme) and
cnn.onnx (C18's without dropout, from the file that --make names)."""

import argparse
import json
import pathlib
import sys
import time

import numpy as np

from network_peer import choose_opencl, operators


def trained_operators(torch):
    known = operators(torch)
    plain, f = known["Conv"], torch.nn.functional

    def conv(v, a):
        if a.get("auto_pad", b"NOTSET") == b"SAME_UPPER":
            sizes = [n - 1 for n in v[1].shape[2:]]
            a = {**a, "pads": [n // 2 for n in sizes] + [n - n // 2 for n in sizes]}
        return plain(v, a)

    def batch_norm(v, a):
        return f.batch_norm(v[0], v[3], v[4], v[1], v[2], True, 1.0 - a.get("momentum", 0.9), a.get("epsilon", 1e-5))

    return {**known, "Conv": conv, "BatchNormalization": batch_norm,
            "Dropout": lambda v, a: f.dropout(v[0], a.get("ratio", 0.5))}


def read_model(options, known):
    """(initial values by name, the input's name, nodes that can be called, the loss's argument)"""
    import onnx
    import onnx.numpy_helper
    graph = onnx.load(options.model).graph
    initial = {one.name: onnx.numpy_helper.to_array(one).copy() for one in graph.initializer}
    entry = next(one.name for one in graph.input if one.name not in initial)
    nodes, result = list(graph.node), graph.output[0].name
    # The loss takes what goes into the last Softmax.
    if nodes[-1].op_type == "Softmax":
        result = nodes.pop().input[0]
    return initial, entry, [(known[node.op_type], list(node.input), node.output[0],
                             {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute})
                            for node in nodes], result


def forward(nodes, values):
    for function, inputs, output, attributes in nodes:
        values[output] = function([values[name] for name in inputs if name], attributes)
    return values


class PyTorch:
    def __init__(self, options):
        import torch
        self.torch, self.options = torch, options
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False
        torch.backends.cudnn.benchmark = True
        torch.set_num_threads(options.threads)
        self.device = "cuda" if options.cuda else "cpu"
        self.initial, self.entry, self.nodes, self.result = read_model(options, trained_operators(torch))
        batches = np.load(options.batches)
        self.x = [torch.from_numpy(one) for one in batches["x"]]
        self.y = [torch.from_numpy(one.astype(np.int64)) for one in batches["y"]]
        self.start()
        fused = "fused Adam, " if options.optimizer == "adam" else ""
        how = f"{fused}CUDA graph for speed, TF32 off" if options.cuda else f"{options.threads} threads"
        self.version = f"PyTorch {torch.__version__}, {how}"

    def start(self):
        torch, self.graph = self.torch, None
        # Means and variances, which no gradient changes.
        running = {name for function, inputs, _, _ in self.nodes if len(inputs) == 5 for name in inputs[3:]}
        self.values = {name: torch.from_numpy(value.copy()).to(self.device)
                       .requires_grad_(value.dtype == np.float32 and name not in running)
                       for name, value in self.initial.items()}
        parameters = [value for value in self.values.values() if value.requires_grad]
        kind = torch.optim.Adam if self.options.optimizer == "adam" else torch.optim.SGD
        more = {"fused": True, "capturable": True} if self.options.cuda and kind is torch.optim.Adam else {}
        self.optimizer = kind(parameters, lr=self.options.rate, **more)

    def descend(self, x, y):
        values = forward(self.nodes, {**self.values, self.entry: x})
        loss = self.torch.nn.functional.cross_entropy(values[self.result], y)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return loss

    def capture(self):
        """The whole step as a CUDA graph, which reads `batch`."""
        torch = self.torch
        self.batch = [one[0].to(self.device) for one in (self.x, self.y)]
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                self.descend(*self.batch)
        torch.cuda.current_stream().wait_stream(stream)
        self.optimizer.zero_grad(set_to_none=True)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.loss = self.descend(*self.batch)

    def step(self, i):
        both = self.x[i % len(self.x)], self.y[i % len(self.y)]
        if not self.graph:
            return self.descend(*(one.to(self.device) for one in both)).item()
        for held, one in zip(self.batch, both):
            held.copy_(one)
        self.graph.replay()
        return self.loss.item()


def tinygrad_operators():
    def conv(v, a):
        # SAME_UPPER, as the models of the comparison have it: stride 1 and odd filters.
        return v[0].conv2d(v[1], v[2], padding=[n // 2 for n in v[1].shape[2:]])

    return {"Conv": conv, "Relu": lambda v, a: v[0].relu(), "Flatten": lambda v, a: v[0].flatten(1),
            "MaxPool": lambda v, a: v[0].max_pool2d(tuple(a["kernel_shape"]), tuple(a["strides"])),
            "Gemm": lambda v, a: v[0].linear(v[1].transpose(), v[2]),
            "Dropout": lambda v, a: v[0].dropout(a.get("ratio", 0.5))}


class Tinygrad:
    """On its OpenCL device; a whole step is captured in a TinyJit."""

    def __init__(self, options):
        name, value, version = choose_opencl()
        import tinygrad
        self.tinygrad, self.options = tinygrad, options
        self.initial, self.entry, self.nodes, self.result = read_model(options, tinygrad_operators())
        batches = np.load(options.batches)
        self.x, self.y = batches["x"], batches["y"]
        self.start()
        self.version = f"tinygrad {version}, {name}={value}, TinyJit"

    def start(self):
        optim = self.tinygrad.nn.optim
        values = {name: self.tinygrad.Tensor(value).realize() for name, value in self.initial.items()}
        optimizer = (optim.Adam if self.options.optimizer == "adam" else optim.SGD)(list(values.values()),
                                                                                    lr=self.options.rate)

        @self.tinygrad.TinyJit
        def step(x, y):
            optimizer.zero_grad()
            loss = forward(self.nodes, {**values, self.entry: x})[self.result].sparse_categorical_crossentropy(y)
            loss.backward()
            return loss.realize(*optimizer.schedule_step())
        self.call = step

    def step(self, i):
        x, y = (self.tinygrad.Tensor(one[i % len(one)]).realize() for one in (self.x, self.y))
        # Older versions have a context of tensors for this.
        train = getattr(self.tinygrad.Tensor, "train", lambda: self.tinygrad.helpers.Context(TRAINING=1))
        with train():
            return self.call(x, y).item()


def make(source, folder):
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    random = np.random.default_rng(7)
    sizes = [784, 50, 50, 10]
    nodes, weights, last = [], [], "x"
    for i, (inner, outer) in enumerate(zip(sizes, sizes[1:])):
        values = (random.standard_normal((outer, inner)) * np.sqrt(2.0 / inner)).astype(np.float32)
        weights += [numpy_helper.from_array(values, f"w{i}"),
                    numpy_helper.from_array(np.zeros(outer, np.float32), f"b{i}")]
        nodes.append(helper.make_node("Gemm", [last, f"w{i}", f"b{i}"], [f"s{i}"], f"layer{i}", transB=1))
        last = f"s{i}"
        if i + 2 < len(sizes):
            nodes.append(helper.make_node("Relu", [last], [f"r{i}"], f"relu{i}"))
            last = f"r{i}"
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", size])
             for name, size in (("x", 784), (last, 10))]
    graph = helper.make_graph(nodes, "mlp_he", ports[:1], ports[1:], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    onnx.save(model, str(folder / "mlp_he.onnx"))
    model = onnx.load(source)
    graph = model.graph
    dropout = next(node for node in graph.node if node.op_type == "Dropout")
    for node in graph.node:
        node.input[:] = [dropout.input[0] if name == dropout.output[0] else name for name in node.input]
    graph.node.remove(dropout)
    onnx.save(model, str(folder / "cnn.onnx"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="ONNX file")
    parser.add_argument("batches", nargs="?", help="npz with x [count, batch, ...] and y [count, batch]")
    parser.add_argument("--make", metavar="FOLDER", type=pathlib.Path)
    parser.add_argument("--peer", choices=["pytorch", "tinygrad"], default="pytorch")
    parser.add_argument("--optimizer", choices=["sgd", "adam"], default="sgd")
    parser.add_argument("--rate", type=float, default=0.01)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--cuda", action="store_true")
    options = parser.parse_args()
    if options.make:
        make(options.model, options.make)
        return
    peer = {"pytorch": PyTorch, "tinygrad": Tinygrad}[options.peer](options)
    for i in range(4):
        peer.step(i)
    print(json.dumps({"version": peer.version}), flush=True)
    for line in sys.stdin:
        what, count = line.split()
        if what == "losses":
            peer.start()
        elif options.cuda and options.peer == "pytorch" and not peer.graph:
            peer.capture()
        answers = []
        for i in range(int(count)):
            start = time.perf_counter()
            loss = peer.step(i)
            answers.append(1e3 * (time.perf_counter() - start) if what == "speed" else loss)
        print(json.dumps(answers), flush=True)


if __name__ == "__main__":
    main()
