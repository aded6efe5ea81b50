#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The example python_ray: a worker is killed while it answers, and each picture is answered once all the same.

    check_ray.py PACKAGE [--install FOLDER]

PACKAGE is the folder that holds the package morton (build/python). --install makes an interpreter with Ray in FOLDER.
Skipped (status 77) where this interpreter has no Ray."""

import collections
import importlib.util
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Later ones of PyArrow want a NumPy that Debian's pybind11 does not know.
PACKAGES = ["ray[data]==2.60.0", "numpy<2", "pyarrow<22", "pandas<3"]
PICTURES = 15000


def workers():
    """The processes that hold a session."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if b"MapBatches(Classifier)" in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def answers(out):
    rows = []
    for file in out.glob("*.json"):
        rows += [json.loads(line) for line in file.read_text().splitlines()]
    return rows


def call(package, pictures, out):
    return subprocess.Popen([sys.executable, "-B", ROOT / "examples/python_ray/main.py", pictures, out], cwd=ROOT, text=True,
                            stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(package), "RAY_AUTH_MODE": "disabled"})


def check(package, folder):
    pictures, out = folder / "pictures", folder / "out"
    pictures.mkdir()
    for digit in range(10):
        shutil.copy(ROOT / f"examples/data/digit_{digit}.png", folder / f"{digit}.png")
    for i in range(PICTURES):
        os.link(folder / f"{i % 10}.png", pictures / f"{i % 10}_{i}.png")
    (pictures / "damaged.png").write_text("no picture")

    before, process = set(workers()), call(package, pictures, out)
    # A worker's children, which compile kernels, have its name for a moment: what is there often is a worker.
    killed, sightings = None, collections.Counter()
    while process.poll() is None:
        now = set(workers()) - before
        sightings.update(now)
        old = [pid for pid in now if sightings[pid] >= 12]
        if killed is None and old:
            killed = old[0]
            os.kill(killed, signal.SIGKILL)
        time.sleep(0.05)
    said = process.stdout.read()
    seen = [pid for pid, count in sightings.items() if count >= 5]
    assert process.returncode == 0, said
    assert killed is not None and len(seen) >= 3, f"killed {killed}, no other took its place: {dict(sightings)}"
    assert f"{PICTURES + 1} pictures, {PICTURES + 1} to answer" in said, said

    rows = answers(out)
    times = collections.Counter(row["path"] for row in rows)
    assert len(times) == PICTURES + 1 and set(times.values()) == {1}, f"{len(rows)} answers of {len(times)} pictures"
    for row in rows:
        name = pathlib.Path(row["path"]).name
        if name == "damaged.png":
            assert row["class"] is None and "not a PNG or JPEG" in row["error"], row
        else:
            assert row["class"] == int(name[0]) and row["error"] is None and row["score"] > 0.9, row

    # A file that is not whole is answered again, nothing else.
    lost = sorted(out.glob("*.json"))[0]
    missing = len(lost.read_text().splitlines())
    lost.write_text(lost.read_text()[:-9])
    said = call(package, pictures, out).communicate()[0]
    assert f"{PICTURES + 1} pictures, {missing} to answer" in said, said
    assert len(answers(out)) == PICTURES + 1
    print(f"{PICTURES + 1} pictures, each answered once; {len(seen)} workers, one of them killed; {missing} answered by a second call")


def main():
    if "--install" in sys.argv:
        sys.path.insert(0, str(ROOT / "tools"))
        from interpreter import interpreter_with

        python = interpreter_with(PACKAGES, sys.argv[sys.argv.index("--install") + 1])
        os.execv(python, [python, "-B", __file__, sys.argv[1]])
    if importlib.util.find_spec("ray") is None:
        print(f"{__file__}:1: Skipped\nnot installed: Ray (tests/python/check_ray.py build/python --install build/ray)")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        check(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
