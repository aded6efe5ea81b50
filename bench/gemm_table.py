# SPDX-License-Identifier: Apache-2.0
"""What `./dev bench gemm` measures: shapes, targets, and what a target is made of."""

import dataclasses
import math

SQUARES = [96, 192, 384, 512, 768, 1024, 1440, 2048]
S = [(n, n, n) for n in SQUARES]
N = [(64, 3136, 576), (512, 196, 4608), (128, 3136, 1152), (2500, 100, 784)]
V = [(1000, 1, 4096)]
# Peers that multiply bytes alone.
BYTE_PEERS = ("gemmlowp",)
# No share of what a device does at most is more, but for the clocks' error.
MOST_SHARE = 1.02
# Best that mma.sync was seen to do on an H200, in TFLOP/s. wgmma does more: it is no peak.
MMA_SYNC_TFLOPS = 649.0
# OpenBLAS's kernels for AVX-512 by the names that it gives them, and what the oldest of them need of a processor.
AVX512_KERNELS = ("SkylakeX", "Cooperlake", "SapphireRapids")
AVX512_FLAGS = {"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"}


@dataclasses.dataclass(frozen=True)
class Run:
    """One call of `morton bench gemm`: shape, peers, further options."""
    shape: tuple
    peers: tuple = ()
    options: tuple = ()

    def arguments(self):
        m, n, k = self.shape
        words = ["bench", "gemm", "--m", str(m), "--n", str(n), "--k", str(k)]
        if self.peers:
            words += ["--peer", ",".join(self.peers)]
        return words + list(self.options)


@dataclasses.dataclass(frozen=True)
class Target:
    """A row of the table: for each run a number, whose geometric mean should reach `least`."""
    title: str
    shapes: list
    least: float
    # (result, ours, reads, which) -> number, or None where it is missing
    measure: object
    peers: tuple = ()
    options: tuple = ()
    unit: str = "x"
    # What must be given for it to be measured.
    needs: str = ""

    def runs(self, peers, options=()):
        """With all peers of its device in one run, where the target does not need one alone."""
        alone = self.options != ()
        shared = tuple(peer for peer in peers if peer not in BYTE_PEERS)
        return [Run(shape, self.peers if alone else shared, self.options + tuple(options))
                for shape in self.shapes]


def contender(result, name):
    """The contender of that name, or None."""
    return next((one for one in result["contenders"] if one["name"] == name), None)


# Each measure takes which samples to look at: the medians, as the targets do, or the quickest, which a busy machine
# disturbs less. Its arguments are the result of `morton bench`, our contender in it, and what `morton probe` read.
MEDIAN, QUICKEST = "median_ms", "min_ms"


def against(peer):
    def ratio(result, ours, _, which):
        other = contender(result, peer)
        return None if other is None else other[which] / ours[which]
    return ratio


def share_of_peak(_, ours, __, which):
    return ours.get("share_of_peak" if which == MEDIAN else "best_share_of_peak")


def share_of_bandwidth(result, ours, reads, which):
    read = nearest_read(reads, result["footprint_bytes"])
    return result["bytes"] / (1e6 * ours[which]) / read[which]


def share_of_mma(result, ours, _, which):
    return result["flop"] / (1e9 * ours[which]) / MMA_SYNC_TFLOPS


def cpu_targets(clblast_parameters):
    tuned = ("--clblast-parameters", clblast_parameters) if clblast_parameters else ()
    return [
        Target("S and N, against CLBlast as shipped", S + N, 10.0, against("clblast"),
               ("clblast",)),
        Target("S and N, against CLBlast tuned", S + N, 2.0, against("clblast"), ("clblast",),
               tuned, needs="" if tuned else "--clblast-parameters FILE (bench/clblast_tune.py "
               "makes it)"),
        Target("S and N, against OpenBLAS", S + N, 1.05, against("openblas"), ("openblas",)),
        Target("S and N, against oneDNN", S + N, 1.0, against("onednn"), ("onednn",)),
        Target("squares of 384 to 2048, of the FMA peak", [s for s in S if s[0] >= 384], 0.88,
               share_of_peak, unit=""),
        Target("V, against OpenBLAS", V, 0.9, against("openblas"), ("openblas",)),
        Target("V, of the read bandwidth", V, 0.8, share_of_bandwidth, unit="", needs="bandwidth"),
        Target("u8, S and N, against gemmlowp", S + N, 1.0, against("gemmlowp"), ("gemmlowp",),
               ("--type", "u8")),
    ]


def gpu_targets(_):
    def squares(*sizes):
        return [(n, n, n) for n in sizes]
    return [
        Target("f32, 1024 to 8192, against CLBlast", squares(1024, 2048, 4096, 8192), 1.6,
               against("clblast"), ("clblast",)),
        Target("f32, 2048 to 8192, against cuBLAS", squares(2048, 4096, 8192), 1.02,
               against("cublas"), ("cublas",)),
        *(Target(f"bf16, {n}, of 649 TFLOP/s", squares(n), least, share_of_mma,
                 options=("--precision", "bf16")) for n, least in ((4096, 0.75), (8192, 0.8))),
        Target("V and 4096x1x4096, of the memory's read bandwidth", V + [(4096, 1, 4096)], 0.85,
               share_of_bandwidth, options=("--buffers", "rotate"), unit="", needs="bandwidth"),
        Target("the same in the caches, of their read bandwidth", V + [(4096, 1, 4096)], 0.85,
               share_of_bandwidth, options=("--buffers", "warm"), unit="", needs="bandwidth"),
    ]


def openblas_core_type(kernels, flags):
    """What OpenBLAS should use in place of these kernels on a processor with these flags, or nothing. `kernels` may be
    what it says of its version."""
    has_avx512 = any(one.lower() in kernels.lower() for one in AVX512_KERNELS)
    return AVX512_KERNELS[0] if AVX512_FLAGS <= set(flags) and not has_avx512 else ""


def peers_of(targets):
    """All peers of the targets, each once."""
    return tuple(sorted({peer for target in targets for peer in target.peers}))


def geometric_mean(numbers):
    return math.exp(sum(math.log(number) for number in numbers) / len(numbers))


def reads_of(probe):
    """Of `morton probe --format json`: footprint in bytes and GB/s of each read that it measured, the latter by which
    samples of ours it is compared with."""
    return [{"footprint_bytes": one["footprint_bytes"], MEDIAN: one["median_gigabytes_per_second"],
             QUICKEST: one["best_gigabytes_per_second"]}
            for one in probe["memory"] if one["access"] == "read"]


def nearest_read(reads, footprint):
    """The read whose footprint is nearest, as a ratio."""
    return min(reads, key=lambda read: abs(math.log(read["footprint_bytes"] / footprint)))
