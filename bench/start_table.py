# SPDX-License-Identifier: Apache-2.0
"""What `./dev bench start` measures: networks, kinds of starts, the targets that they are held against, and the tables
that it prints."""

import dataclasses

NETWORKS = ("mobilenet_v2", "squeezenet1_1", "resnet18", "resnet50", "efficientnet_b0", "lenet5", "encoder")
# Measured for its memory, where --quick does not leave it out.
LARGE = "vgg16"
# The network whose kernels are in the cache when another one starts.
BEFORE, AFTER = "resnet50", "resnet18"

COLD, WARM, DRIVER = "cold", "warm", "driver kept nothing"
ONCE = "at once"
# The model that a device has met before another one answers at once there, and its input.
MET, MET_SHAPE = "fashion-cnn", (1, 1, 28, 28)
AHEAD, AHEAD_KEPT = "compiled ahead", "compiled ahead, caches kept"
OURS = (COLD, ONCE, WARM, DRIVER, AHEAD, AHEAD_KEPT)
ONNXRUNTIME, TINYGRAD_COLD, TINYGRAD_WARM = "onnxruntime", "tinygrad, cold", "tinygrad, warm"
PEERS = (ONNXRUNTIME, TINYGRAD_COLD, TINYGRAD_WARM)
# Those that take seconds and have fewer rounds.
COLD_STARTS = (COLD, TINYGRAD_COLD)

SECONDS, KERNELS, OBJECTS, SHARE, MEMORY = "s", "kernels", "objects per kernel", "share built anew", "GB"


@dataclasses.dataclass(frozen=True)
class Target:
    """A row: a number of one network that may be `wanted` at most. `start` is of times and memory."""
    network: str
    measure: str
    wanted: float
    start: str = ""
    avx2: bool = False         # stated for a processor with AVX2 and without AVX-512

    def title(self):
        if self.measure == SHARE:
            return f"{self.network} after {BEFORE}: share of kernels built anew"
        what = {SECONDS: "", MEMORY: ", peak resident memory"}.get(self.measure, f", {self.measure}")
        return f"{self.network}{', ' if self.start else ''}{self.start}{what}{' (AVX2)' if self.avx2 else ''}"


def targets():
    rows = [Target(network, SECONDS, most, COLD, avx2=True)
            for network, most in (("mobilenet_v2", 8.0), ("resnet50", 9.0), ("efficientnet_b0", 12.0))]
    rows += [Target(network, SECONDS, 2.0, ONCE)
             for network in ("mobilenet_v2", "squeezenet1_1", "resnet18", "efficientnet_b0", "lenet5", "encoder")]
    rows += [Target(network, SECONDS, most, WARM)
             for network, most in (("mobilenet_v2", 0.25), ("resnet50", 0.4), ("efficientnet_b0", 0.3),
                                   ("lenet5", 0.1), ("squeezenet1_1", 0.25))]
    rows += [Target("mobilenet_v2", SECONDS, 0.12, start) for start in (AHEAD, AHEAD_KEPT)]
    rows += [Target("encoder", SECONDS, 1.0, start) for start in OURS if start != ONCE]
    rows.append(Target(AFTER, SHARE, 0.25))
    rows += [Target(network, KERNELS, most)
             for network, most in (("mobilenet_v2", 12), ("squeezenet1_1", 12), ("resnet50", 14),
                                   ("efficientnet_b0", 20))]
    rows += [Target(network, OBJECTS, 1.0) for network in NETWORKS]
    rows += [Target(LARGE, MEMORY, 0.75, start) for start in (WARM, AHEAD)]
    return rows


def number_of(target, found):
    """The number of a row and the command that gives it; a pair of None where it was not measured. `found` is what is
    known of the row's network."""
    starts = found["starts"]
    if target.measure == SHARE:
        after = found.get("after")
        return (after["built"] / after["kernels"], after["command"]) if after else (None, None)
    one = starts.get(target.start or COLD)
    if one is None:
        return None, None
    if target.measure == SECONDS:
        return one["s"], one["command"]
    if target.measure == MEMORY:
        return one["peak_bytes"] / 1e9, one["command"]
    if target.measure == KERNELS:
        return one["kernels"], one["command"]
    if found.get("objects") is None:
        return None, None
    return found["objects"] / max(1, one["kernels"]), one["command"]


def why_not(target, found):
    absent = found["absent"]
    why = absent.get(target.start or COLD) or absent.get("all")
    if target.measure == SHARE:
        why = why or absent.get("after")
    if target.measure == OBJECTS:
        why = why or "only PoCL shows its objects"
    return why or "not measured"


def evaluate(target, found):
    number, command = number_of(target, found)
    row = {"target": target.title(), "measure": target.measure, "wanted": target.wanted, "number": number,
           "verdict": "not measured", "why": "", "command": command or ""}
    if number is None:
        row["why"] = why_not(target, found)
    else:
        row["verdict"] = "hit" if number <= target.wanted else "miss"
    return row


def text_of(number, measure):
    if number is None:
        return "n/a"
    if measure == SHARE:
        return f"{100 * number:.0f} %"
    return f"{number:.3g}" + (f" {measure}" if measure in (SECONDS, MEMORY) else "")


def print_targets(rows):
    print("| target | wanted | measured | verdict |\n|---|---|---|---|")
    for row in rows:
        print(f"| {row['target']} | <= {text_of(row['wanted'], row['measure'])} | "
              f"{text_of(row['number'], row['measure'])} | {row['verdict']} |")


def print_networks(results):
    """A line for each network: what it needs, and the median seconds of each kind of start."""
    names = ["network", "kernels", "objects", *(f"{one}, s" for one in OURS), "warm peak, MB",
             *(f"{one}, s" for one in PEERS)]
    print(f"\n| {' | '.join(names)} |\n|{'---|' * len(names)}")
    for network, found in results.items():
        starts = found["starts"]
        seconds = {one: f"{starts[one]['s']:.3f}" if one in starts else "n/a" for one in OURS + PEERS}
        kernels = starts[COLD]["kernels"] if COLD in starts else "n/a"
        objects = "n/a" if found.get("objects") is None else found["objects"]
        peak = f"{starts[WARM]['peak_bytes'] / 1e6:.0f}" if WARM in starts else "n/a"
        words = [network, kernels, objects, *(seconds[one] for one in OURS), peak, *(seconds[one] for one in PEERS)]
        print(f"| {' | '.join(map(str, words))} |")


def print_commands(results):
    """A line for each kind of start, with the command that gives it again."""
    print("\nF is an empty folder with the array x.npy; the starts of a network use it one after the other. PYTHON is "
          "that of --peer-python.\n")
    print("| network | start | starts | median s | quickest s | peak MB | built | command |\n|---|---|---|---|---|---|---|---|")
    for network, found in results.items():
        for name, one in found["starts"].items():
            built = "" if one["built"] is None else one["built"]
            print(f"| {network} | {name} | {len(one['samples_s'])} | {one['s']:.3f} | {one['best_s']:.3f} | "
                  f"{one['peak_bytes'] / 1e6:.0f} | {built} | `{one['command']}` |")
        if found.get("after"):
            after = found["after"]
            print(f"| {network} | after {BEFORE} | 1 | {after['s']:.3f} | {after['s']:.3f} |  | "
                  f"{after['built']} of {after['kernels']} | `{after['command']}` |")


def print_reasons(rows, results):
    for row in rows:
        if row["why"]:
            print(f"\nnot measured for \"{row['target']}\": {row['why']}")
    for network, found in results.items():
        for name, why in found["absent"].items():
            print(f"\nnot measured: {network}, {name}: {why}")
