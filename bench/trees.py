#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ensembles of trees beside ONNX Runtime: 1,000 trees of depth 8 over 50 features, a batch of 1,000 rows.

Three models (bench/trees_models.py makes them): random complete trees, LightGBM's classifier, scikit-learn's random
forest. Morton and ONNX Runtime take turns; the table has the medians. ONNX Runtime has as many threads as the
device has units. The target of each row is a ratio of at least 1."""

import argparse
import json
import pathlib
import subprocess

from common import ROOT, checked_load, fail
from contenders import Answering, Morton, measure

MODELS = ("random", "lightgbm", "forest")


def openers_of(options, folder):
    openers = {}
    for name in MODELS:
        model = str(folder / f"{name}.onnx")
        device = ["--device", options.device] if options.device else []
        ours = [options.program, "bench", model, "--batch", str(options.batch), *device]
        theirs = [options.peer_python, "bench/network_peer.py", "onnxruntime", model, "--batch", str(options.batch),
                  "--threads", str(options.threads), "--input", f"X:{folder / 'batch.npy'}"]
        openers[name, "morton"] = (f"Morton, {name}", lambda words=ours: Morton(words, "Morton"))
        openers[name, "onnxruntime"] = (f"ONNX Runtime, {name}", lambda words=theirs: Answering(words))
    return openers


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default="build/morton")
    parser.add_argument("--peer-python", required=True,
                        help="interpreter with onnxruntime, onnx, scikit-learn, skl2onnx, lightgbm and onnxmltools")
    parser.add_argument("--device", default="")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batch", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--work", default="build/bench/trees", help="folder of the models")
    parser.add_argument("--output", type=pathlib.Path, help="write the record to this file")
    options = parser.parse_args()
    folder = pathlib.Path(options.work)
    done = subprocess.run([options.peer_python, "bench/trees_models.py", str(folder), "--batch", str(options.batch)],
                          cwd=ROOT, check=False)
    if done.returncode != 0:
        fail("trees", "the models could not be made")
    load = checked_load()
    measured, absent = measure(openers_of(options, folder), options.rounds)
    print("| model | Morton ms | ONNX Runtime ms | ratio | wanted |\n|---|---|---|---|---|")
    for name in MODELS:
        own, other = (measured.get((name, who), {}).get("ms") for who in ("morton", "onnxruntime"))
        ratio = f"{other / own:.2f}" if own and other else "-"
        print(f"| {name} | {own or '-'} | {other or '-'} | {ratio} | >= 1 |")
    if options.output:
        record = {f"{name} {who}": entry for (name, who), entry in measured.items()}
        options.output.write_text(json.dumps({"load": load, "batch": options.batch, "measured": record}, indent=1))
    return 1 if absent else 0


if __name__ == "__main__":
    raise SystemExit(main())
