#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains over MPI as users do: tests/mpi/check_mpi.py MORTON MODULE [FOLDER].

Ranks are processes of this machine, each with one thread of PoCL. Losses and parameters of two and four ranks are
those of one process that accumulates, bit for bit. Then a training goes on with another number of ranks, ends with a
rank that is killed, and is asked for what it must refuse. (tests/model compares losses in double.)"""

import csv
import importlib.util
import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import hosts

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "data" / "mnist"
LENET = ROOT / "models" / "lenet5.onnx"
MORTON = ""
SKIPPED = 77
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "POCL_MAX_PTHREAD_COUNT": "1", "POCL_AFFINITY": "0"}
STEPS = 6
SCRIPT = """
import sys
import morton
model = morton.Model.load("MODEL")
trainer = morton.Trainer(model, morton.Device("cpu"), batch=16, optimizer="adam", ranks="mpi")
assert trainer.batch == 8
if sys.argv[1] == "fail" and trainer.rank == 1:
    raise ValueError("as asked for")
data = morton.Dataset.read("DATA", "train")
report = trainer.train(data, steps=6, folder=sys.argv[2])
if trainer.rank == 0:
    print(report["steps"])
"""


def command(ranks, *words):
    """`ranks`: how many, 0 for none, or the words that start them."""
    start = ranks
    if isinstance(ranks, int):
        start = ["mpirun", "-n", str(ranks), "--oversubscribe", "--bind-to", "none"] if ranks else []
    return [*start, MORTON, "train", *map(str, words)]


def train(ranks, out, *words, model="lenet5", check=True):
    """`morton train` by these ranks (see `command`); the finished process, and its result where it went well."""
    words = [model, "--data", DATA, "--out", out, "--format", "json", "-d", "cpu", *words]
    done = subprocess.run(command(ranks, *words), cwd=out.parent, env=ENVIRONMENT, capture_output=True, text=True,
                          timeout=300, check=False)
    if not check:
        return done, None
    assert done.returncode == 0, f"{done.args}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done, json.loads(done.stdout)


def losses(out):
    with open(out / "log.csv", encoding="utf-8") as log:
        return [float(row["loss"]) for row in csv.DictReader(log)]


def tensors(path):
    """What a .safetensors file holds: bytes by name."""
    content = path.read_bytes()
    length = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8:8 + length])
    return {name: content[8 + length + place["data_offsets"][0]:8 + length + place["data_offsets"][1]]
            for name, place in header.items() if name != "__metadata__"}


class Mpi(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="morton-mpi-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def assert_as_accumulated(self, model, ranks, batch, *words):
        """So many ranks learn what one process learns that accumulates their parts of each batch."""
        one, several = self.folder / f"{model}-one", self.folder / f"{model}-{ranks}"
        train(0, one, "--batch", batch // ranks, "--accumulate", ranks, "--steps", STEPS * ranks, *words, model=model)
        train(ranks, several, "--batch", batch, "--steps", STEPS, *words, model=model)
        parts, whole = losses(one), losses(several)
        self.assertEqual(len(whole), STEPS)
        for step, loss in enumerate(whole):
            mean = sum(parts[step * ranks:(step + 1) * ranks]) / ranks
            # The log rounds to f32.
            self.assertAlmostEqual(loss, mean, delta=3e-7 * mean, msg=f"{model}, {ranks} ranks, step {step + 1}")
        there, here = (tensors(folder / "checkpoint.safetensors") for folder in (one, several))
        parameters = [name for name in here if name != "morton.progress"]
        self.assertGreater(len(parameters), 5)
        for name in parameters:
            self.assertEqual(here[name], there[name], f"{model}, {ranks} ranks: {name}")

    def test_two_ranks_are_one_process_that_accumulates(self):
        self.assert_as_accumulated("lenet5", 2, 16)

    def test_four_ranks_are_one_process_that_accumulates(self):
        self.assert_as_accumulated("lenet5", 4, 32)

    def test_it_goes_on_with_another_number_of_ranks(self):
        out = self.folder / "out"
        done, result = train(4, out, "--batch", 32, "--steps", 100)
        self.assertIn("MPI: 4 ranks share each batch of 32", done.stderr)
        self.assertEqual(done.stderr.count("examples for training"), 1, "ranks but the first are quiet")
        done, result = train(3, out, "--batch", 32, "--steps", 200, "--resume")
        self.assertEqual((result["resumed_from"], result["steps"]), (100, 200))
        self.assertEqual(len(losses(out)), 200)
        _, alone = train(0, self.folder / "alone", "--batch", 32, "--steps", 200)
        self.assertGreater(result["validation_accuracy"], 0.85)
        self.assertAlmostEqual(result["validation_accuracy"], alone["validation_accuracy"], delta=0.02)
        # And by one process, which has the whole batch.
        _, result = train(0, out, "--batch", 32, "--steps", 201, "--resume")
        self.assertEqual(result["resumed_from"], 200)

    def test_two_hosts_learn_as_one_machine_does(self):
        if why := hosts.why_none():
            self.skipTest(why)
        with hosts.Hosts(self.folder) as two:
            begun = two.bytes_sent()
            train(two.mpirun(), self.folder / "hosts", "--batch", 16, "--steps", STEPS)
            sent = two.bytes_sent() - begun
        train(2, self.folder / "one", "--batch", 16, "--steps", STEPS)
        self.assertEqual(losses(self.folder / "hosts"), losses(self.folder / "one"))
        gradients = 4 * 61706  # of LeNet's parameters, in bytes; half of them go each way, and half of the sums
        self.assertGreater(sent, STEPS * gradients)

    def test_unequal_shares_and_other_sums(self):
        _, plain = train(2, self.folder / "plain", "--batch", 16, "--steps", 10)
        for words in (["--sum", "fast"], ["--shares", "3,1", "--wire", "f16"]):
            out = self.folder / "-".join(words)
            _, result = train(2, out, "--batch", 16, "--steps", 10, *words)
            self.assertAlmostEqual(result["loss"], plain["loss"], delta=1e-3, msg=words)

    def test_a_rank_that_dies_ends_the_job_and_leaves_a_checkpoint(self):
        out = self.folder / "out"
        words = ["lenet5", "--data", DATA, "--out", out, "-d", "cpu", "--checkpoint-every", 3, "--epochs", 500,
                 "--batch", 16]
        job = subprocess.Popen(command(2, *words), cwd=self.folder, env=ENVIRONMENT, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
        try:
            end = time.monotonic() + 120
            while not (out / "checkpoint.previous.safetensors").exists():
                self.assertIsNone(job.poll(), "it ended early")
                self.assertLess(time.monotonic(), end, "no checkpoint came")
                time.sleep(0.05)
            children = pathlib.Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text(encoding="ascii").split()
            ranks = [int(child) for child in children
                     if pathlib.Path(f"/proc/{child}/comm").read_text(encoding="ascii").strip() == "morton"]
            self.assertEqual(len(ranks), 2)
            os.kill(max(ranks), signal.SIGKILL)
            said, _ = job.communicate(timeout=60)
        finally:
            if job.poll() is None:
                job.kill()
                job.communicate()
        self.assertNotEqual(job.returncode, 0)
        self.assertRegex(said, r"rank \d.*\n?.*exited on signal 9")
        done, result = train(2, out, "--batch", 16, "--steps", 1, "--resume", check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("damaged", done.stderr)

    def test_what_it_refuses(self):
        for ranks, words, status, text in (
                (2, ["--batch", "1"], 2, "has no row for rank 1 of 2"),
                (2, ["--shares", "1,2,3"], 2, "--shares: expected a number for each of the 2 ranks, got 3"),
                (2, ["--accumulate", "2"], 2, "--accumulate: ranks add up the gradients of one step"),
                (2, ["--sum", "fast", "--wire", "f16"], 2, "--wire f16: needs sums in the order of ranks"),
                (0, ["--shares", "1,2"], 2, "are for several ranks: start them with mpirun")):
            done, _ = train(ranks, self.folder / "refused", *words, check=False)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertEqual(done.stderr.count(text), 1, done.stderr)

    def test_python(self):
        package = pathlib.Path(MORTON).parent / "python"
        if not (package / "morton").exists() or importlib.util.find_spec("numpy") is None:
            self.skipTest("the Python package is not built, or this Python has no NumPy")
        script, out = self.folder / "script.py", self.folder / "python"
        script.write_text(SCRIPT.replace("DATA", str(DATA)).replace("MODEL", str(LENET)), encoding="utf-8")
        done = {}
        for what in ("learn", "fail"):
            words = ["mpirun", "-n", "2", "--oversubscribe", "--bind-to", "none", sys.executable, script, what,
                     out if what == "learn" else ""]
            done[what] = subprocess.run(words, cwd=self.folder, env={**ENVIRONMENT, "PYTHONPATH": str(package)},
                                        capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual((done["learn"].returncode, done["learn"].stdout), (0, "6\n"), done["learn"].stderr)
        train(2, self.folder / "command", "--batch", 16, "--steps", STEPS, model=LENET)
        self.assertEqual(losses(out), losses(self.folder / "command"))
        self.assertNotEqual(done["fail"].returncode, 0)
        self.assertIn("ValueError: as asked for", done["fail"].stderr)

    def test_without_the_module_it_says_so(self):
        library = next((pathlib.Path(MORTON).parent / "lib").glob("libmorton.so.?"))
        shutil.copy(MORTON, self.folder / "morton")
        (self.folder / "lib").mkdir()
        shutil.copy(library, self.folder / "lib")
        environment = {**ENVIRONMENT, "LD_LIBRARY_PATH": f"{self.folder}/lib:{library.parent}"}
        # As mpirun starts it, and as it is asked for.
        for words, more in (([], {"OMPI_COMM_WORLD_SIZE": "2"}), (["--ranks", "mpi"], {})):
            done = subprocess.run([self.folder / "morton", "train", "lenet5", "--data", DATA, *words], cwd=self.folder,
                                  env={**environment, **more}, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn("morton-mpi.so is not installed; a build where libopenmpi-dev is installed has it", done.stderr)


def main():
    global MORTON
    MORTON = str(pathlib.Path(sys.argv[1]).resolve())
    missing = [what for what, there in (("mpirun (Debian: openmpi-bin)", shutil.which("mpirun")),
                                        ("morton-mpi.so (Debian: libopenmpi-dev)", pathlib.Path(sys.argv[2]).exists()))
               if not there]
    if missing:
        print(f"{__file__}:1: Skipped\nnot installed or built: {', '.join(missing)}", flush=True)
        sys.exit(SKIPPED)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])


if __name__ == "__main__":
    main()
