#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the scripts of bench/ make of their targets and figures, without a run.

    python3 -B tests/model/check_bench_tables.py
"""

import dataclasses
import importlib
import math
import pathlib
import sys
import types

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import common
import contenders
import gemm
import gemm_table
import guess
import guess_table
import lowp
import lowp_boards
import lowp_table
import models
import operators
import operators_table
import networks
import networks_table

everything = importlib.import_module("all")
AVX512 = "fma avx2 avx512f avx512cd avx512bw avx512dq avx512vl".split()


def check_openblas():
    for kernels, flags, wanted in (("Haswell", AVX512, "SkylakeX"), ("Zen", AVX512, "SkylakeX"),
                                   ("SkylakeX", AVX512, ""), ("OpenBLAS 0.3.21, kernels for Cooperlake", AVX512, ""),
                                   ("Haswell", ["fma", "avx2"], ""), ("Haswell", AVX512[:-1], "")):
        assert gemm_table.openblas_core_type(kernels, flags) == wanted, (kernels, flags)


def check_titles():
    for targets in (gemm_table.cpu_targets(""), gemm_table.gpu_targets(""), networks_table.cpu_targets(),
                    networks_table.gpu_targets()):
        titles = [one.title for one in targets]
        assert len(titles) == len(set(titles)), titles
        for one in targets:
            assert set(getattr(one, "rows", ())) <= set(titles), one
    problems = [one.title() for one in guess_table.PRODUCTS + guess_table.CONVOLUTIONS]
    assert len(problems) == len(set(problems)), problems


def check_networks():
    targets = networks_table.cpu_targets()
    groups = networks.grouped(targets)
    steps = [[one.kind for one in group] for key, group in groups.items() if key[-1]]
    assert steps == [["morton", "tinygrad"]], steps
    mean = next(one for one in targets if "a training step" in one.title and one.measure == "mean")
    rows = [{"target": title, "number": number, "of_quickest": number}
            for title, number in zip(mean.rows, (4.0, 16.0, 8.0, 8.0, 8.0))]
    row = networks.mean_row(mean, {"number": None, "verdict": "not measured"}, rows)
    assert math.isclose(row["number"], 8.0) and row["verdict"] == "hit", row
    row = networks.mean_row(mean, {"number": None, "verdict": "not measured"}, rows[1:])
    assert row["number"] is None and mean.rows[0] in row["why"], row


def check_guess():
    first, second = guess_table.PRODUCTS[:2]
    row = guess_table.evaluate("x", [first, second], {first: 0.9, second: 0.98}, "5s")
    assert math.isclose(row["number"], math.sqrt(0.9 * 0.98)) and row["verdict"] == "hit", row
    assert "tuning for 5s each" in row["target"], row
    assert guess_table.evaluate("x", [first, second], {first: 0.9}, "5s")["verdict"] == "miss, 1 of 2 problems"
    row = guess_table.evaluate("x", [first, second], {first: 0.9, second: None}, "5s")
    assert row["number"] is None and row["why"] == second.title(), row
    assert guess_table.evaluate("x", [first], {second: 0.9}, "5s")["number"] is None
    assert guess.kernels_of({"steps": [{"kernel": "a"}, {"kernel": "b"}]}) == ["a", "b"]


def check_models():
    rows = [{"target": "a", "number": 0.5, "verdict": "miss"}, {"target": "b", "number": 2.0, "verdict": "hit"},
            {"target": "c", "number": None, "verdict": "not supported"}]
    row = models.mean_row(rows)
    assert math.isclose(row["number"], 1.0) and row["verdict"] == "hit" and "of 2 (1 not" in row["target"], row
    row = models.mean_row([*rows, {"target": "d", "number": None, "verdict": "wrong"}])
    assert row["number"] is None and row["why"].endswith(": d"), row


def check_operators():
    rows = [{"target": "a", "group": "scatter", "number": 0.5, "verdict": "miss"},
            {"target": "b", "group": "gather", "number": 2.0, "verdict": "hit"}]
    means = operators.with_means(rows)[2:]
    assert [row["number"] for row in means[:2]] == [0.5, 2.0] and math.isclose(means[2]["number"], 1.0), means
    assert operators.mean_row("x", [*rows, {"number": None}])["verdict"] == "not measured"
    for case in operators_table.CASES:
        assert set(case.order) - {""} == {*case.inputs, *case.constants, *case.lists}, case.title


def check_lowp():
    with_dots, without = {"dot_products": True}, {"dot_products": False}
    assert len(lowp_table.SHAPES) == len(set(lowp_table.SHAPES)) == 12
    rows = [row for shape in lowp_table.SHAPES[:2] for row in lowp_table.product_rows(shape, without)]
    for row, number in zip(rows, (1.0, 1.5, 4.0, None)):
        row["number"] = number
    means = lowp_table.with_means([*rows, {"target": "x"}])[4:6]
    assert math.isclose(means[0]["number"], 2.0) and means[0]["verdict"] == "hit", means
    assert means[1]["number"] is None and means[1]["wanted"] == 1.2 and means[1]["why"], means
    options = lowp.parse_arguments(["--only", "u8 product 1", "--quick"])
    cases = lowp.cases_of(with_dots, options)
    assert [case.title for case in cases] == ["u8 product 128x128x128", "u8 product 1000x1x4096"], cases
    assert [row["wanted"] for row in cases[0].rows] == [1.5, 2.0], cases[0]
    cases = lowp.cases_of(with_dots, lowp.parse_arguments([]))
    titles = [row["target"] for case in cases for row in case.rows]
    assert len(titles) == len(set(titles)) == 49, titles
    assert sum(title.startswith("u8 on ") for title in titles) == 15, titles
    times = {"ours": {"ms": 2.0, "result": None}, "theirs": {"ms": 3.0, "result": None}}
    row = lowp_table.network_rows("x", with_dots)[0]
    lowp.fill_row(row, times, {"f32": "gone"}, "theirs")
    assert row["number"] == 1.5 and row["verdict"] == "hit" and row["times"]["ours"] == {"ms": 2.0}, row
    lowp.fill_row(row, times, {"f32": "gone"}, "f32")
    assert row["why"] == "gone" and set(row["times"]) == {"ours"}, row
    absent = dataclasses.replace(lowp_table.TRAINED[1], name="absent", data="/nowhere")
    try:
        lowp.train(absent, options)
        raise AssertionError("a network without data is trained")
    except common.Missing as why:
        assert str(why) == "/nowhere is not here: apt-get install dataset-fashion-mnist", why


def check_copies():
    """Windows side by side are made of the input too, and are no copy of it."""
    values = [{"kind": kind, "shape": shape} for kind, shape in
              (("input", [1, 4, 5, 5]), ("workspace", [1, 4, 5, 5]), ("workspace", [36, 9]), ("output", [1, 4, 5, 5]))]
    steps = [("repack", [0], [1]), ("repack", [1], [3]), ("repack", [0], [2]), ("repack", [2], [2]), ("compute", [0], [1]),
             ("compute", [0, 1], [3])]
    found = [lowp_boards.is_copy({"role": role, "reads": reads, "writes": writes}, values) for role, reads, writes in steps]
    assert found == [True, True, False, False, False, False], found


class Fake:
    """A contender whose turns take these times; None is a turn that fails."""

    def __init__(self, times):
        self.times, self.taken, self.closed = iter(times), 0, False

    def turn(self):
        self.taken += 1
        value = next(self.times)
        if value is None:
            raise common.Missing("gone")
        return value

    def command(self):
        return "fake"

    version = command

    def close(self):
        self.closed = True


def check_turns():
    fakes = {"steady": Fake([9.0, 1.0, 3.0, 2.0]), "slow": Fake([5000.0, 4000.0]), "late": Fake([1.0, 1.0, None]),
             "first": Fake([None]), "warm": Fake([2.0, 1.0, 4.0])}
    fakes["warm"].is_warm = True
    openers = {name: (name, lambda name=name: fakes[name]) for name in fakes}
    found, absent = contenders.measure(openers, 3)
    # The first turn of a quick one warms up; a slow one has two turns, which count.
    assert found["steady"]["samples_ms"] == [1.0, 3.0, 2.0] and found["steady"]["ms"] == 2.0, found
    assert found["slow"]["samples_ms"] == [5000.0, 4000.0], found
    assert found["warm"]["samples_ms"] == [2.0, 1.0, 4.0], found
    assert set(found) == {"steady", "slow", "warm"} and set(absent) == {"late", "first"}, (found, absent)
    assert all(one.closed for one in fakes.values())


def check_all():
    options = types.SimpleNamespace(quick=True, device="", peer_python="p", clblast_parameters="f", budget="",
                                    peer_folder="")
    words = {name: everything.words_for(names, options) for name, names in everything.BENCHES.items()}
    assert words["networks"] == ["--quick", "--clblast-parameters", "f", "--peer-python", "p"], words
    assert words["training"] == ["--peer-python", "p"], words
    for name, given in words.items():
        importlib.import_module(name).parse_arguments(given)
    status, lines = everything.run_one("gemm", ["--no-such-option"])
    assert status == 2 and lines[0].verdict == "not measured", lines
    assert everything.counts_of(["hit", "miss", "hit, 3 of 12 problems"]) == "2 hit, 1 miss"
    row = {"target": "t", "least": 0.88, "unit": "", "mean": None, "verdict": "wrong"}
    assert gemm.line_of(row) == common.Line("t", ">= 0.88", "n/a", "wrong")


check_openblas()
check_titles()
check_networks()
check_guess()
check_models()
check_operators()
check_lowp()
check_copies()
check_turns()
check_all()
print("targets, turns and their summary are as they should be")
