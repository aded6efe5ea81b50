#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One peer with one network, for bench/networks.py: reads the ONNX file, says what it is in a line of JSON, then for
each number that it reads from standard input runs the network as many times and writes the milliseconds of each run.

ONNX Runtime runs the file as it is. tinygrad runs it on its OpenCL device, captured in a TinyJit. PyTorch runs the same
nodes by its own functions: on CPUs frozen and optimised for inference, on CUDA without TF32 and captured in a CUDA
graph. Of encoders PyTorch runs Hugging Face's BertModel with the file's weights. NumPy runs R17's networks of affine
layers."""

import argparse
import json
import sys
import time

import numpy as np

import numpy_peer
import start_peer

WARM_RUNS = 4
# Of an image of LeNet-5; all others have three channels.
LENET_EXTENT = 32


def shape_of(value, batch, extent):
    """The input's extents: the batch, which is the first of the open ones, and `extent` for an open height or width."""
    sizes = []
    left = [batch]
    for size in value:
        is_open = not (isinstance(size, int) and size > 0)
        sizes.append((left.pop() if left else extent) if is_open else size)
    return sizes


class OnnxRuntime:
    def __init__(self, options):
        import onnxruntime as ort
        settings = ort.SessionOptions()
        settings.intra_op_num_threads = options.threads
        settings.inter_op_num_threads = 1
        self.session = ort.InferenceSession(options.model, settings, providers=["CPUExecutionProvider"])
        self.feeds = {}
        given = dict(one.rsplit(":", 1) for one in options.input)
        for entry in self.session.get_inputs():
            if entry.name in given:
                self.feeds[entry.name] = np.load(given[entry.name])
                continue
            shape = shape_of(entry.shape, options.batch, options.extent)
            random = np.random.default_rng(1)
            is_whole = "int" in entry.type
            self.feeds[entry.name] = random.integers(0, 2, shape) if is_whole else \
                random.standard_normal(shape).astype(np.float32)
        self.version = f"ONNX Runtime {ort.__version__}, {options.threads} threads"

    def run(self):
        return self.session.run(None, self.feeds)[0]


def choose_opencl():
    """Makes tinygrad take its OpenCL device: the variable that chooses it, its value, and tinygrad's version."""
    import importlib.metadata
    import os
    version = importlib.metadata.version("tinygrad")
    name, value = start_peer.tinygrad_environment(version)
    os.environ[name] = value
    import tinygrad
    if tinygrad.Device.DEFAULT not in ("CL", "GPU"):
        raise SystemExit(f"network_peer: tinygrad {version} takes {tinygrad.Device.DEFAULT}, not OpenCL")
    return name, value, version


class Tinygrad:
    def __init__(self, options):
        name, value, version = choose_opencl()
        import tinygrad
        runner = start_peer.onnx_runner(options.model)
        inputs = getattr(runner, "graph_inputs", None) or runner.get_empty_input_data()
        entry = next(iter(inputs))
        size = options.extent
        channels = 1 if size == LENET_EXTENT else 3
        array = np.random.default_rng(1).standard_normal((options.batch, channels, size, size)).astype(np.float32)
        self.x = tinygrad.Tensor(array).realize()
        self.call = tinygrad.TinyJit(lambda x: next(iter(runner({entry: x}).values())).realize())
        self.version = f"tinygrad {version}, {name}={value}, TinyJit"

    def run(self):
        return self.call(self.x).numpy()


def pads_of(attributes):
    """((rows above, columns left), (rows below, columns right))."""
    pads = attributes.get("pads", [0, 0, 0, 0])
    return (pads[0], pads[1]), (pads[2], pads[3])


def symmetric(torch, x, attributes, value):
    """x padded as far as one number for both sides cannot say it, and the padding that it can."""
    begin, end = pads_of(attributes)
    if begin == end:
        return x, begin
    return torch.nn.functional.pad(x, (begin[1], end[1], begin[0], end[0]), value=value), (0, 0)


def operators(torch):
    """ONNX's operators of the networks that are measured, as functions of (inputs, attributes)."""
    f = torch.nn.functional

    def conv(v, a):
        x, padding = symmetric(torch, v[0], a, 0.0)
        return f.conv2d(x, v[1], v[2] if len(v) > 2 else None, a.get("strides", [1, 1]), padding,
                        a.get("dilations", [1, 1]), a.get("group", 1))

    def max_pool(v, a):
        x, padding = symmetric(torch, v[0], a, float("-inf"))
        return f.max_pool2d(x, a["kernel_shape"], a.get("strides", [1, 1]), padding)

    def average_pool(v, a):
        begin, end = pads_of(a)
        if begin != (0, 0) or end != (0, 0):
            raise SystemExit("network_peer: an AveragePool with padding is not written for PyTorch")
        return f.avg_pool2d(v[0], a["kernel_shape"], a.get("strides", [1, 1]))

    def gemm(v, a):
        lhs = v[0].t() if a.get("transA", 0) else v[0]
        weights = v[1] if a.get("transB", 0) else v[1].t()
        return f.linear(lhs, weights, v[2] if len(v) > 2 else None)

    def batch_norm(v, a):
        return f.batch_norm(v[0], v[3], v[4], v[1], v[2], False, 0.0, a.get("epsilon", 1e-5))

    return {
        "Conv": conv, "MaxPool": max_pool, "AveragePool": average_pool, "Gemm": gemm,
        "BatchNormalization": batch_norm,
        "MatMul": lambda v, a: v[0] @ v[1],
        "Relu": lambda v, a: f.relu(v[0]),
        "Tanh": lambda v, a: torch.tanh(v[0]),
        "Sigmoid": lambda v, a: torch.sigmoid(v[0]),
        "Clip": lambda v, a: torch.clamp(v[0], float(v[1]), float(v[2])),
        "Add": lambda v, a: v[0] + v[1],
        "Mul": lambda v, a: v[0] * v[1],
        "Softmax": lambda v, a: torch.softmax(v[0], a.get("axis", -1)),
        "GlobalAveragePool": lambda v, a: v[0].mean((2, 3), keepdim=True),
        "Flatten": lambda v, a: torch.flatten(v[0], a.get("axis", 1)),
    }


class PyTorch:
    def __init__(self, options):
        import onnx
        import torch
        self.torch = torch
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False
        torch.backends.cudnn.benchmark = True
        torch.set_num_threads(options.threads)
        if options.cuda and not torch.cuda.is_available():
            raise SystemExit("network_peer: this PyTorch finds no CUDA device")
        self.device = "cuda" if options.cuda else "cpu"
        graph = onnx.load(options.model).graph
        is_encoder = any(one.name == "input_ids" for one in graph.input)
        forward = (self.encoder if is_encoder else self.network)(graph, options)
        with torch.inference_mode():
            frozen = forward if is_encoder else self.frozen(forward)
            self.call = self.captured(frozen) if options.cuda else frozen
        what = "CUDA graph, TF32 off" if options.cuda else f"{options.threads} threads"
        if options.halves:
            what += ", autocast to f16" if is_encoder else ", f16 in channels_last"
        how = ", BertModel" if is_encoder else "" if options.cuda else ", frozen"
        self.version = f"PyTorch {torch.__version__}, {what}{how}"

    def network(self, graph, options):
        """The graph's nodes as a function of its input, which `inputs` holds."""
        import onnx
        import onnx.numpy_helper
        torch = self.torch
        known = operators(torch)
        absent = sorted({node.op_type for node in graph.node} - set(known))
        if absent:
            raise SystemExit(f"network_peer: not written for PyTorch: {', '.join(absent)}")
        constants = {one.name: torch.from_numpy(onnx.numpy_helper.to_array(one).copy())
                     for one in graph.initializer}
        # Numbers such as Clip's bounds are needed on the host.
        constants = {name: one if one.dim() == 0 else self.placed(one, options) for name, one in constants.items()}
        entry = next(one for one in graph.input if one.name not in constants)
        dims = [d.dim_value for d in entry.type.tensor_type.shape.dim]
        self.inputs = (self.placed(torch.randn(shape_of(dims, options.batch, options.extent)), options),)
        nodes = [(known[node.op_type], list(node.input), node.output[0],
                  {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute})
                 for node in graph.node]

        def forward(x):
            values = {**constants, entry.name: x}
            for function, inputs, output, attributes in nodes:
                values[output] = function([values[name] for name in inputs if name], attributes)
            return values[graph.output[0].name]
        return forward

    def placed(self, tensor, options):
        """On the device, and as its kernels like halves: channels innermost."""
        if options.halves and tensor.is_floating_point():
            tensor = tensor.half()
            if tensor.dim() == 4:
                tensor = tensor.to(memory_format=self.torch.channels_last)
        return tensor.to(self.device)

    def encoder(self, graph, options):
        """Hugging Face's BertModel with the file's weights, whose names it has."""
        import onnx.numpy_helper
        import transformers
        torch = self.torch
        values = {one.name: onnx.numpy_helper.to_array(one) for one in graph.initializer}
        words, width = values["embeddings.word_embeddings.weight"].shape
        layers = sum(name.endswith(".intermediate.dense.weight") for name in values)
        settings = transformers.BertConfig(
            vocab_size=words, hidden_size=width, num_hidden_layers=layers,
            num_attention_heads=int(values["encoder.layer.0.attention.self.query.shape"][2]),
            intermediate_size=values["encoder.layer.0.intermediate.dense.weight"].shape[1], hidden_act="gelu")
        model = transformers.BertModel(settings, add_pooling_layer=False).eval()
        model.set_attn_implementation("sdpa")
        # ONNX has the weights of a dense layer by inputs, PyTorch by outputs.
        state = {name: torch.from_numpy((values[name].T if ".dense." in name or ".self." in name else values[name]).copy())
                 for name, _ in model.named_parameters()}
        model.load_state_dict(state)
        model.to(self.device)
        shape = (options.batch, options.extent)
        ids = torch.randint(0, words, shape)
        self.inputs = tuple(one.to(self.device) for one in (ids, torch.ones(shape, dtype=torch.int64),
                                                            torch.zeros(shape, dtype=torch.int64)))
        # The mask that the file computes from its input: nothing is hidden, and a graph may not ask the device.
        def forward(ids, mask, types):
            with torch.autocast(self.device, torch.float16, enabled=options.halves, cache_enabled=False):
                return model(input_ids=ids, attention_mask=mask[:, None, None, :].bool().expand(-1, -1, shape[1], -1),
                             token_type_ids=types).last_hidden_state
        return forward

    def frozen(self, forward):
        torch = self.torch

        class Module(torch.nn.Module):
            def forward(self, x):
                return forward(x)
        module = torch.jit.freeze(torch.jit.trace(Module().eval(), *self.inputs).eval())
        return module if self.device == "cuda" else torch.jit.optimize_for_inference(module)

    def captured(self, forward):
        torch = self.torch
        for _ in range(3):
            forward(*self.inputs)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.result = forward(*self.inputs)
        self.graph = graph

        def replay(*_):
            graph.replay()
            torch.cuda.synchronize()
            return self.result
        return replay

    def run(self):
        with self.torch.inference_mode():
            return self.call(*self.inputs)

    def device_ms(self):
        """Of a run on CUDA, by its own clock."""
        begin, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        self.graph.replay()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end)


def host_ms(run):
    start = time.perf_counter()
    run()
    return 1e3 * (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peer", choices=["numpy", "onnxruntime", "pytorch", "tinygrad"])
    parser.add_argument("model", help="ONNX file")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--extent", type=int, default=224, help="of an open height or width")
    parser.add_argument("--input", action="append", default=[], metavar="NAME:FILE.npy",
                        help="an input, in place of random numbers; of ONNX Runtime; repeatable")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--cuda", action="store_true")
    parser.add_argument("--halves", action="store_true", help="of PyTorch: weights and activations in f16")
    parser.add_argument("--clock", choices=["host", "device"], default="host", help="the latter is of PyTorch on CUDA")
    options = parser.parse_args()
    if options.clock == "device" and not (options.peer == "pytorch" and options.cuda):
        raise SystemExit("network_peer: the device's clock is of PyTorch on CUDA")
    peer = {"numpy": lambda given: numpy_peer.NumPy(given, shape_of), "onnxruntime": OnnxRuntime, "pytorch": PyTorch,
            "tinygrad": Tinygrad}[options.peer](options)
    # PyTorch optimises during the first runs.
    for _ in range(WARM_RUNS):
        result = peer.run()
    print(json.dumps({"version": peer.version, "outputs": list(result.shape)}), flush=True)
    for line in sys.stdin:
        times = [peer.device_ms() if options.clock == "device" else host_ms(peer.run) for _ in range(int(line))]
        print(json.dumps(times), flush=True)


if __name__ == "__main__":
    main()
