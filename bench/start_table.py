# SPDX-License-Identifier: Apache-2.0
"""What ./dev bench start measures, chosen before the first result: networks, and targets of their starts.

Seconds are of whole processes up to their first answer, one image; kernels are those that a start with empty caches
builds."""

import dataclasses

IMAGES = "input:1x3x224x224"


@dataclasses.dataclass(frozen=True)
class Network:
    name: str
    shape: str = IMAGES
    kernels: int | None = None  # at most
    cold: float | None = None  # seconds at most, on a processor with AVX2
    warm: float | None = None
    ahead: float | None = None  # compiled ahead

    def targets(self):
        """(column, most) of what is wanted."""
        return [(column, most) for column in ("kernels", "cold", "warm", "ahead")
                if (most := getattr(self, column)) is not None]


NETWORKS = (
    Network("lenet5", "input:1x1x32x32", warm=0.1),
    Network("squeezenet1_1", kernels=12, warm=0.25),
    Network("mobilenet_v2", kernels=12, cold=8.0, warm=0.25, ahead=0.12),
    Network("resnet18"),
    Network("resnet50", kernels=14, cold=9.0, warm=0.4),
    Network("efficientnet_b0", kernels=20, cold=12.0, warm=0.3),
)
# The second network's kernels where the first one's are cached: the share that is built anew, at most.
SHARED = ("resnet50", "resnet18", 0.25)
