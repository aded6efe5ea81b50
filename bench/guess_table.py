# SPDX-License-Identifier: Apache-2.0
"""What `./dev bench guess` measures: the problems whose first guesses are held against tuned kernels, and the targets."""

import dataclasses

import gemm_table

WANTED = 0.92


@dataclasses.dataclass(frozen=True)
class Product:
    shape: tuple

    def title(self):
        return "x".join(map(str, self.shape))

    def words(self):
        return [word for name, size in zip("mnk", self.shape) for word in (f"--{name}", str(size))]


@dataclasses.dataclass(frozen=True)
class Convolution:
    """A layer of a network on one image, with its bias and its activation."""
    network: str
    channels: int
    size: int          # height and width of the image
    filters: int
    kernel: int = 3
    stride: int = 1
    groups: int = 1
    activation: str = "relu"

    def title(self):
        depthwise = " depthwise" if self.groups > 1 else ""
        return (f"{self.network} {self.channels}-{self.filters} {self.kernel}x{self.kernel}/{self.stride}{depthwise} "
                f"of {self.size}x{self.size}")

    def words(self):
        """As bench/convolution_model.py takes them."""
        return [str(one) for one in (self.channels, self.size, self.filters, self.kernel, self.stride, self.groups,
                                     self.activation)]


PRODUCTS = [Product(shape) for shape in gemm_table.S + gemm_table.N]
CONVOLUTIONS = [
    Convolution("resnet50", 3, 224, 64, kernel=7, stride=2),
    Convolution("resnet50", 64, 56, 64),
    Convolution("resnet50", 64, 56, 256, kernel=1, activation="none"),
    Convolution("resnet50", 128, 56, 128, stride=2),
    Convolution("resnet50", 1024, 14, 256, kernel=1),
    Convolution("resnet50", 512, 7, 512),
    Convolution("vgg16", 3, 224, 64),
    Convolution("vgg16", 128, 112, 128),
    Convolution("vgg16", 256, 56, 256),
    Convolution("vgg16", 512, 14, 512),
    Convolution("mobilenet_v2", 3, 224, 32, stride=2, activation="clip"),
    Convolution("mobilenet_v2", 96, 112, 96, stride=2, groups=96, activation="clip"),
    Convolution("mobilenet_v2", 144, 56, 24, kernel=1, activation="none"),
    Convolution("mobilenet_v2", 384, 14, 384, groups=384, activation="clip"),
    Convolution("mobilenet_v2", 160, 7, 960, kernel=1, activation="clip"),
]
TARGETS = [("products S and N", PRODUCTS), ("convolutions", CONVOLUTIONS),
           ("products and convolutions", PRODUCTS + CONVOLUTIONS)]


def evaluate(title, problems, ratios, budget):
    """The row of a target: the geometric mean of the ratios of its problems that were asked for."""
    wanted = [one for one in problems if one in ratios]
    absent = [one.title() for one in wanted if ratios[one] is None]
    row = {"target": f"first guess, {title}: share of what tuning for {budget} each reaches", "wanted": WANTED,
           "number": None, "problems": len(wanted), "verdict": "not measured",
           "why": "; ".join(absent) if wanted else "none of its problems was asked for"}
    if wanted and not absent:
        row["number"] = gemm_table.geometric_mean([ratios[one] for one in wanted])
        row["verdict"] = "hit" if row["number"] >= WANTED else "miss"
        if len(wanted) < len(problems):
            row["verdict"] += f", {len(wanted)} of {len(problems)} problems"
    return row
