# SPDX-License-Identifier: Apache-2.0
"""The operators that ./dev bench operators measures, each at sizes of a network that has it: a table."""

import dataclasses

# Tensors by name: (type as NumPy names it, shape, least, greatest), filled with numbers between these. "apart" are whole
# numbers of which no two are alike.


@dataclasses.dataclass(frozen=True)
class Case:
    group: str        # what it counts for
    title: str        # whose sizes these are
    op: str
    order: tuple      # the node's inputs by name
    inputs: dict      # what each run is given
    constants: dict = dataclasses.field(default_factory=dict)  # what the model holds
    attributes: dict = dataclasses.field(default_factory=dict)
    opset: int = 18
    lists: dict = dataclasses.field(default_factory=dict)      # constants whose numbers matter


def real(*shape):
    return ("float32", list(shape), -1.0, 1.0)


def indices(extent, *shape):
    return ("int64", list(shape), 0, extent)


def apart(extent, *shape):
    return ("apart", list(shape), 0, extent)


def scatter(title, op, data, places, updates, **attributes):
    return Case("scatter", title, op, ("data", "indices", "updates"), {"data": data, "updates": updates},
                {"indices": places}, attributes)


def gather(title, op, data, places, **attributes):
    return Case("gather", title, op, ("data", "indices"), {"data": data}, {"indices": places}, attributes)


def sample(title, image, grid, **attributes):
    return Case("grid sample", title, "GridSample", ("x", "grid"), {"x": image, "grid": grid}, {}, attributes, 20)


def volume(title, op, image, weights, **attributes):
    return Case("3-D convolution", title, op, ("x", "w"), {"x": image}, {"w": weights}, attributes)


def resize(title, image, sizes, **attributes):
    return Case("resize", title, "Resize", ("x", "", "", "sizes"), {"x": image}, {}, attributes, 19, {"sizes": sizes})


def recurrent(op, gates, batch, **attributes):
    """256 units, 100 steps, weights as a network has them when it is new: 1 / sqrt(256) at most."""
    weights = {"w": ("float32", [1, gates * 256, 256], -1 / 16, 1 / 16),
               "r": ("float32", [1, gates * 256, 256], -1 / 16, 1 / 16),
               "b": ("float32", [1, 2 * gates * 256], -1 / 16, 1 / 16)}
    return Case("recurrent", f"256 units, 100 steps, {batch} at a time", op, ("x", "w", "r", "b"),
                {"x": real(100, batch, 256)}, weights, {"hidden_size": 256, **attributes}, 14)


CASES = [
    # Keys of 16 heads, one further token.
    scatter("a decoder's cache, 16 heads, 1,024 tokens", "ScatterND", real(16, 1024, 64), indices(16, 16, 2),
            real(16, 64)),
    scatter("PointPillars, 12,000 pillars, rows", "ScatterND", real(496 * 432, 64), apart(496 * 432, 12000, 1),
            real(12000, 64)),
    scatter("PointPillars, 12,000 pillars, columns", "ScatterElements", real(64, 496 * 432),
            indices(496 * 432, 64, 12000), real(64, 12000), axis=1),
    scatter("a graph network on Cora, messages added", "ScatterElements", real(2708, 64), indices(2708, 10556, 64),
            real(10556, 64), axis=0, reduction="add"),
    scatter("a graph network on ogbn-arxiv's edges of 16 numbers, added", "ScatterND", real(169343, 16),
            indices(169343, 1166243, 1), real(1166243, 16), reduction="add"),
    gather("BERT-base's words, 128 tokens", "Gather", real(30522, 768), indices(30522, 1, 128), axis=0),
    gather("GPT-2's words, 8 x 512 tokens", "Gather", real(50257, 768), indices(50257, 8, 512), axis=0),
    gather("a masked autoencoder's 49 of 196 patches", "GatherElements", real(8, 196, 768), indices(196, 8, 49, 768),
           axis=1),
    gather("a detector's best 300 of 8,400 boxes", "GatherND", real(1, 8400, 84), indices(8400, 1, 300, 1),
           batch_dims=1),
    gather("Swin's table of relative positions", "Gather", real(169, 12), indices(169, 2401), axis=0),
    sample("a spatial transformer, 224 x 224", real(1, 3, 224, 224), real(1, 224, 224, 2)),
    sample("Deformable DETR, 8 heads, 300 queries x 4 points", real(8, 32, 100, 134), real(8, 300, 4, 2)),
    sample("optical flow warps 64 channels", real(1, 64, 128, 128), real(1, 128, 128, 2), padding_mode="border",
           align_corners=1),
    sample("a cubic warp, 224 x 224", real(1, 3, 224, 224), real(1, 224, 224, 2), mode="cubic",
           padding_mode="reflection"),
    sample("a volume of 64 x 64 x 64", real(1, 1, 64, 64, 64), real(1, 64, 64, 64, 3)),
    volume("3-D U-Net's second level, 32 to 64 channels", "Conv", real(1, 32, 32, 32, 32), real(64, 32, 3, 3, 3),
           pads=[1, 1, 1, 1, 1, 1]),
    volume("R3D-18's second stage, 8 images of 56 x 56", "Conv", real(1, 64, 8, 56, 56), real(64, 64, 3, 3, 3),
           pads=[1, 1, 1, 1, 1, 1]),
    volume("R3D-18's first convolution, 8 images of 112 x 112", "Conv", real(1, 3, 8, 112, 112), real(64, 3, 3, 7, 7),
           pads=[1, 3, 3, 1, 3, 3], strides=[1, 2, 2]),
    volume("R(2+1)D-18's convolution within images", "Conv", real(1, 64, 8, 56, 56), real(144, 64, 1, 3, 3),
           pads=[0, 1, 1, 0, 1, 1]),
    volume("R(2+1)D-18's convolution along time", "Conv", real(1, 144, 8, 56, 56), real(64, 144, 3, 1, 1),
           pads=[1, 0, 0, 1, 0, 0]),
    volume("X3D's depthwise convolution", "Conv", real(1, 108, 13, 40, 40), real(108, 1, 3, 3, 3),
           pads=[1, 1, 1, 1, 1, 1], group=108),
    volume("3-D U-Net's way up, 64 to 32 channels", "ConvTranspose", real(1, 64, 16, 16, 16), real(64, 32, 2, 2, 2),
           strides=[2, 2, 2]),
    resize("a feature pyramid, doubled, nearest", real(1, 256, 50, 68), [1, 256, 100, 136], mode="nearest"),
    resize("DeepLabV3's scores to the image", real(1, 21, 65, 65), [1, 21, 513, 513], mode="linear"),
    resize("a U-Net's way up, 64 channels", real(1, 64, 128, 128), [1, 64, 256, 256], mode="linear",
           coordinate_transformation_mode="align_corners"),
    resize("super-resolution's cubic base, 3 x", real(1, 3, 224, 224), [1, 3, 672, 672], mode="cubic"),
    resize("a photograph to 224 x 224, antialiased", real(1, 3, 768, 1024), [1, 3, 224, 224], mode="linear",
           antialias=1),
    resize("3-D U-Net's way up by interpolation", real(1, 64, 16, 16, 16), [1, 64, 32, 32, 32], mode="linear"),
    recurrent("LSTM", 4, 1),
    recurrent("LSTM", 4, 32),
    # As PyTorch writes it.
    recurrent("GRU", 3, 1, linear_before_reset=1),
    recurrent("GRU", 3, 32, linear_before_reset=1),
]
