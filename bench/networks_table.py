# SPDX-License-Identifier: Apache-2.0
"""What `./dev bench networks` measures: networks, contenders, and the targets that their times are held against."""

import dataclasses

IMAGES = ("vgg16", "resnet50", "mobilenet_v2")
# Steps of a model that are no layer's product: what packs, unfolds or transforms, and elementwise steps.
PRODUCTS = ("gemm.", "batched_gemm.", "filter_gemm.", "conv2d.")
# Of LeNet-5: C1, S2, C3, S4, F5, F6, the output and its probabilities.
LENET_LAYERS = 8


@dataclasses.dataclass(frozen=True)
class Contender:
    """Someone who runs a network: us by one of our paths, or a peer. `tuned` and `cold` are of CLBlast's path."""
    kind: str                  # "morton", "onnxruntime" or "pytorch"
    network: str
    batch: int
    path: str = ""             # of --conv
    tuned: bool = False
    cold: bool = False

    def title(self):
        if self.kind != "morton":
            return self.kind
        name = f"--conv {self.path or 'auto'}" + (", tuned" if self.tuned else "")
        return name + (", cold" if self.cold else "")


@dataclasses.dataclass(frozen=True)
class Target:
    """A row: ours against the quickest of others. `wanted` is their time over ours, or what `measure` names."""
    title: str
    ours: Contender
    others: tuple
    wanted: float
    measure: str = "ratio"     # "ratio"; "rest": share of all but the products; "launches": steps for each layer
    shown_only: bool = False   # no target: printed for what it says of the others


def shape_of(network, batch):
    return f"input:{batch}x1x32x32" if network == "lenet5" else f"input:{batch}x3x224x224"


def ours(network, batch, **more):
    return Contender("morton", network, batch, **more)


def clblast(network, batch, **more):
    return tuple(ours(network, batch, path=path, **more) for path in ("clblast", "clblast-convgemm"))


def lenet_targets(least):
    auto = ours("lenet5", 100)
    return [
        Target("LeNet, batch 100, against CLBlast", auto, clblast("lenet5", 100), least),
        Target("LeNet, batch 100, against R18's baseline", auto, (ours("lenet5", 100, path="naive"),), 1.0,
               shown_only=True),
        Target("LeNet, batch 100, cold, against CLBlast", ours("lenet5", 100, cold=True),
               clblast("lenet5", 100, cold=True)[:1], 1.0, shown_only=True),
        Target("LeNet, launches for each layer", auto, (), 1.0, "launches"),
    ]


def cpu_targets():
    vgg = ours("vgg16", 1)
    rows = lenet_targets(12.0) + [
        Target("VGG-16, 1 image, against CLBlast as shipped", vgg, clblast("vgg16", 1), 10.0),
        # The tuned parameters are of the products; xCONVGEMM's are as shipped, and measured in the row above.
        Target("VGG-16, 1 image, against CLBlast tuned", vgg, clblast("vgg16", 1, tuned=True)[:1], 3.0),
        Target("VGG-16, 1 image, against im2col and Morton GEMM", vgg, (ours("vgg16", 1, path="morton"),), 5.0),
        Target("VGG-16, 1 image, all but the products", vgg, (), 0.10, "rest"),
    ]
    for network, least in zip(IMAGES, (1.3, 1.0, 0.9)):
        peers = tuple(Contender(kind, network, 1) for kind in ("onnxruntime", "pytorch"))
        rows.append(Target(f"{network}, 1 image, against the faster peer", ours(network, 1), peers, least))
    return rows


def gpu_targets():
    rows = lenet_targets(4.0)
    for network in IMAGES:
        for batch in (1, 32):
            rows.append(Target(f"{network}, batch {batch}, against PyTorch", ours(network, batch),
                               (Contender("pytorch", network, batch),), 0.9))
    return rows
