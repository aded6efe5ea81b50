#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the plans of networks with the compilers of boards, and prints the bound of each.

Usage: tools/boards_networks.py ROOT [--all] [--program FILE] [BOARD ...]

ROOT is the root of tools/board_compilers.sh. The networks are five, or with --all those of `morton new`; each is planned
for one image, or one text of 128 words, as the board's description says. The program is build/morton, or FILE. A cell
is the bound in milliseconds, by the compiler: of each step the larger of its arithmetic and its memory. Both alone
stand behind it in brackets. The status is 1 where a kernel of a plan fails to build or spills.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
FIVE = ["lenet5", "squeezenet1_1", "mobilenet_v2", "resnet50", "minilm"]
# What an input's extents are where the network leaves them open.
SHAPES = {"espcn": ["input:1x1x256x256"], "unet": ["input:1x3x256x256"], "tiny_yolo": ["input:1x3x416x416"],
          "yolov8n": ["input:1x3x640x640"],
          "minilm": ["input_ids:1x128", "attention_mask:1x128", "token_type_ids:1x128"]}
SHAPES["bert_base"] = SHAPES["minilm"]
IMAGES = ["input:1x3x224x224"]


def architectures(program):
    """Those that `morton new` makes."""
    said = subprocess.run([program, "new", "--help"], capture_output=True, text=True, check=True).stdout
    listed = said.partition("Architectures:\n")[2].partition("\n\n")[0]
    return re.findall(r"^  (\S+)", listed, re.M)


def extents_of(program, model, network):
    """Words that set the open extents."""
    for words in (["--shape", shape] for shape in SHAPES.get(network, [])):
        yield from words
    if network in SHAPES:
        return
    said = subprocess.run([program, "inspect", str(model)], capture_output=True, text=True, check=True).stdout
    if "height" in said:
        yield from ["--shape", IMAGES[0]]
    elif "batch" in said:
        yield from ["--batch", "1"]


def built(options, board, network):
    """The kernels of the network's plan, as --build-only reports them."""
    extension = "json" if network.startswith("r17") else "onnx"
    model = options.work / f"{network}.{extension}"
    if not model.exists():
        subprocess.run([options.program, "new", network, "-o", str(model)], capture_output=True, check=True)
    command = ["tools/board_compilers.sh", options.root, board, options.program, "compile", str(model),
               *extents_of(options.program, model, network), "--build-only", "-d", "0:0", "--device-info",
               f"data/boards/{board}.json", "--format", "json"]
    made = subprocess.run(command, cwd=options.repository, capture_output=True, text=True)
    if not made.stdout.startswith("["):
        return None, made.stderr.strip().splitlines()[-1:]
    return json.loads(made.stdout), []


def cell_of(kernels):
    """"3.06 (2.77, 2.12)": the bound, arithmetic alone and memory alone, in milliseconds."""
    bound = sum(kernel["bound_us"] for kernel in kernels) / 1e3
    arithmetic = sum(kernel["arithmetic_us"] for kernel in kernels) / 1e3
    memory = sum(kernel["memory_us"] for kernel in kernels) / 1e3
    return f"{bound:.3g} ({arithmetic:.3g}, {memory:.3g})"


def main():
    parser = argparse.ArgumentParser(usage=__doc__.partition("Usage: ")[2])
    parser.add_argument("root")
    parser.add_argument("boards", nargs="*")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--program", default="build/morton")
    options = parser.parse_intermixed_args()
    options.root = str(pathlib.Path(options.root).resolve())
    options.program = str(pathlib.Path(options.program).resolve())
    # The root shows the program's own repository.
    options.repository = pathlib.Path(options.program).parent.parent
    options.work = options.repository / "build" / "boards-networks"
    options.work.mkdir(parents=True, exist_ok=True)
    known = sorted(path.stem for path in (REPOSITORY / "data" / "boards").glob("*.json"))
    networks = architectures(options.program) if options.all else FIVE
    print("| board | " + " | ".join(networks) + " |\n|" + "---|" * (1 + len(networks)))
    faults = []
    for board in options.boards or known:
        cells = []
        for network in networks:
            kernels, why = built(options, board, network)
            if kernels is None:
                faults.append(f"{board}: {network}: {' '.join(why)}")
                cells.append("-")
                continue
            for kernel in kernels:
                if not kernel["built"]:
                    faults.append(f"{board}: {network}: {kernel['kernel']} failed: {kernel['error']}")
                elif kernel["statistics"] and kernel["statistics"]["spills"] > 0:
                    faults.append(f"{board}: {network}: {kernel['kernel']} spills {kernel['statistics']['spills']}")
            cells.append(cell_of(kernels))
        print(f"| {board} | " + " | ".join(cells) + " |", flush=True)
    print("\n".join(faults), file=sys.stderr)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
