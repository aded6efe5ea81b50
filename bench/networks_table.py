# SPDX-License-Identifier: Apache-2.0
"""What `./dev bench networks` measures: networks, contenders, and the targets that their times are held against."""

import dataclasses

IMAGES = ("vgg16", "resnet50", "mobilenet_v2")
# Networks whose geometric mean counts.
MORE_IMAGES = ("squeezenet1_1", "shufflenet_v2", "efficientnet_b0", "resnext50_32x4d", "densenet121", "unet")
# R17's, of table 10.5: affine layers, a column for each input.
COLUMNS = ("r17-640", "r17-256", "r17-2500", "r17-cifar")
ENCODER = "minilm"
ENCODERS = (ENCODER, "bert_base")
ENCODER_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
# Steps of a model that are no layer's product: what packs, unfolds or transforms, and elementwise steps.
PRODUCTS = ("gemm.", "batched_gemm.", "filter_gemm.", "conv2d.")
# Of LeNet-5: C1, S2, C3, S4, F5, F6, the output and its probabilities.
LENET_LAYERS = 8


@dataclasses.dataclass(frozen=True)
class Contender:
    """Someone who runs a network: us by one of our paths, or a peer. `tuned` and `cold` are of CLBlast's path."""
    kind: str                  # "morton", "numpy", "onnxruntime", "pytorch" or "tinygrad"
    network: str
    batch: int
    path: str = ""             # of --conv
    tuned: bool = False
    cold: bool = False
    words: int = 0             # of an encoder's sequence
    step: bool = False         # of training, not of answering
    clock: str = "host"        # or "device": no copies of inputs and outputs, no waits of the host
    halves: bool = False       # weights and what lies between layers as f16

    def title(self):
        name = self.kind if self.kind != "morton" else f"--conv {self.path or 'auto'}"
        return name + "".join(f", {word}" for word, is_so in
                              (("tuned", self.tuned), ("cold", self.cold), ("f16", self.halves),
                               ("device's clock", self.clock == "device"))
                              if is_so)


@dataclasses.dataclass(frozen=True)
class Target:
    """A row: ours against the quickest of others. `wanted` is their time over ours, or what `measure` names."""
    title: str
    ours: Contender
    others: tuple
    wanted: float
    # "ratio"; "rest": share of all but the products; "launches": steps for each layer; "mean": the geometric mean of
    # the ratios of `rows`
    measure: str = "ratio"
    shown_only: bool = False   # no target: printed for what it says of the others
    rows: tuple = ()           # titles


def shapes_of(contender):
    """The inputs' shapes, as --shape takes them; none where --batch says all."""
    if contender.network in ENCODERS:
        return [f"{name}:{contender.batch}x{contender.words}" for name in ENCODER_INPUTS]
    if contender.network in COLUMNS:
        return []
    size = "1x32x32" if contender.network == "lenet5" else "3x224x224"
    return [f"input:{contender.batch}x{size}"]


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


def against(kind, network, batch, wanted, words=0, clock="host", halves=False, **more):
    """A row against one peer."""
    parts = [f"batch {batch}"] if batch != 1 else [] if words else ["1 image"]
    parts += [f"{words} words"] if words else []
    parts += ["f16"] if halves else []
    title = f"{', '.join([network, *parts])}, against {kind}" + (", device's clock" if clock == "device" else "")
    how = {"words": words, "clock": clock, "halves": halves}
    return Target(title, ours(network, batch, **how), (Contender(kind, network, batch, **how),), wanted, **more)


def step_against(kind):
    """A step of training C18's CNN by Adam."""
    one, other = (Contender(who, "c18-cnn", 100, step=True) for who in ("morton", kind))
    return Target(f"c18-cnn, a training step of batch 100, against {kind}", one, (other,), 1.0, shown_only=True)


def mean_of(title, rows, wanted):
    """Behind rows that are shown only, their geometric mean."""
    return [*rows, Target(title, rows[0].ours, (), wanted, "mean", rows=tuple(row.title for row in rows))]


def cpu_targets():
    vgg = ours("vgg16", 1)
    rows = lenet_targets(20.0) + [
        Target("VGG-16, 1 image, against CLBlast as shipped", vgg, clblast("vgg16", 1), 15.0),
        # The tuned parameters are of the products; xCONVGEMM's are as shipped, and measured in the row above.
        Target("VGG-16, 1 image, against CLBlast tuned", vgg, clblast("vgg16", 1, tuned=True)[:1], 3.0),
        Target("VGG-16, 1 image, against im2col and Morton GEMM", vgg, (ours("vgg16", 1, path="morton"),), 5.0),
        Target("VGG-16, 1 image, all but the products", vgg, (), 0.10, "rest"),
    ]
    for network, least in zip(IMAGES, (1.5, 1.1, 1.0)):
        peers = tuple(Contender(kind, network, 1) for kind in ("onnxruntime", "pytorch"))
        rows.append(Target(f"{network}, 1 image, against the faster peer", ours(network, 1), peers, least))
    rows += mean_of("six networks, against onnxruntime, geometric mean",
                    [against("onnxruntime", one, 1, 1.0, shown_only=True) for one in MORE_IMAGES], 1.0)
    for kind in ("numpy", "pytorch"):
        rows += mean_of(f"r17's four networks, against {kind}, geometric mean",
                        [against(kind, one, 100, 1.0, shown_only=True) for one in COLUMNS], 1.0)
    rows += [against("onnxruntime", ENCODER, 1, 1.0, words) for words in (32, 256)]
    rows += mean_of("four networks and a training step, against tinygrad, geometric mean",
                    [*(against("tinygrad", one, 1, 6.0, shown_only=True) for one in ("lenet5", *IMAGES)),
                     step_against("tinygrad")], 6.0)
    return rows


def gpu_targets():
    both = ("host", "device")
    rows = lenet_targets(4.0)
    rows += [against("pytorch", network, batch, 1.2, clock=clock)
             for network in IMAGES for batch in (1, 32) for clock in both]
    rows += [against("pytorch", network, 100, 1.0, clock=clock, shown_only=True) for network in COLUMNS for clock in both]
    rows += [against("pytorch", network, batch, 1.0, 128, clock)
             for network in ENCODERS for batch in (1, 32) for clock in both]
    rows += [against("pytorch", network, 32, 0.9, clock="device", halves=True) for network in IMAGES]
    rows += [against("pytorch", network, 32, 0.9, 128, "device", halves=True) for network in ENCODERS]
    return rows
