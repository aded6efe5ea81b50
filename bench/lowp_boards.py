# SPDX-License-Identifier: Apache-2.0
"""Layers in u8 beside f32 by the compilers of boards, for ./dev bench lowp. Nothing is executed: the figures are static
cycles, of the kernels that a plan for the board takes.

A kernel's cycles are those of its busiest unit: one pass through all of its code, and the hot loop, the one with most
multiply-adds, as often as its work asks for (docs/boards.md). The ratio is of the sums over a plan's kernels. Copies that
only change the order of the layer's input and result are left out on both sides: within a network its neighbours have the
layer's own order. Copies within the layer, such as those of windows side by side, count. A figure has all of them."""

import dataclasses
import json
import pathlib
import shlex
import subprocess

import lowp_table as table
import peer_rows
from common import ROOT, Missing

LAYERS_PROGRAM = pathlib.Path("bench") / "lowp_layers.py"
COMPILERS = pathlib.Path("tools") / "board_compilers.sh"
TYPES = ("f32", "u8")


def title_of(board, layer):
    return f"u8 on {board}: {layer.title}"


def rows_of(board, layer):
    return [peer_rows.empty_row(f"{title_of(board, layer)}, cycles of f32 for one", table.BOARD_CYCLES)]


def made_files(layer, options, run_peer):
    """Of the layer, by type."""
    number = table.LAYERS.index(layer)
    files = {kind: options.folder / f"layer{number}-{kind}.onnx" for kind in TYPES}
    run_peer(options, LAYERS_PROGRAM, json.dumps(dataclasses.asdict(layer)), *files.values())
    return files


def answer_of(file, board, options, command, *more):
    """(what the program prints as JSON where the board's compilers are, command)"""
    words = [str(COMPILERS), str(options.boards), board, options.program, command, str(file), *more, "--device-info",
             f"data/boards/{board}.json", "--format", "json"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    if not done.stdout.startswith(("[", "{")):
        raise Missing((done.stderr.strip().splitlines() or [f"{shlex.join(words)}: status {done.returncode}"])[-1])
    return json.loads(done.stdout), shlex.join(words)


def copied_steps(file, board, options):
    """Names of its plan's steps that do nothing but to give the input another order, or the result its own."""
    plan, _ = answer_of(file, board, options, "plan")
    return {step["name"] for step in plan["steps"] if is_copy(step, plan["values"])}


def is_copy(step, values):
    """Whether a step changes the order of the plan's input or output and nothing else: a view has another shape."""
    if step["role"] != "repack":
        return False
    read, written = ([values[number] for number in step[way]] for way in ("reads", "writes"))
    if len(read) != 1 or len(written) != 1 or read[0]["shape"] != written[0]["shape"]:
        return False
    return read[0]["kind"] == "input" or written[0]["kind"] == "output"


def kernels_of(file, board, options):
    """(the kernels of its plan as the board's compiler builds them, each with whether it is a copy; command)"""
    kernels, command = answer_of(file, board, options, "compile", "--build-only", "-d", "0:0")
    copied = copied_steps(file, board, options)
    for one in kernels:
        if not one["built"]:
            raise Missing(f"{board}: {one['kernel']}: {one['error']}")
        are_copies = {name in copied for name in one["step_names"]}
        if len(are_copies) != 1:
            raise Missing(f"{board}: {one['kernel']} is a copy of the input or result and a step of the layer too: "
                          f"{', '.join(one['step_names'])}")
        one["is_copy"] = are_copies.pop()
    return kernels, command


def microseconds(kernels):
    return sum(one["arithmetic_us"] for one in kernels)


def hottest(kernels):
    """The kernel whose arithmetic takes longest, copies aside."""
    return max((one for one in kernels if not one["is_copy"]), key=lambda one: one["arithmetic_us"])


def figures_of(kind, board, layer, kernels, command):
    """What a plan costs for a multiply-add of the layer, in multiply-adds of f32 that the GPU could do meanwhile, and the
    hot loop of its longest kernel."""
    described = json.loads((ROOT / "data" / "boards" / f"{board}.json").read_text(encoding="utf-8"))
    worth = described["roofs"]["gflops_f32"] * 1e3 / 2 / layer.multiply_adds()
    own = [one for one in kernels if not one["is_copy"]]
    head = f"{board}, {layer.title}, {kind}"
    longest = hottest(kernels)
    statistics = longest["statistics"]
    loop = statistics["hot_loop"] or statistics["all"]
    figures = [(f"{head}: cost of a multiply-add", microseconds(own) * worth, command),
               (f"{head}: the same with copies of the input and result", microseconds(kernels) * worth, command)]
    if loop["multiply_adds"]:
        figures.append((f"{head}: cycles of the hot loop of {longest['kernel']} for a multiply-add in it",
                        loop["bound"] / loop["multiply_adds"], command))
    figures.append((f"{head}: spills of all kernels", sum(one["statistics"]["spills"] for one in kernels), command))
    return figures


def fill(board, layer, run_peer, rows, options):
    if not (options.boards / "opt" / "done-build-dots").exists():
        raise Missing(f"the boards' compilers are not in {options.boards}: {COMPILERS} {options.boards} gets them, as root "
                      "and in six minutes; --boards names another root")
    files = made_files(layer, options, run_peer)
    built = {kind: kernels_of(files[kind], board, options) for kind in TYPES}
    rows[0]["figures"] = [one for kind in TYPES for one in figures_of(kind, board, layer, *built[kind])]
    f32, u8 = (microseconds(one for one in built[kind][0] if not one["is_copy"]) for kind in TYPES)
    peer_rows.decide(rows[0], f32 / u8)


def cases():
    """(title, empty rows, board, layer) of each."""
    for board in table.BOARDS:
        for layer in table.LAYERS:
            yield title_of(board, layer), rows_of(board, layer), board, layer
