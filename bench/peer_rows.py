# SPDX-License-Identifier: Apache-2.0
"""Rows that compare Morton with one peer: what ./dev bench models and ./dev bench operators share."""

import common
from contenders import measure
from gemm_table import geometric_mean


def empty_row(target, wanted, **more):
    return {"target": target, **more, "wanted": wanted, "number": None, "verdict": "not measured", "why": "",
            "times": {}}


def decide(row, number):
    row["number"] = number
    row["verdict"] = "hit" if number >= row["wanted"] else "miss"


def fill(row, openers, rounds):
    """Measures "ours" and "theirs" in turns; the row's number is how many times as long theirs takes."""
    row["times"], absent = measure(openers, rounds)
    for one in row["times"].values():
        del one["result"]
    row["why"] = "; ".join(absent.values())
    if not absent:
        decide(row, row["times"]["theirs"]["ms"] / row["times"]["ours"]["ms"])


def numbers_of(rows):
    return [row["number"] for row in rows if row["number"] is not None]


def mean_row(target, wanted, rows, why):
    """Their geometric mean; `why` says why there is none."""
    row = empty_row(target, wanted)
    row["why"] = why
    if numbers_of(rows) and not why:
        decide(row, geometric_mean(numbers_of(rows)))
    return row


def line_of(row):
    measured = "n/a" if row["number"] is None else f"{row['number']:.3g}"
    return common.Line(row["target"], f">= {row['wanted']}", measured, row["verdict"])


def print_tables(rows):
    common.print_lines(line_of(row) for row in rows)
    print("\n| who | median ms | quickest ms | command |\n|---|---|---|---|")
    for row in rows:
        for one in row["times"].values():
            print(f"| {one['version']} | {one['ms']:.3f} | {one['best_ms']:.3f} | `{one['command']}` |")
    for row in rows:
        if row["why"]:
            print(f"\n{row['verdict']}: \"{row['target']}\": {row['why']}")


def report(rows, device, load, options):
    """Prints and records them; (status, lines for ./dev bench all)."""
    print(f"{common.title_of(device)}\n")
    print_tables(rows)
    common.append_record({**common.record_head(device, 1, load), "rounds": options.rounds, "targets": rows},
                         options.history)
    failed = any(row["verdict"] in ("not measured", "wrong") for row in rows)
    return (1 if failed else 0), [line_of(row) for row in rows]


def add_arguments(parser, name):
    """Those that both have, but --only, --peer-python and --folder."""
    parser.add_argument("-d", "--device", default="", help="as of morton; else a GPU, if there is one")
    parser.add_argument("--quick", action="store_true", help="two rounds")
    parser.add_argument("--rounds", type=int, default=0, help="turns of each (5)")
    parser.add_argument("--threads", type=int, default=2, help="of ONNX Runtime (2)")
    parser.add_argument("--history", default=str(common.ROOT / "bench" / "history" / name), metavar="FOLDER",
                        help=f"where the record goes (bench/history/{name})")
    parser.add_argument("--program", default="build/morton", help="build/morton")


def parse(parser, arguments):
    options = parser.parse_args(arguments)
    options.rounds = options.rounds or (2 if options.quick else 5)
    return options
