#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains LeNet-5 on the training digits and writes it as ONNX, with expected answers beside it.

Needs Python 3.11 and four packages: `pip install torch numpy onnx onnxruntime` in a virtual
environment. Takes about five minutes on one core:

    python3 tools/train_lenet5.py --data data/mnist --out models/lenet5.onnx

Learning rate and epochs are chosen on 1,000 training digits that are held back; the network is then
trained afresh on all 8,000. The test digits are used once, at the end, to report the accuracy.
models/README.md describes the network.
"""

import argparse
import dataclasses
import itertools
import math
import pathlib
import time

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper
from torch.nn import functional

from idx_digits import read_digits

SEED = 1998
HELD_BACK = 1000
BATCH = 64
PAD = 2  # pixels of zeros on each side: 28x28 digits in a 32x32 input
EXPECTED = 20  # test digits whose answers are stored beside the model
INPUT_NAME = "input"
OUTPUT_NAME = "probabilities"


@dataclasses.dataclass(frozen=True)
class Settings:
    rate: float  # Adam's highest learning rate
    epochs: int


CANDIDATES = [Settings(*pair) for pair in itertools.product((0.002, 0.005, 0.01), (30, 60))]


class Subsampling(torch.nn.Module):
    """LeCun's trainable subsampling: the mean of 2x2 values, times a scale, plus a bias."""

    def __init__(self, channels):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(channels, 1, 1))
        self.bias = torch.nn.Parameter(torch.zeros(channels, 1, 1))

    def forward(self, x):
        return functional.avg_pool2d(x, 2) * self.scale + self.bias


class Lenet5(torch.nn.Module):
    """float [batch, 1, 32, 32] -> logits [batch, 10]; tanh after every layer up to F6."""

    def __init__(self):
        super().__init__()
        self.C1 = torch.nn.Conv2d(1, 6, 5)
        self.S2 = Subsampling(6)
        self.C3 = torch.nn.Conv2d(6, 16, 5)
        self.S4 = Subsampling(16)
        self.F5 = torch.nn.Linear(400, 120)
        self.F6 = torch.nn.Linear(120, 84)
        self.output = torch.nn.Linear(84, 10)
        for layer in (self.C1, self.C3, self.F5, self.F6, self.output):
            torch.nn.init.xavier_uniform_(layer.weight)
            torch.nn.init.zeros_(layer.bias)

    def forward(self, x):
        for layer in (self.C1, self.S2, self.C3, self.S4):
            x = torch.tanh(layer(x))
        x = torch.flatten(x, 1)
        for layer in (self.F5, self.F6):
            x = torch.tanh(layer(x))
        return self.output(x)


def load(folder, part):
    """Returns (float32 [count, 1, 32, 32] in 0..1, int64 [count]) of "train" or "t10k"."""
    (extents, pixels), (_, labels) = read_digits(folder, part)
    images = np.frombuffer(pixels, np.uint8).reshape(extents).astype(np.float32) / 255
    images = np.pad(images, ((0, 0), (PAD, PAD), (PAD, PAD)))[:, None]
    labels = np.frombuffer(labels, np.uint8).astype(np.int64)
    return torch.from_numpy(images), torch.from_numpy(labels)


def distort(images, generator):
    """Returns the images, each turned, slanted, scaled and moved a little, at random."""

    def uniform(limit):
        return (torch.rand(len(images), generator=generator) * 2 - 1) * limit

    angle, slant, scale = uniform(math.radians(12)), uniform(0.15), 1 + uniform(0.1)
    cosine, sine = torch.cos(angle) / scale, torch.sin(angle) / scale
    shift = 2 * 2 / images.shape[-1]  # two pixels, where the image's half width is 1
    rows = [cosine, slant - sine, uniform(shift), sine, cosine, uniform(shift)]
    maps = torch.stack(rows, 1).view(-1, 2, 3)
    grid = functional.affine_grid(maps, list(images.shape), align_corners=False)
    return functional.grid_sample(images, grid, align_corners=False)


def train(images, labels, settings):
    """Returns a network trained on the digits; the same arguments give the same network."""
    torch.manual_seed(SEED)
    generator = torch.Generator().manual_seed(SEED)
    network = Lenet5()
    optimizer = torch.optim.Adam(network.parameters(), settings.rate)
    steps = settings.epochs * math.ceil(len(images) / BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, settings.rate, steps)
    for _ in range(settings.epochs):
        for chosen in torch.randperm(len(images), generator=generator).split(BATCH):
            logits = network(distort(images[chosen], generator))
            optimizer.zero_grad()
            functional.cross_entropy(logits, labels[chosen]).backward()
            optimizer.step()
            schedule.step()
    return network.eval()


@torch.no_grad()
def evaluate(network, images, labels):
    """Returns (number of wrong answers, mean cross entropy)."""
    logits = network(images)
    wrong = int((logits.argmax(1) != labels).sum())
    return wrong, float(functional.cross_entropy(logits, labels))


def choose(images, labels):
    """Returns the candidate with the fewest wrong held-back digits, then the lowest loss."""
    order = torch.randperm(len(images), generator=torch.Generator().manual_seed(SEED))
    held, kept = order[:HELD_BACK], order[HELD_BACK:]
    results = []
    for settings in CANDIDATES:
        start = time.monotonic()
        network = train(images[kept], labels[kept], settings)
        wrong, loss = evaluate(network, images[held], labels[held])
        results.append((wrong, loss))
        took = f"{time.monotonic() - start:.0f} s"
        print(f"{settings}: {wrong} of {HELD_BACK} wrong, loss {loss:.4f}, {took}", flush=True)
    return CANDIDATES[results.index(min(results))]


def build_onnx(network):
    """Returns the ONNX model (opset 13) of the network, a chain of nodes that ends in a Softmax.

    A node's output has the node's name; parameters are called as in the torch network.
    """
    nodes = []

    def add(kind, name, parameters=(), **attributes):
        source = nodes[-1].output[0] if nodes else INPUT_NAME
        nodes.append(helper.make_node(kind, [source, *parameters], [name], name=name, **attributes))

    def add_tanh(layer):
        add("Tanh", f"{layer}/tanh")

    for convolution, subsampling in (("C1", "S2"), ("C3", "S4")):
        parameters = [f"{convolution}.weight", f"{convolution}.bias"]
        add("Conv", convolution, parameters, kernel_shape=[5, 5], pads=[0] * 4, strides=[1, 1])
        add_tanh(convolution)
        add("AveragePool", f"{subsampling}/pool", kernel_shape=[2, 2], strides=[2, 2])
        add("Mul", f"{subsampling}/scale", [f"{subsampling}.scale"])
        add("Add", f"{subsampling}/bias", [f"{subsampling}.bias"])
        add_tanh(subsampling)
    add("Flatten", "flatten", axis=1)
    for layer in ("F5", "F6"):
        add("Gemm", layer, [f"{layer}.weight", f"{layer}.bias"], transB=1)
        add_tanh(layer)
    add("Gemm", "output", ["output.weight", "output.bias"], transB=1)
    add("Softmax", OUTPUT_NAME, axis=1)

    size = 28 + 2 * PAD
    image = helper.make_tensor_value_info(
        INPUT_NAME,
        TensorProto.FLOAT,
        ["batch", 1, size, size],
        f"28x28 digits, white on black, grey level / 255, with {PAD} pixels of zeros on each side",
    )
    answer = helper.make_tensor_value_info(OUTPUT_NAME, TensorProto.FLOAT, ["batch", 10])
    weights = [
        numpy_helper.from_array(value.numpy(), name) for name, value in network.state_dict().items()
    ]
    graph = helper.make_graph(nodes, "lenet5", [image], [answer], weights)
    model = helper.make_model(
        graph,
        ir_version=8,
        opset_imports=[helper.make_opsetid("", 13)],
        producer_name="tools/train_lenet5.py",
    )
    onnx.checker.check_model(model, full_check=True)
    return model


def report_test(session, network, folder):
    """Prints the accuracy of the file on the test digits and compares it with torch's.

    Returns the first EXPECTED test images and the file's answers to them.
    """
    images, labels = load(folder, "t10k")
    (answers,) = session.run([OUTPUT_NAME], {INPUT_NAME: images.numpy()})
    wrong = int((answers.argmax(1) != labels.numpy()).sum())
    with torch.no_grad():
        theirs = torch.softmax(network(images), 1).numpy()
    wrong_torch, _ = evaluate(network, images, labels)
    print(f"test: {wrong} of {len(labels)} wrong, accuracy {100 * (1 - wrong / len(labels)):.2f} %")
    print(f"torch: {wrong_torch} wrong; largest difference {np.abs(answers - theirs).max():.1e}")
    if wrong != wrong_torch or not np.allclose(answers, theirs, rtol=0, atol=1e-5):
        raise SystemExit("error: the ONNX file and the trained network do not agree")
    return images.numpy()[:EXPECTED], answers[:EXPECTED]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="data/mnist", help="folder of the IDX files")
    parser.add_argument("--out", default="models/lenet5.onnx", help="the model to write")
    arguments = parser.parse_args()
    torch.set_num_threads(1)  # sums in one order: the same result every time
    torch.use_deterministic_algorithms(True)

    images, labels = load(arguments.data, "train")
    settings = choose(images, labels)
    print(f"chosen: {settings}; training on all {len(images)} digits", flush=True)
    network = train(images, labels, settings)

    out = pathlib.Path(arguments.out)
    out.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(build_onnx(network), out)
    session = onnxruntime.InferenceSession(out, providers=["CPUExecutionProvider"])
    image, probabilities = report_test(session, network, arguments.data)
    expected = out.with_suffix(".expected.npz")
    np.savez(expected, **{INPUT_NAME: image, OUTPUT_NAME: probabilities})
    print(f"wrote {out} and {expected}")


if __name__ == "__main__":
    main()
